"""How fast lists with queries are matched, and whether they are matched right: `python -m benchmarks.matching [FILE]`.

Prints JSON:
  queries_over_plain   posts a second with 5,000 keywords of which a fifth are queries or exclusions, over posts a
                       second with 5,000 plain words, in one run and by processor time; the queries are made of
                       the same words
  many_over_few        time of the same list over that of 500 of its keywords: it hardly depends on their number
  hits_a_post          keywords of the plain list that a post carries on average: far more than a real list's
  pairs, differences   random pairs of a post and a list that were asked of the matcher and of a slow, obvious
                       reference, and those on which the two disagree

The keywords are the most frequent words of the posts, apart from the first 200, which are function words. Without
a FILE of posts, the posts are made of words that are as frequent as those of a language.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from itertools import accumulate, chain, islice
from pathlib import Path

from klda.posts import read_posts
from klda.query import Condition, Either, SearchTerm, parse_query
from klda.text.matching import Matcher
from klda.types import KeywordSet

KEYWORDS, FEWER = 5_000, 500
POSTS = 50_000
TOO_COMMON = 200
DISTINCT = 50_000
"""Words of made-up posts."""
PAIRS = 1_000_000
ROUNDS = 15
TEXTS_A_LIST = 1_000
"""Random texts that are asked about each random list."""


def main() -> None:
    """Runs both parts and prints what they found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, nargs="?", help="posts (default: made-up ones)")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    texts = made_up(generator) if arguments.file is None else texts_in(arguments.file)
    print(json.dumps(speed(texts, generator) | agreement(arguments.pairs, generator)))


def speed(texts: list[str], generator: random.Random) -> dict[str, object]:
    """Posts a second with queries and without; each list in turn, so that other work disturbs all alike."""
    counted = Counter(word for text in texts for word in set(re.findall(r"[a-z]{3,}", text.lower())))
    words = [word for word, _ in counted.most_common(TOO_COMMON + KEYWORDS)][TOO_COMMON:]
    lists = (words, with_queries(words, generator), with_queries(words[:: KEYWORDS // FEWER], generator))
    plain, mixed, _ = matchers = [Matcher(KeywordSet.of(*keywords)) for keywords in lists]
    times: list[list[float]] = [[], [], []]
    for _ in range(ROUNDS):
        for matcher, taken in zip(matchers, times, strict=True):
            start = time.process_time()
            matcher.match_many(texts)
            taken.append(time.process_time() - start)
    of_plain, of_mixed, of_fewer = map(min, times)  # the runs that other processes disturbed least
    return {
        "keywords": len(mixed.keywords),
        "queries": sum(not keyword.is_plain for keyword in mixed.keywords),
        "posts": len(texts),
        "hits_a_post": round(len(plain.match_many(texts).values) / len(texts), 1),
        "plain_posts_per_second": round(len(texts) / of_plain),
        "queries_posts_per_second": round(len(texts) / of_mixed),
        "queries_over_plain": round(of_plain / of_mixed, 2),
        "many_over_few": round(of_mixed / of_fewer, 2),
    }


def texts_in(file: Path) -> list[str]:
    """The texts of the first posts of a file."""
    batches = (batch.column("text").to_pylist() for batch in read_posts(file).batches())
    return list(islice(chain.from_iterable(batches), POSTS))


def made_up(generator: random.Random) -> list[str]:
    """Texts of ten to thirty words, drawn as words of a language are: the second half as often as the first."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(generator.choices(letters, k=generator.randint(3, 10))) for _ in range(DISTINCT)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    return [" ".join(generator.choices(words, cum_weights=weights, k=generator.randint(10, 30))) for _ in range(POSTS)]


def with_queries(words: list[str], generator: random.Random) -> list[str]:
    """The words as a list of which a fifth are queries; a few of these are exclusions of rare words."""
    found = list(words)
    chosen = generator.sample(range(len(words)), len(words) // 5)
    for turn, place in enumerate(chosen):
        word, others = words[place], generator.sample(words, 3)
        forms = (
            f"{word} -{others[0]}",
            f"{word} AND ({others[0]} OR {others[1]})",
            f'"{word} {others[0]}"',
            f"{word} AND ({others[0]} OR {others[1]} OR {others[2]}) -{words[-1 - place % 50]}",
            f"-{word} {others[0]}",
        )
        found[place] = forms[turn % len(forms)]
    return found


def agreement(n_pairs: int, generator: random.Random) -> dict[str, int]:
    """On how many random pairs of a post and a list the matcher and the reference disagree."""
    asked = differences = matched = 0
    while asked < n_pairs:
        keywords = KeywordSet.of(*(random_query(generator) for _ in range(generator.randint(1, 8))))
        texts = [random_text(generator) for _ in range(min(TEXTS_A_LIST, n_pairs - asked))]
        found = Matcher(keywords).match_many([text for text, _ in texts]).lists()
        expected = [reference(keywords, said) for _, said in texts]
        differences += sum(ours != theirs for ours, theirs in zip(found, expected, strict=True))
        matched += sum(map(bool, expected))
        asked += len(texts)
    return {"pairs": asked, "pairs_that_match": matched, "differences": differences}


SAID = ("apple", "pie", "ios", "mac", "#tag", "@who", "u.s.", "c++", "don't", "日本", "école")
BETWEEN = (" ", " ", " ", ", ", "-", "\n", "... ")


def random_text(generator: random.Random) -> tuple[str, list[str]]:
    """A text, and the words that it was made of: some in capitals, with spaces and punctuation between them."""
    words = generator.choices(SAID, k=generator.randint(0, 6))
    pieces = ((w.upper() if generator.random() < 0.2 else w) + generator.choice(BETWEEN) for w in words)
    return "".join(pieces), words


def random_query(generator: random.Random) -> str:
    """A keyword: words, a phrase, a qualified word or an exclusion."""
    a, b, c, d = generator.choices(SAID, k=4)
    kinds = [a, f"{a} {b}", f'"{a} {b}"', f"{a} -{b}", f"{a} AND ({b} OR {c})", f"{a} OR ({b} -({c} {d}))"]
    kinds += [f'({a} OR {b}) AND ({c} OR "{a} {d}") -{d}', f'{a} -"{b} {c}"']
    text = generator.choice(kinds)
    return f"-({text})" if generator.random() < 0.1 else text


def reference(keywords: KeywordSet, said: list[str]) -> list[int]:
    """The columns of the keywords that a text of these words carries, asked word by word."""
    words = [{word, word.lstrip("#@")} for word in said]
    met = [
        (column, query)
        for column, keyword in enumerate(keywords)
        for query in map(parse_query, keyword.forms)
        if meets(query.condition, words)
    ]
    return [] if any(query.excludes for _, query in met) else sorted({column for column, _ in met})


def meets(condition: Condition, words: list[set[str]]) -> bool:
    """Whether a text of these words, each with the keywords' words that it is, meets a condition."""
    if isinstance(condition, SearchTerm):
        n = len(condition.words)
        if condition.in_order:
            runs = (words[start : start + n] for start in range(len(words) - n + 1))
            return any(all(a in b for a, b in zip(condition.words, run, strict=True)) for run in runs)
        return all(any(wanted in said for said in words) for wanted in condition.words)
    if isinstance(condition, Either):
        return any(meets(part, words) for part in condition.parts)
    left_out = any(meets(part, words) for part in condition.without)
    return all(meets(part, words) for part in condition.parts) and not left_out


if __name__ == "__main__":
    main()
