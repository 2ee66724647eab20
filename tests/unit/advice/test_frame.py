"""A proposal as a frame."""

from __future__ import annotations

import builtins
from typing import Any

import pandas as pd
import polars as pl
import pytest

from klda import Proposal, recommend
from klda.errors import MissingExtraError, SettingError
from klda.simulation import World

COLUMNS = ["action", "keyword", "reason", "posts", "new posts", "relevance"]


@pytest.fixture(scope="module")
def proposal() -> Proposal:
    return recommend(World(weeks=3, posts_per_week=400), ["health", "hospital"], budget=4, policy="frequent")


def test_each_keyword_is_a_row_and_additions_come_first(proposal: Proposal) -> None:
    frame = proposal.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == COLUMNS
    assert frame.dtypes == [pl.String] * 3 + [pl.Float64] * 3
    assert sorted(frame["keyword"]) == sorted(reason.keyword.text for reason in proposal.reasons)
    assert frame["action"].to_list() == sorted(frame["action"], key=["add", "drop", "keep", "hold"].index)
    for row in frame.iter_rows(named=True):
        reason = proposal.reason(row["keyword"])
        assert reason is not None
        assert row["reason"] == reason.text
        assert row["posts"] == (reason.expected_posts and reason.expected_posts.mean)


def test_pandas_is_given_where_it_is_asked_for(proposal: Proposal) -> None:
    frame = proposal.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == COLUMNS
    assert frame["keyword"].tolist() == proposal.to_frame()["keyword"].to_list()
    assert frame["relevance"].dtype == "float64"


def test_without_pandas_the_error_says_how_to_get_it(proposal: Proposal, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without_pandas(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        proposal.to_frame("pandas")
    with pytest.raises(SettingError, match="polars"):
        proposal.to_frame("excel")  # type: ignore[arg-type]


def test_a_proposal_without_reasons_is_an_empty_frame() -> None:
    from klda.types import KeywordSet

    empty = Proposal("static", KeywordSet.of("health"))
    assert empty.to_frame().shape == (0, 6)
    assert empty.to_frame("pandas").shape == (0, 6)
