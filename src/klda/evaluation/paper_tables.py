"""The paper's tables from open-loop cases, in its layout.

One set of tables for each test window, a column or a row for each subject: the evolution of keywords (Table 1), the
keywords added for the test window (Table 2), the data (Table 3), and the recommendations at keyword level (Table 5) and
at set level (Table 6), against the paper's reading of the truth. Table 4, perplexity, is in `study_tables`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import pyarrow as pa

from klda.cells import cell_text
from klda.evaluation.backtest import generator_for
from klda.evaluation.backtest_summary import CHANCE
from klda.evaluation.metrics import keyword_level, set_level
from klda.evaluation.open_loop import Case, PolicyAnswer
from klda.evaluation.result_cache import Plain
from klda.evaluation.truth import top_lists
from klda.text.corpus import Corpus
from klda.text.encoding import encode

Cell = str | int | float | None | Mapping[str, float | None]
"""A cell of a table; a mapping is an estimate with its interval, and None is unknown."""

RANDOM = "random (others excluded)"
RANDOM_SIZE = 3
"""Words in the paper's random set. Only this set leaves out the words that other methods recommend."""
RANDOM_DRAWS = 200
"""Sets that are drawn; the tables have their mean."""


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first column names the row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """Sentences under the table, for example about weeks in which the list had to stay."""

    def to_dict(self) -> Plain:
        """Plain data."""
        rows = [list(row) for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "notes": list(self.notes)}

    def to_markdown(self) -> str:
        """The table as Markdown, under its title.

        >>> print(Table("Words", ("", "a|b"), (("x", 1.5),), ("Few.",)).to_markdown())
        **Words**
        <BLANKLINE>
        |  | a\\|b |
        |---|---|
        | x | 1.5 |
        <BLANKLINE>
        Few.
        <BLANKLINE>
        """
        rows = [self.columns, *([cell_text(cell) for cell in row] for row in self.rows)]
        lines = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
        lines.insert(1, "|---" * len(self.columns) + "|")
        return "\n".join([f"**{self.title}**", "", *lines, "", *(f"{note}\n" for note in self.notes)])


def case_facts(case: Case) -> Plain:
    """The facts about a case that the tables need beside the result of a backtest."""
    return {
        "origin": dict(case.origin),
        "data": {
            "documents": len(case.history),
            "words": case.history.documents.n_tokens,
            "test_documents": len(case.test),
            "test_words": case.test.documents.n_tokens,
            "vocabulary": distinct_words(case.history),
            "vocabulary_reduced": len(case.history.vocabulary) - 1,
        },
    }


def distinct_words(corpus: Corpus) -> int:
    """How many words the posts of a corpus use, before rare ones become the placeholder."""
    texts = pa.array(corpus.posts.texts(corpus.documents.post), type=pa.string())
    return len(set(corpus.settings.stems(encode(texts, corpus.matcher, corpus.settings).forms)))


def paper_tables(cases: Sequence[Plain], tops: Sequence[int], *, seed: int = 0) -> list[Table]:
    """Tables 1, 2, 3, 5 and 6 of cases that hold a backtest's result and `case_facts`.

    >>> paper_tables([], (2, 3))
    []
    """
    return [*data_tables(cases), *recommendation_tables(cases, tops, seed=seed)]


def data_tables(cases: Sequence[Plain]) -> list[Table]:
    """Tables 1, 2 and 3 of each test week."""
    makers = (keyword_evolution, additional_keywords, data_sizes)
    return [make(of_week) for of_week in _by_week(cases) for make in makers]


def recommendation_tables(
    cases: Sequence[Plain],
    tops: Sequence[int],
    *,
    by_keyword: Sequence[str] | None = None,
    recommending: Sequence[str] | None = None,
    seed: int = 0,
) -> list[Table]:
    """Tables 5 and 6 of each test week.

    Table 5 is made for the policies `by_keyword`, by default all; the random set leaves out what the policies
    `recommending` propose, by default all.
    """
    tables = []
    for of_week in _by_week(cases):
        tables += keyword_level_tables(of_week, tops, by_keyword)
        tables += set_level_tables(of_week, tops, recommending, seed=seed)
    return tables


def _by_week(cases: Sequence[Plain]) -> list[list[Plain]]:
    """The cases with a truth, those of each test week together."""
    weeks = dict.fromkeys(case["week"] for case in cases if "truth" in case)
    return [[case for case in cases if case["week"] == week and "truth" in case] for week in weeks]


def keyword_evolution(cases: Sequence[Plain]) -> Table:
    """Table 1: the list of each week."""
    n_weeks = max(len(case["history"]) for case in cases)
    rows = [
        (week + 1, *(", ".join(case["history"][week]) if week < len(case["history"]) else None for case in cases))
        for week in range(n_weeks)
    ]
    title = f"Table 1. Evolution of keywords, weeks 1-{n_weeks}, before {cases[0]['week']}"
    notes = tuple(f"{case['subject']}: {note}" for case in cases for note in case.get("notes", ()))
    return Table(title, ("week", *_subjects(cases)), tuple(rows), notes)


def additional_keywords(cases: Sequence[Plain]) -> Table:
    """Table 2: the candidates that no earlier week had, by where they come from."""
    rows = [
        (case["subject"], *(", ".join(w for w, o in case["origin"].items() if o == source) for source in _SOURCES))
        for case in cases
    ]
    title = f"Table 2. Additional keywords for the week of {cases[0]['week']}"
    return Table(title, ("subject", *_SOURCES.values()), tuple(rows))


