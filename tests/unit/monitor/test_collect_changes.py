"""What collecting does with posts that were deleted or edited at their source."""

from __future__ import annotations

import pytest

import klda.monitor.collect as batches
from klda.advice.explanation import Example, Reason
from klda.advice.proposal import Proposal
from klda.monitor.monitor import Monitor
from klda.store import PostStore
from klda.streams import Deleted, Event, Received
from klda.types import Keyword, KeywordSet
from tests.unit.monitor.conftest import Make, Scripted, gathered, received, row, stored


def texts(monitor: Monitor, *, sample: bool = False) -> dict[str, list[str]]:
    """The texts of the rows of each id."""
    found: dict[str, list[str]] = {}
    for batch in monitor.posts().read(sample=sample).batches():
        for name, text in zip(batch.column("id").to_pylist(), batch.column("text").to_pylist(), strict=True):
            found.setdefault(name, []).append(text)
    return found


def test_a_post_deleted_at_its_source_leaves_the_table_and_the_examples(monitor: Monitor) -> None:
    gathered(monitor, Scripted(received(row("a"), row("b"))))
    reason = Reason(
        Keyword("ward"), "add", "why", examples=(Example("a", "the hospital"), Example("b", "the hospital"))
    )
    name = monitor.records.proposals.save(
        Proposal(policy="static", current=KeywordSet.of("hospital"), add=KeywordSet.of("ward"), reasons=(reason,))
    )
    gathered(monitor, Scripted([], [Deleted("a"), Deleted("never stored")]))
    assert stored(monitor) == ["b"]
    kept = monitor.records.proposals.get(name).proposal.reasons[0].examples
    assert [example.id for example in kept] == ["b"]
    assert monitor.records.volume.total() == 1


@pytest.mark.parametrize("pseudonymise", [False, True])
def test_with_an_account_that_is_gone_go_its_posts_and_their_examples(make: Make, pseudonymise: bool) -> None:
    with make(sample=1.0, pseudonymise=pseudonymise) as monitor:
        posts = [row(name)._replace(author=author) for name, author in (("a", "ann"), ("b", "bob"), ("ann", "bob"))]
        gathered(monitor, Scripted(received(*posts)))
        shown = tuple(Example(monitor.posts().stored_id(name), "the hospital") for name in ("a", "b"))
        reason = Reason(Keyword("ward"), "add", "why", examples=shown)
        name = monitor.records.proposals.save(
            Proposal(policy="static", current=KeywordSet.of("hospital"), reasons=(reason,))
        )
        gathered(monitor, Scripted([], [Deleted("ann", author=True), Deleted("nobody", author=True)]))
        left = sorted(monitor.posts().stored_id(post) for post in ("b", "ann"))
        assert stored(monitor) == stored(monitor, sample=True) == left
        assert monitor.records.proposals.get(name).proposal.reasons[0].examples == shown[1:]
        assert monitor.records.volume.total() == 2


def test_a_post_and_its_deletion_in_one_burst_leave_nothing(monitor: Monitor) -> None:
    gathered(monitor, Scripted([*received(row("a")), Deleted("a")]))
    assert stored(monitor) == []


def test_an_edit_takes_the_place_of_the_stored_post(make: Make) -> None:
    with make(sample=1.0) as monitor:
        gathered(monitor, Scripted(received(row("a"), row("b"))))
        name = monitor.records.proposals.save(
            Proposal(
                policy="static",
                current=KeywordSet.of("hospital"),
                reasons=(Reason(Keyword("ward"), "add", "why", examples=(Example("a", "the hospital"),)),),
            )
        )
        edit = Received(row("a", "the doctor"), edited=True)
        gathered(monitor, Scripted([], [edit, *received(row("a"))]))
        assert texts(monitor) == texts(monitor, sample=True) == {"a": ["the doctor"], "b": ["the hospital"]}
        volume = monitor.records.volume.series("window", keywords=["", "hospital", "doctor"])
        assert [(point.keyword, point.posts) for point in volume] == [("", 2), ("doctor", 1), ("hospital", 1)]
        assert not monitor.records.proposals.get(name).proposal.reasons[0].examples, "it quotes the old text"


def test_a_post_and_its_edit_in_one_burst_leave_the_new_text(make: Make) -> None:
    with make(sample=1.0) as monitor:
        gathered(monitor, Scripted([*received(row("a")), Received(row("a", "no more of it"), edited=True)]))
        assert (stored(monitor), texts(monitor, sample=True)) == ([], {"a": ["no more of it"]})


WITHOUT, WITH = (Received(row("a", text), edited=True) for text in ("no more of it", "the doctor"))


@pytest.mark.parametrize("at_once", [1, 100])
@pytest.mark.parametrize(
    ("changes", "left"),
    [([WITHOUT], {}), ([WITHOUT, WITH], {"a": ["the doctor"]}), ([WITH, WITHOUT], {}), ([WITH, Deleted("a")], {})],
    ids=["keywords gone", "keywords back", "keywords gone again", "deleted"],
)
def test_what_happened_last_to_a_post_holds(
    monitor: Monitor,
    changes: list[Event],
    left: dict[str, list[str]],
    at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "MOST_EVENTS", at_once)
    gathered(monitor, Scripted(received(row("a")), *([change] for change in changes)))
    assert texts(monitor) == left


def test_an_old_post_that_is_edited_has_one_row(monitor: Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PostStore.__init__.__kwdefaults__, "remembered", 1)
    gathered(monitor, Scripted(received(*(row(name) for name in "abc"))))
    edits = [[Received(row(name, f"the doctor {name}"), edited=True)] for name in "ab"]
    gathered(monitor, Scripted([], *edits, received(row("d"))))
    assert texts(monitor) == {"a": ["the doctor a"], "b": ["the doctor b"]} | {name: ["the hospital"] for name in "cd"}


@pytest.mark.parametrize("dies", ["append", "delete"])
def test_an_edit_loses_nothing_when_the_process_dies(
    monitor: Monitor, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered(monitor, Scripted(received(row("a"))))
    source = Scripted([], [Received(row("a", "the doctor"), edited=True)])

    def dying(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"klda.store.delta.post_store.PostStore.{dies}", dying)
        with pytest.raises(KeyboardInterrupt):
            gathered(monitor, source)
    monitor.records.deletions.carry_out(monitor.posts())
    assert texts(monitor) == {"a": ["the hospital" if dies == "append" else "the doctor"]}
    gathered(monitor, source)
    assert texts(monitor) == {"a": ["the doctor"]}


def test_pseudonyms_hide_authors_and_deletions_still_find_their_posts(make: Make) -> None:
    with make(pseudonymise=True) as monitor:
        gathered(monitor, Scripted(received(row("a"), row("b"))))
        [batch] = monitor.posts().read().batches()
        assert "author of a" not in batch.column("author").to_pylist()
        gathered(monitor, Scripted([], [Deleted("a")]))
        assert stored(monitor) == [monitor.posts().stored_id("b")]
