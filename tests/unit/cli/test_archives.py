"""The archive that replays share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from klda.cli.archives import OpenReplay, open_replay
from klda.cli.inputs import Reading
from klda.errors import SettingError
from klda.evaluation.backtest import BacktestSettings, tasks
from klda.evaluation.subjects import Subject
from klda.posts.schema import PostTable
from klda.simulation import write
from klda.types import KeywordSet, Post, silent

HEALTH = Subject("health", KeywordSet.of("health"))
START = datetime(2024, 1, 1, tzinfo=UTC)


def posts(later: int) -> list[Post]:
    """Five weeks of posts; a rare word four times in the first, and so many times in the last."""
    said = {0: 4, 4: later}
    return [
        Post(
            f"{week}/{k}",
            START + timedelta(weeks=week, minutes=k),
            "health and doctors" + (" novavax" if k < said.get(week, 0) else ""),
        )
        for week in range(5)
        for k in range(20)
    ]


@pytest.fixture
def replayed(tmp_path: Path) -> Callable[..., OpenReplay]:
    def open_it(later: int = 0, language: str = "en") -> OpenReplay:
        file = write(PostTable.of(posts(later)), tmp_path / f"{later}.parquet")
        work = tmp_path / "work"
        reading = Reading({})
        return open_replay(
            [file], [HEALTH], reading, "7d", language=language, work=work, training=None, progress=silent
        )

    return open_it


@pytest.mark.parametrize("later", [0, 6])
def test_a_replay_knows_rare_words_whether_or_not_they_will_be_frequent(
    replayed: Callable[..., OpenReplay], later: int
) -> None:
    archive = replayed(later).archive
    week = archive.collect(0, HEALTH.keywords)
    seen = archive.read(week, [HEALTH.keywords])
    assert "novavax" in seen.vocabulary.words


def test_an_archive_is_read_in_its_language_and_kept_apart_from_other_readings(
    replayed: Callable[..., OpenReplay],
) -> None:
    english, german = replayed(), replayed(language="de")
    assert [replay.archive.corpus.settings.language for replay in (english, german)] == ["en", "de"]
    assert english.folder != german.folder


def test_the_test_window_that_is_named_is_the_one_without_enough_history(replayed: Callable[..., OpenReplay]) -> None:
    replay, settings = replayed(), BacktestSettings(policies=("random",), weeks=2)
    with pytest.raises(
        SettingError, match=r"^2024-01-08: .* needs 2 windows before it, this one has 1 .*--weeks.*--test-weeks"
    ):
        tasks(replay.archive, replay.corpus, replay.folder, [HEALTH], settings, [4, 1])
    with pytest.raises(SettingError, match="needs 1 window before it"):
        tasks(replay.archive, replay.corpus, replay.folder, [HEALTH], BacktestSettings(("random",), weeks=0), [0])