_SOURCES = {"viral": "recommendations by viral", "nouns": "high-frequency words"}
_SIZES = {
    "documents": "documents, weeks before",
    "words": "words, weeks before",
    "test_documents": "documents, test week",
    "test_words": "words, test week",
    "vocabulary": "vocabulary",
    "vocabulary_reduced": "vocabulary (reduced)",
}


def data_sizes(cases: Sequence[Plain]) -> Table:
    """Table 3: the size of the data of each subject."""
    rows = [(name, *(case["data"][key] for case in cases)) for key, name in _SIZES.items()]
    return Table(f"Table 3. Data, test week of {cases[0]['week']}", ("", *_subjects(cases)), tuple(rows))


def keyword_level_tables(
    cases: Sequence[Plain], tops: Sequence[int], shown: Sequence[str] | None = None
) -> list[Table]:
    """Table 5 for each policy that extends keywords one by one: its lists, the truth, and the accuracy of each."""
    names = dict.fromkeys(
        name
        for case in cases
        for name, answer in case["answers"].items()
        if isinstance(answer.get("proposed"), dict) and (shown is None or name in shown)
    )
    tables = []
    for name in names:
        rows = []
        for case in cases:
            truth = case["truth"]["raw"]
            proposed = {top: _lists(case["answers"].get(name, {}), top) for top in tops}
            level = {top: keyword_level(proposed[top], top_lists(truth, top)) for top in tops}
            rows += [
                (
                    f"{keyword} ({case['subject']})",
                    *(_words(proposed[top].get(keyword, ())) for top in tops),
                    *(_words(true[:top]) for top in tops),
                    *(_known(level[top][keyword].accuracy) if true else None for top in tops),
                )
                for keyword, true in truth.items()
            ]
        columns = (
            "keyword",
            *(f"{name} (top {top})" for top in tops),
            *(f"truth (top {top})" for top in tops),
            *(f"accuracy top {top}" for top in tops),
        )
        title = f"Table 5. Recommendations of {name} by keyword, week of {cases[0]['week']}"
        tables.append(Table(title, columns, tuple(rows)))
    return tables


def set_level_tables(
    cases: Sequence[Plain], tops: Sequence[int], recommending: Sequence[str] | None = None, *, seed: int = 0
) -> list[Table]:
    """Table 6 for each size of lists: accuracy and coverage of each policy on each subject, and their means."""
    names = [*dict.fromkeys(name for case in cases for name in case["answers"]), RANDOM]
    tables = []
    for top in tops:
        rows: list[tuple[Cell, ...]] = []
        columns: dict[str, list[list[float]]] = {"accuracy": [], "coverage": []}
        for case in cases:
            chance = random_scores(case, top, recommending, seed=seed)
            scores = [case["answers"].get(name, {}).get("scores", {}).get(f"raw/{top}", {}) for name in names[:-1]]
            for measure, per_case in columns.items():
                found = [_nan(score.get(measure)) for score in scores] + [chance[measure]]
                per_case.append(found)
                rows.append((f"{case['subject']}, {measure}", *map(_known, found)))
        rows += [
            (f"{measure} (mean)", *(_known(_mean(values)) for values in zip(*per_case, strict=True)))
            for measure, per_case in columns.items()
        ]
        title = f"Table 6. Performance of recommendations, top {top}, week of {cases[0]['week']}"
        tables.append(Table(title, ("", *names), tuple(rows)))
    return tables


def random_scores(
    case: Plain, top: int, recommending: Sequence[str] | None = None, *, seed: int = 0
) -> dict[str, float]:
    """Accuracy and coverage of the paper's random set, the mean of many draws: one of three words says little."""
    true = top_lists(case["truth"]["raw"], top)
    generator = generator_for(seed, case["subject"], case["week"], RANDOM)
    drawn = [set_level(random_words(case, generator, recommending), true) for _ in range(RANDOM_DRAWS)]
    return {m: _mean([getattr(agreement, m) for agreement in drawn]) for m in ("accuracy", "coverage")}


def random_words(case: Plain, generator: np.random.Generator, recommending: Sequence[str] | None = None) -> list[str]:
    """The paper's random set: candidates that no policy recommends; fewer where few are left.

    `recommending` names the policies, by default all. Current keywords may be drawn. What the policy `random` draws is
    no recommendation.
    """
    taken: set[str] = set()
    for name, answer in case["answers"].items():
        if name == CHANCE or (recommending is not None and name not in recommending):
            continue
        proposed = answer.get("proposed", [])
        lists = proposed.values() if isinstance(proposed, dict) else [proposed]
        taken.update(word for words in lists for word in words)
    left = [word for word in case["candidates"] if word not in taken]
    return [left[i] for i in generator.permutation(len(left))[:RANDOM_SIZE]]


def _lists(answer: Plain, top: int) -> Mapping[str, Sequence[str]]:
    """The lists of a kept answer, cut to `top` words as the backtest cut them."""
    together = answer.get("together")
    kept = PolicyAnswer("", answer.get("proposed", {}), (), 0.0, None if together is None else tuple(together))
    found = kept.proposed(top)
    return found if isinstance(found, Mapping) else {}


def _subjects(cases: Sequence[Plain]) -> tuple[str, ...]:
    return tuple(case["subject"] for case in cases)


def _words(words: Sequence[str]) -> str:
    return ", ".join(words) if words else "none"


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan


def _nan(value: float | None) -> float:
    return nan if value is None else value


def _known(value: float) -> float | None:
    return None if isnan(value) else round(value, 4)
