from __future__ import annotations

from pathlib import Path

import pytest

from klda.errors import SettingError
from klda.monitor.monitor import opened
from klda.monitor.monitor_settings import MonitorSettings, from_environment, resolved
from klda.streams import source_of
from tests.unit.monitor.conftest import Make

SMALL = {"subject": "health", "keywords": ["health", "drug"], "source": "jetstream"}


def test_settings_are_the_same_after_a_round_trip_through_toml() -> None:
    settings = MonitorSettings.of(
        SMALL
        | {
            "source": {"kind": "mastodon", "server": "https://example.org", "timeline": "hashtag"},
            "keywords": ['with "quotes"', "back\\slash", "Gesundheit 😷"],
            "budget": {"max_keywords": 10, "required": ["health"]},
            "candidates": {"sources": ["history", "rising"]},
            "policy_settings": {"n_topics": 7},
            "storage": {"options": {"AWS_REGION": "eu-central-1"}, "database": "env:KLDA_DATABASE"},
            "retention": "180d",
        }
    )
    assert MonitorSettings.parse(settings.to_toml()) == settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keywords": []}, "keywords: "),
        ({"keywords": ["a", ""]}, "keywords.1: "),
        ({"approval": "maybe"}, "approval: .*'manual' or 'auto'.*given: 'maybe'"),
        ({"window": "soon"}, "window: .*7d"),
        ({"zone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"novelty": 2}, "novelty: "),
        ({"sample": -0.1}, "sample: "),
        ({"policy": "guess"}, "no policy 'guess'"),
        ({"policy_settings": {"n_topic": 3}}, "has no setting n_topic"),
        ({"source": "telegraph"}, "source: kind 'telegraph' is not known"),
        ({"budget": {"max_post": 3}}, "budget.max_post: there is no such setting"),
        ({"budget": {"required": ["a"], "forbidden": ["a"]}}, "both required and forbidden"),
        ({"retention": "long"}, "retention: "),
        ({"colour": "red"}, "colour: there is no such setting; choose one of subject"),
        ({"candidates": {"sources": ["tea leaves"]}}, r"candidates\.sources\.0"),
    ],
)
def test_a_wrong_setting_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        MonitorSettings.of(SMALL | change)


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(SettingError, match="source: Field required"):
        MonitorSettings.of({"subject": "health", "keywords": ["a"]})


def test_a_misspelt_setting_is_named_before_the_one_it_was_meant_to_be() -> None:
    with pytest.raises(SettingError, match="keyword: there is no such setting; choose one of subject, keywords"):
        MonitorSettings.of({"subject": "health", "keyword": ["a"], "source": "jetstream"})


def test_what_is_not_toml_is_said_with_its_line() -> None:
    with pytest.raises(SettingError, match=r"there\.toml: not TOML .*line 2"):
        MonitorSettings.parse("a = 1\nb = ?", "there.toml")
    with pytest.raises(SettingError, match=r"no\.toml: cannot be read"):
        MonitorSettings.load(Path("no.toml"))


def test_the_address_of_the_database_never_shows_in_an_error() -> None:
    with pytest.raises(SettingError) as caught:
        MonitorSettings.of(SMALL | {"storage": {"database": ["postgresql://ann:hunter2@host/db"]}})
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(
        MonitorSettings.of(SMALL | {"storage": {"database": "postgresql://ann:hunter2@host/db"}})
    )


def test_secrets_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLDA_DATABASE", "postgresql://host/db")
    assert from_environment("env:KLDA_DATABASE") == "postgresql://host/db"
    assert from_environment("plain") == "plain"
    with pytest.raises(SettingError, match="no variable KLDA_NOTHING"):
        from_environment("env:KLDA_NOTHING")


def test_a_source_has_its_address_and_all_its_options() -> None:
    plain = SMALL | {"adjacent": True}
    given = {"kind": "mastodon", "address": "https://a.org", "timeline": "hashtag"}
    mastodon = source_of(MonitorSettings.of(plain | {"source": given}).source_table())
    assert (mastodon.name, mastodon.unfiltered) == ("mastodon a.org", False)
    assert MonitorSettings.of(plain | {"source": "x"}).source_table()["adjacent"], (
        "X's rules match phrases as the filter does"
    )
    assert MonitorSettings.of(plain | {"source": "jetstream"}).source_table() == {"kind": "jetstream"}


def test_files_are_named_from_the_root() -> None:
    here = MonitorSettings.of(SMALL | {"source": "replay:posts.parquet"}).with_absolute_paths()
    assert here.source["address"] == str(Path("posts.parquet").absolute())
    several = MonitorSettings.of(SMALL | {"source": {"kind": "replay", "posts": ["a", "b"]}}).with_absolute_paths()
    assert several.source["posts"] == [str(Path("a").absolute()), str(Path("b").absolute())]
    stream = MonitorSettings.of(SMALL | {"source": "jetstream:wss://host"}).with_absolute_paths()
    assert stream.source["address"] == "wss://host"


def test_a_secret_of_the_object_storage_must_come_from_the_environment() -> None:
    def storage(value: str) -> dict[str, object]:
        options = {"aws_secret_access_key": value, "aws_region": "eu-central-1"}
        return {"subject": "s", "keywords": ["k"], "source": "jetstream", "storage": {"options": options}}

    with pytest.raises(SettingError, match="aws_secret_access_key must not be in a file") as failure:
        MonitorSettings.of(storage("hush-hush"))
    assert "hush-hush" not in str(failure.value)
    settings = MonitorSettings.of(storage("env:MY_SECRET"))
    assert settings.storage.options["aws_secret_access_key"] == "env:MY_SECRET"


@pytest.mark.parametrize(
    ("name", "other"), [("window", "1d"), ("zone", "Europe/Berlin"), ("sample", 0.5), ("pseudonymise", True)]
)
def test_what_stored_posts_go_by_cannot_be_changed(make: Make, name: str, other: object) -> None:
    with make() as monitor:
        folder, before = monitor.folder, monitor.settings
    folder.settings.write_text(before.model_copy(update={name: other}).to_toml())
    with pytest.raises(SettingError, match=f"{name} was {getattr(before, name)!r} when .*given: {other!r}"):
        opened(folder.path.parent, folder.name).__enter__()
    folder.settings.write_text(before.model_copy(update={"novelty": 0.9}).to_toml())
    with opened(folder.path.parent, folder.name) as again:
        assert again.settings.lasting() == before.lasting()


KAFKA = {"subject": "x", "keywords": ["x"], "source": {"kind": "kafka", "options": {"sasl.password": "hunter2"}}}


def test_a_password_of_a_source_comes_from_the_environment_and_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingError, match=r'"sasl\.password" = "env:SASL_PASSWORD"') as refused:
        MonitorSettings.of(KAFKA)
    assert "hunter2" not in str(refused.value)
    wanted = MonitorSettings.of(
        KAFKA | {"source": {"kind": "kafka", "options": {"sasl.password": "env:SASL_PASSWORD"}}}
    )
    with pytest.raises(SettingError, match="no variable SASL_PASSWORD"):
        resolved(wanted.source_table())
    monkeypatch.setenv("SASL_PASSWORD", "hunter2")
    assert resolved(wanted.source_table())["options"] == {"sasl.password": "hunter2"}
    with pytest.raises(SettingError, match=r"kafka: options\.socket\.timeout\.ms cannot be used") as wrong:
        source_of(resolved(wanted.source_table()) | {"options": {"sasl.password": "hunter2", "socket.timeout.ms": 5}})
    assert "hunter2" not in str(wrong.value)
