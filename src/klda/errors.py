"""Every exception that klda raises on purpose.

Each names the offending input and says what to do about it. The command line turns them into one clear line
and the exit code below; anything else that escapes is a bug.
"""

from __future__ import annotations

from unicodedata import east_asian_width

SHOWN_BEFORE, SHOWN_BEHIND = 60, 15
"""Characters of a keyword that an error shows around the place that it points at."""


class KldaError(Exception):
    """The base of all errors that a user can act on."""

    exit_code = 1


class InputError(KldaError):
    """A file, a line, a column or a value that cannot be used."""

    exit_code = 2


class SettingError(KldaError):
    """A parameter outside its range, or two that contradict each other."""

    exit_code = 2


class QueryError(SettingError):
    """A keyword that cannot be understood; its message shows the place.

    >>> print(QueryError("a word is missing", "apple OR", 8))
    a word is missing
      apple OR
              ^
    """

    def __init__(self, why: str, text: str, position: int) -> None:
        super().__init__(why, text, position)
        self.why, self.text, self.position = why, text, position

    def within(self, where: str) -> QueryError:
        """The same error, told with the option or the file and line that holds the keyword."""
        return QueryError(f"{where}: {self.why}", self.text, self.position)

    def __str__(self) -> str:
        start = max(0, self.position - SHOWN_BEFORE)
        before, after = self.text[start : self.position], self.text[self.position : self.position + SHOWN_BEHIND]
        begun = "…" if start else ""
        width = sum(2 if east_asian_width(character) in "WF" else 1 for character in begun + before)
        return f"{self.why}\n  {begun}{before}{after}\n  {' ' * width}^"


class DataError(KldaError):
    """Data that were read well but cannot answer the question: no post matches, one window only, …"""

    exit_code = 3


class TrainingError(KldaError):
    """Training met NaN, diverged, or cannot be resumed."""

    exit_code = 4


class DivergedError(TrainingError):
    """Training left the region where it improves; a smaller step may help."""


class FormatError(KldaError):
    """A corpus, model or proposal on disk that is damaged, foreign, or of a newer version."""

    exit_code = 5


class MissingExtraError(KldaError):
    """An optional part is asked for and not installed."""

    exit_code = 6


class StoreError(KldaError):
    """A store that cannot be read or written now (disk full, database gone); what was committed stays."""

    exit_code = 7


class SourceError(KldaError):
    """A stream refuses the connection for good: a wrong address, a missing or rejected token, missing rights."""

    exit_code = 8


class Stopped(KldaError):
    """Somebody stopped the work. All that was committed stays, and the work can be started again."""

    exit_code = 130


class TrainingWarning(UserWarning):
    """A warning: a model was trained, but it should not be relied on."""
