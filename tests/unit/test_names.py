"""Names say one thing: no class name stands for two things, and few file names do."""

from __future__ import annotations

from pathlib import Path

from benchmarks.shape import FOR_PEOPLE, shape

FOUND = shape(Path(__file__).parents[2] / "src" / "klda")


def test_no_two_public_classes_have_one_name() -> None:
    assert FOUND["shared_classes"] == {}


def test_every_module_is_short_enough_to_be_read_at_one_go() -> None:
    assert max(FOUND["largest"].values()) <= 400


def test_a_command_and_a_page_share_their_name_only_with_what_they_show() -> None:
    shared = FOUND["shared_names"].items()
    for_people = {name for name, places in shared if any(place.startswith(FOR_PEOPLE) for place in places)}
    assert not for_people
