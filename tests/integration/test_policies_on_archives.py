"""Every policy that is quick proposes from real posts, in words that people can read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from klda.errors import DataError
from klda.policies.recommend import recommend
from klda.policies.registry import policies
from klda.posts.reader import read_posts
from klda.text.corpus import Corpus

SLOW = {"klda-paper", "klda"}
KEYWORDS = ["health", "drug", "medicare"]
CANDIDATES = ["care", "hospital", "doctor", "insurance", "patients", "prices", "virus", "vaccine", "nurses", "senate"]

pytestmark = pytest.mark.archive


@pytest.fixture(scope="module")
def corpus(archives: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Three weeks of the archive, every fourth post."""
    file = tmp_path_factory.mktemp("posts") / "slice.parquet"
    posts = pl.scan_parquet(archives / "congress_2020.parquet").gather_every(4)
    start = pl.datetime(2020, 3, 2, time_zone="UTC")
    posts.filter(pl.col("time").is_between(start, start + pl.duration(weeks=3), closed="left")).sink_parquet(file)
    return Corpus.from_posts(read_posts(file), KEYWORDS)


@pytest.mark.parametrize("name", sorted(set(policies()) - SLOW - {"viral"}))
def test_a_policy_proposes_a_list_from_real_posts_and_gives_reasons(corpus, name):
    advice = recommend(corpus, KEYWORDS, policy=name, candidates=CANDIDATES, budget=6)
    assert 0 < len(advice.next_keywords) <= 6
    assert {r.keyword.text for r in advice.reasons} >= set(advice.next_keywords.texts)
    assert all(reason.text for reason in advice.reasons)
    assert advice.expected_posts is not None
    assert advice.expected_posts.low < advice.expected_posts.mean < advice.expected_posts.high


def test_where_nothing_is_known_about_reposts_viral_says_so(corpus):
    with pytest.raises(DataError, match="count of reposts"):
        recommend(corpus, KEYWORDS, policy="viral", candidates=CANDIDATES)
