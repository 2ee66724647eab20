"""The commands of a monitor from an empty folder to an approved list, as a user meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from klda.advice.proposal import Proposal
from klda.monitor.monitor import opened
from klda.store import RecordedGap

Run = Callable[..., Result]


@pytest.fixture
def monitor(klda: Run, posts: Path, tmp_path: Path) -> Callable[..., Any]:
    """Runs `klda monitor … --format json` on one home, and returns what it answers."""

    def answer(command: str, *arguments: object) -> Any:
        result = klda("monitor", command, *arguments, "--home", tmp_path / "home", "--format", "json")
        assert result.exit_code == 0, getattr(result, "error", result.output)
        return json.loads(result.stdout)

    return answer


def test_from_zero_to_an_approved_list_and_its_history(
    klda: Run, monitor: Callable[..., Any], posts: Path, tmp_path: Path
) -> None:
    assert monitor("list") == []
    made = monitor("create", "health", "-k", "health,hospital,doctor", "--source", f"replay:{posts}", "--by", "ann",
                   "--policy", "counting", "--budget", 6, "--sample", 0.1)  # fmt: skip
    assert Path(made["settings"]).is_file()
    counts = monitor("collect", "health")
    assert counts["received"] == 9000
    assert counts["ended"]
    assert monitor("collect", "health")["received"] == 0
    assert len(monitor("close", "health")["closed"]) == 6
    assert monitor("close", "health") == {"closed": []}

    proposal = monitor("propose", "health")
    shown = monitor("show", "health")
    assert shown["waiting"] == proposal["id"] == shown["proposal"]["id"]
    assert shown["posts"] == counts["stored"]
    assert [one["name"] for one in monitor("list")] == ["health"]
    assert any(reason["examples"] for reason in proposal["reasons"] if reason["action"] != "keep")
    assert "For example" in klda("monitor", "show", "health", "--home", tmp_path / "home").stdout
    step = monitor("rules", "health", proposal["id"], "--platform", "x-v2")
    assert step["requests"]

    decision = monitor("approve", "health", "--by", "bob", "--note", "fine")
    assert (decision["verdict"], decision["decided_by"], decision["note"]) == ("approve", "bob", "fine")
    assert monitor("show", "health")["keywords"] == decision["keywords"]
    chosen = decision["keywords"][0]
    table = klda("monitor", "history", "health", "--keyword", chosen, "--home", tmp_path / "home").stdout
    # whole posts, their interval below, and none to come
    assert re.search(r"2026-02-16 00:00 │ +[\d,]+ │ +– │\n│ +│ +│ +\d+–\d+ │", table)
    told = monitor("history", "health")
    assert {story["keyword"] for story in told["keywords"] if story["active"]} == set(decision["keywords"])
    assert [p["state"] for p in told["proposals"]] == ["approved"]

    monitor("propose", "health")
    assert monitor("reject", "health")["verdict"] == "reject"
    monitor("propose", "health")
    assert monitor("edit", "health", "-k", "health,redlung")["keywords"] == ["health", "redlung"]

    exported = monitor("export", "health", tmp_path / "week.parquet", "--window", "2026-01-07")
    assert 0 < exported["posts"] < counts["stored"]
    old = monitor("vacuum", "health", "--older-than", "1d")["windows"]
    assert len(old) == 5, "by the calendar of the replay its last window has just ended"

    for command in ("list", "show health", "history health", "history health --keyword health"):
        result = klda("monitor", *command.split(), "--home", tmp_path / "home")
        assert result.exit_code == 0, result.output
        assert "health" in result.stdout


def test_a_monitor_is_deleted_when_that_is_confirmed(
    klda: Run, monitor: Callable[..., Any], posts: Path, tmp_path: Path
) -> None:
    monitor("create", "health", "-k", "health,hospital", "--source", f"replay:{posts}")
    assert klda("monitor", "delete", "health", "--home", tmp_path / "home", input="n\n").exit_code == 1
    assert [one["name"] for one in monitor("list")] == ["health"]
    refused = klda("monitor", "delete", "health", "--home", tmp_path / "home", "--format", "json")
    assert "add --yes" in getattr(refused, "error", refused.output)
    assert monitor("delete", "health", "--yes") == {"deleted": "health", "posts": 0}
    assert monitor("list") == []


def test_a_monitor_that_cannot_be_read_is_listed_with_the_reason(
    klda: Run, monitor: Callable[..., Any], tmp_path: Path
) -> None:
    for name in ("broken", "health"):
        monitor("create", name, "-k", "health", "--source", "jetstream")
    (tmp_path / "home" / "broken" / "klda.toml").write_text("subject = ")
    broken, health = monitor("list")
    assert (broken["name"], health["name"], health["keywords"]) == ("broken", "health", ["health"])
    assert "klda.toml: not TOML" in broken["unreadable"]
    table = klda("monitor", "list", "--home", tmp_path / "home")
    assert table.exit_code == 0
    assert "klda.toml: not TOML" in table.stdout
    assert "jetstream" in table.stdout
    assert klda("monitor", "show", "broken", "--home", tmp_path / "home").exit_code == 2


def test_a_file_is_no_home(klda: Run, posts: Path) -> None:
    result = klda("monitor", "list", "--home", posts)
    assert result.exit_code == 2
    assert "is a file" in result.output


def test_run_does_all_of_it(monitor: Callable[..., Any], posts: Path, tmp_path: Path) -> None:
    file = tmp_path / "klda.toml"
    file.write_text(
        f'subject = "racing"\nkeywords = ["horse", "jockey"]\nsource = "replay:{posts}"\n'
        'approval = "auto"\npolicy = "static"\n'
    )
    monitor("create", "racing", "--settings", file, "--window", "14d")
    assert monitor("run", "racing")["ended"]
    proposals = monitor("history", "racing")["proposals"]
    assert len(proposals) == len(monitor("show", "racing")["windows"]) - 1
    for proposal in proposals:
        assert (proposal["state"] == "approved") == (not proposal["flags"]), "what is flagged waits for a person"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "nobody"], 2, "'nobody' is not in .*klda monitor create"),
        (["create", "a/b", "-k", "x", "--source", "jetstream"], 2, "monitor name 'a/b'"),
        (["create", "x", "-k", "x", "--source", "telegraph"], 2, "source: kind 'telegraph'"),
        (["create", "x", "-k", "x", "--source", "replay:/nowhere.parquet"], 2, "/nowhere.parquet"),
        (["create", "x", "-k", "x"], 2, "--source"),
        (["vacuum", "x", "--older-than", "forever"], 2, "--older-than 'forever': give a number and a unit"),
        (["create", "x", "-k", "x", "--source", "jetstream", "--approval", "never"], 2, "approval"),
        (
            ["create", "x", "-k", "x", "--source", "jetstream", "--date-format", "%d/%m/%Y"],
            2,
            "no option 'date_format'",
        ),
        (["create", "x", "--settings", "/nowhere.toml"], 2, "/nowhere.toml: there is no such file"),
    ],
)
def test_mistakes_are_told_in_one_line(
    klda: Run, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    result = klda("monitor", *arguments, "--home", tmp_path / "home")
    assert result.exit_code == code
    assert re.search(message, result.error), result.error
    assert not list((tmp_path / "home").glob("*"))


def test_dates_of_a_spreadsheet_need_a_format_only(klda: Run, monitor: Callable[..., Any], tmp_path: Path) -> None:
    posts = tmp_path / "posts.csv"
    posts.write_text("id,time,text\n" + "".join(f"{n},0{n}/02/2026 10:00,health news {n}\n" for n in range(1, 9)))
    made = ["create", "health", "-k", "health", "--source", f"replay:{posts}", "--timezone", "Europe/Berlin"]
    refused = klda("monitor", *made, "--home", tmp_path / "home")
    assert (refused.exit_code, "--date-format" in refused.error) == (2, True), refused.error
    folder = Path(monitor(*made, "--date-format", "%d/%m/%Y %H:%M")["folder"])
    assert monitor("collect", "health")["received"] == 8
    with opened(folder.parent, "health") as found:
        assert min(size.window.start for size in found.posts().windows()) == datetime(2026, 1, 26, tzinfo=UTC)


def test_a_monitor_that_knows_nothing_yet_says_what_to_do(
    klda: Run, monitor: Callable[..., Any], tmp_path: Path
) -> None:
    monitor("create", "live", "-k", "health", "--source", "jetstream")
    for command, message in (("propose", "no window has closed yet"), ("approve", "no proposal waits")):
        result = klda("monitor", command, "live", "--home", tmp_path / "home")
        assert result.exit_code == 3
        assert message in result.error


def test_an_empty_list_waits_to_be_rejected_and_cannot_be_approved(
    klda: Run, monitor: Callable[..., Any], tmp_path: Path
) -> None:
    monitor("create", "live", "-k", "health", "--source", "jetstream")
    with opened(tmp_path / "home", "live") as live:
        current = live.records.keywords.active()
        empty = live.records.proposals.save(Proposal("mine", current, drop=current), flags=["the list is empty"])
    told = klda("monitor", "show", "live", "--home", tmp_path / "home").stdout
    assert "Flagged: the list is empty" in told
    assert f"klda monitor reject live {empty}" in told
    result = klda("monitor", "approve", "live", "--home", tmp_path / "home")
    assert result.exit_code == 3
    assert "an empty list and would collect nothing; edit it, or reject it" in result.error
    assert monitor("show", "live")["keywords"] == ["health"]


def test_gaps_are_shown_with_their_start_and_end(klda: Run, monitor: Callable[..., Any], tmp_path: Path) -> None:
    monitor("create", "live", "-k", "health", "--source", "x")
    assert monitor("show", "live")["latest_gaps"] == []
    start = datetime(2026, 1, 5, 10, tzinfo=UTC)
    with opened(tmp_path / "home", "live") as live:
        live.records.journal.add_gap(
            RecordedGap("X filtered stream", start, start + timedelta(seconds=90), "not connected")
        )
    [gap] = monitor("show", "live")["latest_gaps"]
    assert (gap["start"], gap["end"]) == ("2026-01-05T10:00:00+00:00", "2026-01-05T10:01:30+00:00")
    told = klda("monitor", "show", "live", "--home", tmp_path / "home").stdout
    assert re.search(r"2026-01-05 10:00:00\W+2026-01-05 10:01:30\W+not connected", told)
