"""`backtest`: policies compared on past posts in one call. The command `klda backtest` is made of the same parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from klda.cells import frame_of, html_paragraph, html_table
from klda.errors import SettingError
from klda.evaluation.archive import Archive
from klda.evaluation.backtest import BacktestSettings, Map, close_archive, run, tasks
from klda.evaluation.backtest_summary import CHANCE, CURRENT, closed_summary, labelled_summary, open_summary
from klda.evaluation.backtest_tables import measured, n_cases, result_tables
from klda.evaluation.open_loop import HISTORIES, LAST_TRUTH, History
from klda.evaluation.parallel import process_map
from klda.evaluation.references import ORACLES
from klda.evaluation.result_cache import Plain
from klda.evaluation.subjects import Subject, load_subjects
from klda.interactive import shown
from klda.policies.recommend import MIN_COUNT, as_posts
from klda.policies.registry import policies as registered
from klda.posts.files import PathLike
from klda.posts.input_types import Frame
from klda.posts.schema import HasBatches
from klda.safe_text import visible
from klda.text.corpus import Corpus
from klda.text.shards import load_corpus
from klda.text.storage import save_corpus
from klda.text.text_settings import TextSettings
from klda.text.windows import Windowing
from klda.types import KeywordSet, Post, Progress, as_keywords, silent, whole_number

Loop = Literal["open", "labelled", "closed"]
LOOPS: tuple[Loop, ...] = ("open", "labelled", "closed")


@dataclass(frozen=True, repr=False)
class Backtest:
    """What a backtest found.

    `verdict` says it in one sentence, `to_frame()` in numbers. `summary` is all of it as plain data: means with 95 %
    intervals, differences between policies, and the cases.
    """

    loop: Loop
    summary: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        return str(self.summary["verdict"])

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies that could answer."""
        return tuple(self.summary["policies"])

    def to_frame(self, library: Literal["polars", "pandas"] = "polars") -> Any:
        """A row for each policy and measure, with its mean and the ends of its 95 % interval.

        A frame of Polars, or of pandas where that is installed.
        """
        rows = [
            (policy, measure, *(estimate[end] for end in ("mean", "low", "high")))
            for policy, measure, estimate in measured(self.summary)
        ]
        return frame_of(rows, {"policy": str, "measure": str, "mean": float, "low": float, "high": float}, library)

    def __repr__(self) -> str:
        """What was compared, and the verdict."""
        names = visible(", ".join(self.policies)) or "no policy could answer"
        return f"<Backtest in {self.loop} loop, {n_cases(self.summary)}: {names}>\n{visible(self.verdict)}"

    def _repr_html_(self) -> str:
        """The verdict and the tables of the command."""
        shown = (html_table(table.columns, table.rows, title=table.title) for table in result_tables(self.summary))
        return "\n".join([html_paragraph(self.verdict, strong=True), *shown, html_paragraph("Intervals are 95 %.")])


