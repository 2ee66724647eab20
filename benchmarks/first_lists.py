"""Measures first lists: from the name of each judged subject alone, are the first ten words on it?

    python -m benchmarks.first_lists [--data ../shared/data] [--only NAME] [--no-vectors]

Prints JSON. For each subject: ten words with their grades (null where nobody graded a word), and how many have grade 2.
Grades are those of the judged words and of the current keywords, of the word itself or of one of its forms.
`at_least_5` is the share of the subjects with five such words.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.relevance import judged_corpora
from klda.advice.first_list import first_list
from klda.types import Keyword

ENOUGH = 5
"""Words of grade 2 among ten that make a first list a good one."""


def grade_of(keyword: Keyword, plain: dict[str, Any]) -> int | None:
    """The best grade of a word or of one of its forms; None where nobody graded it.

    >>> grade_of(Keyword("Jobs", ("jobs", "job")), {"judged": {"job": 2}, "current": {"work": 1}})
    2
    """
    book = {word.lower(): grade for part in ("judged", "current") for word, grade in plain[part].items()}
    return max((book[form.lower()] for form in (keyword.text, *keyword.forms) if form.lower() in book), default=None)


def summary(subjects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The share of the subjects with enough words of grade 2, and the mean number of such words."""
    good = [subject["good"] for subject in subjects.values()]
    return {
        "subjects": len(good),
        "at_least_5": sum(n >= ENOUGH for n in good) / max(len(good), 1),
        "good": sum(good) / max(len(good), 1),
    }


def main() -> None:
    """Prints the lists and their grades."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="", help="subjects whose name contains this")
    parser.add_argument("--no-vectors", action="store_true", help="as for a language without vectors")
    given = parser.parse_args()
    subjects: dict[str, dict[str, Any]] = {}
    for name, _, corpus, plain in judged_corpora(given.data, given.only):
        found = first_list(corpus, plain["subject"].replace("_", " "), use_vectors=not given.no_vectors)
        words = {word.keyword.text: grade_of(word.keyword, plain) for word in found.words}
        subjects[name] = {"good": sum(grade == 2 for grade in words.values()), "words": words}
    print(json.dumps({**summary(subjects), "lists": subjects}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
