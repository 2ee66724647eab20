"""How posts become a corpus: what is matched, which words are kept, how time is cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from klda.errors import SettingError
from klda.text.text_settings import TextSettings
from klda.text.vocabulary import Vocabulary
from klda.text.windows import Windowing
from klda.types import KeywordSet, Window, as_keywords


@dataclass(frozen=True)
class Recipe:
    """Settings that turn posts into a corpus.

    >>> Recipe(KeywordSet.of("health"), window="1d").matched.texts
    ('health',)
    """

    keywords: KeywordSet
    """The keywords that were active."""
    candidates: KeywordSet | Iterable[str] | None = None
    """Further keywords to match."""
    window: str | Windowing = "7d"
    """How long a window is."""
    settings: TextSettings = field(default_factory=TextSettings)
    """Which tokens become words."""
    vocabulary: Vocabulary | None = None
    """Words that were numbered earlier. Unknown ones become the placeholder."""
    extend_vocabulary: bool = False
    """Number further frequent words behind those of `vocabulary`."""
    adjacent: bool = False
    """Whether the words of a phrase must stand side by side to match."""
    stem_keywords: bool = False
    """Whether keywords that were typed match all frequent forms of their stem."""
    history: Sequence[KeywordSet] | None = None
    """The keywords that were active in each window; `keywords` in all of them unless given."""

    def __post_init__(self) -> None:
        if not len(self.matched.included):
            raise SettingError("a corpus needs at least one keyword that is no exclusion; give keywords or candidates")

    @property
    def matched(self) -> KeywordSet:
        """All keywords that posts are matched against, candidates first."""
        return self.keywords if self.candidates is None else self._further | self.active

    @property
    def active(self) -> KeywordSet:
        """The active keywords, spelt like the candidates."""
        return self.keywords if self.candidates is None else self._further.spell(self.keywords)

    @property
    def windowing(self) -> Windowing:
        """How time is cut."""
        return self.window if isinstance(self.window, Windowing) else Windowing(self.window)

    def active_in(self, windows: Sequence[Window]) -> tuple[KeywordSet, ...]:
        """The keywords that were active in each of these windows."""
        sets = tuple(self.history) if self.history is not None else (self.active,) * len(windows)
        if len(sets) != len(windows):
            raise SettingError(f"{len(sets)} keyword sets for {len(windows)} windows; give one for each")
        return sets

    @property
    def _further(self) -> KeywordSet:
        return as_keywords(self.candidates or ())
