"""How fast posts become a corpus: `python -m benchmarks.prepare FILE`.

Prints JSON:
  posts_per_second        from the file to the corpus: read, tokenise, stem, match, count, keep the posts
  countvectorizer_ratio   time of scikit-learn's CountVectorizer, given the texts in memory, over ours, given the file
  peak_memory_mb          of the process that makes the corpus, before anything else runs in it
  match_ratio             time of matching 5,000 keywords over that of 50, both spread evenly over the 5,000 most
                          frequent words of the corpus (so that the larger set also has a hundred times the hits)
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sklearn.feature_extraction.text import CountVectorizer

from klda.posts import read_posts
from klda.text.corpus import Corpus
from klda.text.matching import Matcher
from klda.types import KeywordSet

Result = TypeVar("Result")

KEYWORDS = ("health", "drug", "medicare", "jobs", "climate", "veterans", "education", "border", "tax cuts", "#covid19")
REPEATS = 2
MATCHED_TEXTS = 100_000


def main() -> None:
    """Runs the benchmark on a file of posts and prints what it measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--workers", type=int, default=None, help="threads (default: as many as cores, at most 4)")
    arguments = parser.parse_args()

    def prepare() -> Corpus:
        return Corpus.from_posts(read_posts(arguments.file), KEYWORDS, workers=arguments.workers)

    corpus, first = best_of(prepare, repeats=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ours = min(first, best_of(prepare, repeats=REPEATS - 1)[1])
    texts = corpus.posts.texts()
    _, theirs = best_of(lambda: CountVectorizer(min_df=10).fit_transform(texts))
    words = [corpus.vocabulary.display(i) for i in range(1, min(5_001, len(corpus.vocabulary)))]
    few, many = (Matcher(KeywordSet.of(*words[:: len(words) // n])) for n in (50, len(words)))
    some = texts[:MATCHED_TEXTS]
    print(
        json.dumps(
            {
                "posts": len(texts),
                "posts_per_second": round(len(texts) / ours),
                "countvectorizer_ratio": round(theirs / ours, 2),
                "peak_memory_mb": round(peak),
                "match_ratio": round(
                    best_of(lambda: many.match_many(some))[1] / best_of(lambda: few.match_many(some))[1], 2
                ),
                "match_keywords": [len(few.keywords), len(many.keywords)],
            }
        )
    )


def best_of(work: Callable[[], Result], repeats: int = REPEATS) -> tuple[Result, float]:
    """What the work returns, and its shortest time in seconds: the run that other processes disturbed least."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return result, min(times)


if __name__ == "__main__":
    main()