def backtest(
    posts: Corpus | HasBatches | Iterable[Post] | PathLike | Frame,
    subjects: Sequence[Subject] | Mapping[str, Iterable[str]] | Path | str,
    *,
    policies: Sequence[str] = ("klda", "frequent", "static"),
    loop: Loop = "open",
    weeks: int = 10,
    test_weeks: int | Sequence[date] = 4,
    top: Sequence[int] = (2, 3),
    history: History = "viral",
    n_candidates: int = 45,
    max_terms: int = 10,
    sample_rate: float = 0.0,
    policy_settings: Mapping[str, Mapping[str, Any]] | None = None,
    window: str | Windowing = "7d",
    language: str = "en",
    timezone: str | None = None,
    date_format: str | None = None,
    workers: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> Backtest:
    """Which policy would have been right about past posts.

    Parameters
    ----------
    posts : Corpus, posts, path or frame
        The whole archive, whether its posts carry a keyword or not. What `klda.recommend` takes.
    subjects : sequence of Subject, mapping of names to keywords, or path of a file of subjects
        What is monitored. The loop "labelled" needs subjects with labels.
    policies : sequence of str
        Names of policies. `klda~mine` is `klda` with the `policy_settings` given under that name.
    loop : "open", "labelled" or "closed", default "open"
        "open" compares proposed words with those of the next window. "labelled" judges the next list by the labels of
        posts. In "closed", each policy decides from window 1 on which posts are seen.
    weeks : int, default 10
        Windows of history before each test window; "closed" runs through all windows.
    test_weeks : int or sequence of dates, default 4
        How many of the last windows to test, or the windows with these days.
    top : sequence of int, default (2, 3)
        Sizes of lists ("open").
    history : "viral", "static" or "full", default "viral"
        What collected the history ("open").
    n_candidates : int, default 45
        Candidates of a case ("open").
    max_terms : int, default 10
        Most terms of a list ("closed").
    sample_rate : float, default 0.0
        Share of the stream that is seen unfiltered ("closed").
    policy_settings : mapping, default None
        Settings of policies, by name.
    window : str or Windowing, default "7d"
        Length of a window, where `posts` are no corpus.
    language : str, default "en"
        Language of the posts, where they are no corpus.
    timezone, date_format : str, default None
        How times of a file or a frame are read.
    workers : int, default 1
        Processes. A script that asks for several needs `if __name__ == "__main__":`.
    seed : int, default 0
        Fixes every random draw.
    progress : callback, default None
        Is told how many cases are done; without it, a bar is shown in notebooks and at a Python prompt.

    Returns
    -------
    Backtest

    Cases are not kept. For hours of work use the command, which goes on where it was stopped.

    >>> from klda.simulation import World
    >>> found = backtest(
    ...     World(weeks=3, posts_per_week=300), {"health": ["health"]}, policies=["static"], loop="closed"
    ... )
    >>> found.policies
    ('static',)
    """
    if loop not in LOOPS:
        raise SettingError(f"loop must be one of {', '.join(LOOPS)}, got {loop!r}")
    if history not in HISTORIES:
        raise SettingError(f"history must be one of {', '.join(HISTORIES)}, got {history!r}")
    if isinstance(policies, str):
        raise SettingError(f"policies={policies!r} is one text; give a list, as in [{policies!r}]")
    names = known_names(policies, labels=loop != "open")
    chosen = _subjects(subjects)
    with shown(progress) as report, TemporaryDirectory(prefix="klda-backtest-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        known = as_posts(posts, timezone, date_format)
        if isinstance(known, Corpus):
            corpus = known.with_candidates(_all_keywords(chosen))
        else:
            text = TextSettings(language=language, min_count=MIN_COUNT)
            corpus = archive_corpus(known, chosen, window, text, report)
        save_corpus(corpus, folder / "archive")
        archive = Archive(load_corpus(folder / "archive"))
        settings = BacktestSettings(
            policies=with_yardsticks(names, loop),
            loop=loop,
            weeks=whole_number(weeks, "weeks", 1),
            tops=tuple(whole_number(size, "top", 1) for size in top),
            history=history,
            n_candidates=n_candidates,
            max_terms=max_terms,
            sample_rate=sample_rate,
            seed=whole_number(seed, "seed", 0),
            policy_settings=policy_settings or {},
        )
        windows: Sequence[int] = ()  # a closed loop runs through all
        if loop != "closed" and isinstance(test_weeks, int):
            windows = last_windows(test_weeks, archive)
        elif loop != "closed" and not isinstance(test_weeks, int):
            windows = windows_with(test_weeks, archive)
        try:
            return Backtest(
                loop,
                compared(
                    archive,
                    folder / "archive",
                    folder / "results",
                    chosen,
                    settings,
                    names,
                    windows,
                    map=process_map(whole_number(workers, "workers", 1)),
                    progress=report,
                ),
            )
        finally:
            close_archive()  # its files are about to go


def compared(
    archive: Archive,
    corpus: Path,
    work: Path,
    subjects: Sequence[Subject],
    settings: BacktestSettings,
    names: Sequence[str],
    windows: Sequence[int],
    *,
    map: Map,  # noqa: A002
    progress: Progress = silent,
) -> Plain:
    """The summary over all cases. Results that are in `work` are only read."""
    results = list(run(tasks(archive, corpus, work, subjects, settings, windows), map=map, progress=progress))
    if settings.loop == "closed":
        return closed_summary(results, names, seed=settings.seed)
    if settings.loop == "labelled":
        return labelled_summary(results, with_yardsticks(names, settings.loop), seed=settings.seed)
    results.sort(key=lambda case: (case["week"], case["subject"]))
    return open_summary(results, names, settings.tops, seed=settings.seed)


def archive_corpus(
    posts: HasBatches | Iterable[Post],
    subjects: Sequence[Subject],
    window: str | Windowing,
    text: TextSettings,
    progress: Progress = silent,
) -> Corpus:
    """All posts of an archive, matched against the keywords of all subjects."""
    return Corpus.from_posts(posts, _all_keywords(subjects), window=window, settings=text, progress=progress)


def with_yardsticks(names: Sequence[str], loop: Loop) -> tuple[str, ...]:
    """The policies and their yardsticks: chance for skill, the current list for ratios.

    >>> with_yardsticks(["klda"], "open"), with_yardsticks(["klda", "static"], "labelled")
    (('klda', 'random'), ('klda', 'static'))
    """
    more = {"open": (CHANCE,), "labelled": (CURRENT,), "closed": ()}[loop]
    return tuple(dict.fromkeys((*names, *more)))


def known_names(names: Sequence[str], *, labels: bool, said: str = "policies") -> tuple[str, ...]:
    """The same names, or an error for a name without a policy. `all` stands for all policies but the slow `klda-paper`.

    References can be named too, although they are no policies. With `labels`, `all` includes those that see labels.
    """
    known = (*registered(), *(ORACLES if labels else (LAST_TRUTH,)))
    if tuple(names) == ("all",):
        return tuple(name for name in known if name not in ("klda-paper", LAST_TRUTH))
    unknown = [name for name in names if name.partition("~")[0] not in known]
    if unknown or not names:
        raise SettingError(f"{said}: no policy {', '.join(unknown)}; there are all, {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def last_windows(count: int, archive: Archive, said: str = "test_weeks") -> list[int]:
    """The last `count` windows of an archive."""
    n = archive.n_windows
    if not 1 <= count <= n:
        raise SettingError(
            f"{said} {count}: the archive has {n} {'window' if n == 1 else 'windows'}; test at least one and "
            "fewer than that, with --weeks of history before them, or choose a shorter --window"
        )
    return list(range(n - count, n))


def windows_with(days: Iterable[date], archive: Archive, said: str = "test_weeks") -> list[int]:
    """The windows with these days; if a day has several windows, all of them."""
    found = []
    for day in days:
        spans = ((i, w.start.date(), w.end.date()) for i, w in enumerate(archive.corpus.windows))
        inside = [i for i, start, end in spans if start <= day < end or start == day]
        if not inside:
            raise SettingError(f"{said} {day}: the archive has no window with that day")
        found.extend(inside)
    return list(dict.fromkeys(found))  # two days of one week are one case


def _subjects(given: Sequence[Subject] | Mapping[str, Iterable[str]] | Path | str) -> tuple[Subject, ...]:
    if isinstance(given, str | Path):
        return load_subjects(Path(given))
    if isinstance(given, Mapping):
        given = [Subject(name, as_keywords(keywords)) for name, keywords in given.items()]
    chosen = tuple(given)
    if not chosen or not all(isinstance(subject, Subject) and subject.keywords for subject in chosen):
        raise SettingError('subjects must name at least one subject with keywords, as in {"health": ["hospital"]}')
    return chosen


def _all_keywords(subjects: Sequence[Subject]) -> KeywordSet:
    return KeywordSet(tuple(keyword for subject in subjects for keyword in subject.keywords))
