"""Keyword lists as platform rules: complete, within the limits, and never a gap between old and new."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.streams.platform_rules import PLATFORMS, X2_CHARACTERS, platform_rules
from klda.types import Keyword, KeywordSet

words = st.text(st.characters(categories=("L", "N", "Po", "Sc"), exclude_characters='"\\'), min_size=1, max_size=12)
forms = st.lists(words, min_size=1, max_size=3).map(" ".join)
keyword_sets = st.lists(
    st.builds(lambda fs: Keyword(fs[0], tuple(fs)), st.lists(forms, min_size=1, max_size=4)), min_size=1, max_size=80
).map(lambda ks: KeywordSet(tuple(ks)))


def distinct_forms(keywords: KeywordSet) -> set[str]:
    return {form.casefold() for keyword in keywords for form in keyword.forms}


def terms_in(value: str) -> list[str]:
    """A slow reading of X v2's language, as far as our rules use it."""
    tokens = re.findall(r'"[^"]*"|[()]|[^\s()"]+', value)
    terms: list[str] = []
    group: list[str] | None = None
    for token in tokens:
        if token == "(":
            group = []
        elif token == ")":
            assert group is not None
            terms.append(" ".join(group))
            group = None
        elif token == "OR":
            assert group is None
        elif group is None:
            terms.append(token.strip('"'))
        else:
            group.append(token.strip('"'))
    return terms


@given(keyword_sets, st.booleans())
def test_every_form_is_in_exactly_one_x_v2_rule_and_no_rule_is_too_long(keywords: KeywordSet, adjacent: bool) -> None:
    (request,) = platform_rules(keywords, "x-v2", adjacent=adjacent).requests
    found = [term.casefold() for rule in request["add"] for term in terms_in(rule["value"])]
    assert sorted(found) == sorted(distinct_forms(keywords))
    assert all(len(rule["value"]) <= X2_CHARACTERS for rule in request["add"])


@given(st.lists(forms.map(str.casefold), min_size=1, max_size=80, unique=True), st.randoms(use_true_random=False))
def test_x_v2_rules_do_not_depend_on_the_order_of_the_list(texts: list[str], random: Random) -> None:
    shuffled = random.sample(texts, len(texts))
    rules = [platform_rules(KeywordSet.of(*order), "x-v2").requests for order in (texts, shuffled)]
    assert rules[0] == rules[1]


@given(keyword_sets, keyword_sets)
def test_applying_the_x_v2_requests_leaves_exactly_the_rules_of_the_new_list(old: KeywordSet, new: KeywordSet) -> None:
    running = {rule["value"] for rule in platform_rules(old, "x-v2").requests[0]["add"]}
    for request in platform_rules(new, "x-v2", current=old).requests:
        running |= {rule["value"] for rule in request.get("add", [])}
        gone = set(request.get("delete", {}).get("values", []))
        assert gone <= running
        running -= gone
        covered = {term.casefold() for value in running for term in terms_in(value)}
        assert distinct_forms(new) <= covered  # from the first request on, nothing wanted is missed
    assert running == {rule["value"] for rule in platform_rules(new, "x-v2").requests[0]["add"]}


@given(keyword_sets, keyword_sets, st.sampled_from(["x-v2", "bluesky", "mastodon"]))
def test_the_difference_turns_the_old_terms_into_the_new(old: KeywordSet, new: KeywordSet, platform: str) -> None:
    rules = platform_rules(new, platform, current=old)  # type: ignore[arg-type]
    after = ({t.casefold() for t in distinct_forms(old)} - {t.casefold() for t in rules.remove}) | {
        t.casefold() for t in rules.add
    }
    assert after == distinct_forms(new)


def test_a_list_fills_its_rules() -> None:
    keywords = KeywordSet.of(*(f"word{i:04d}" for i in range(400)))
    rules = platform_rules(keywords, "x-v2").requests[0]["add"]
    assert len(rules) == 5  # 85 terms of 8 characters and their ORs fit into 1,024 characters
    assert all(rule["tag"].startswith("klda: word") for rule in rules)


def test_phrases_follow_the_matching_semantics() -> None:
    phrase = KeywordSet.of("computer virus")
    assert platform_rules(phrase, "x-v2").requests[0]["add"][0]["value"] == "(computer virus)"
    assert platform_rules(phrase, "x-v2", adjacent=True).requests[0]["add"][0]["value"] == '"computer virus"'


@pytest.mark.parametrize(
    ("form", "clause"),
    [
        ("from:someone", '"from:someone"'),
        ("-health", '"-health"'),
        ("or", '"or"'),
        ("OR", '"OR"'),
        ("coca-cola", '"coca-cola"'),
        ("(a", '"(a"'),
        ("#vaccine", "#vaccine"),
        ("@who", "@who"),
        ("café", "café"),
        ("🦠", '"🦠"'),
        ("is:retweet health", '("is:retweet" health)'),
    ],
)
def test_operators_of_x_v2_are_taken_as_words(form: str, clause: str) -> None:
    assert platform_rules(KeywordSet.of(form), "x-v2").requests[0]["add"][0]["value"] == clause


@pytest.mark.parametrize("form", ['say "hello"', "back\\slash"])
def test_what_x_v2_cannot_express_is_refused(form: str) -> None:
    with pytest.raises(SettingError, match="X v2"):
        platform_rules(KeywordSet.of(form), "x-v2")


def test_x_v1_counts_every_form() -> None:
    keywords = KeywordSet(tuple(Keyword(f"w{i}", (f"w{i}", f"w{i}s")) for i in range(206)))
    with pytest.raises(SettingError, match=r"at most 400 terms and this list has 412 .* take out 12"):
        platform_rules(keywords, "x-v1")
    assert len(platform_rules(keywords[:200], "x-v1").requests[0]["track"]) == 400


def test_x_v1_counts_bytes_not_characters() -> None:
    platform_rules(KeywordSet.of("a" * 60), "x-v1")
    with pytest.raises(SettingError, match=r"60 bytes a term and this one has 62: shorten it by 2"):
        platform_rules(KeywordSet.of("é" * 31), "x-v1")


def test_x_v1_refuses_a_comma() -> None:
    with pytest.raises(SettingError, match="commas"):
        platform_rules(KeywordSet.of("1,000"), "x-v1")


def test_x_v2_says_which_limit_and_by_how_much() -> None:
    with pytest.raises(SettingError, match=r"1024 characters a rule .* 1030: shorten it by 6"):
        platform_rules(KeywordSet.of("a" * 1030), "x-v2")
    old = KeywordSet.of(*(f"{i:04d}" + "a" * 1000 for i in range(600)))
    new = KeywordSet.of(*(f"{i:04d}" + "b" * 1000 for i in range(600)))
    with pytest.raises(SettingError, match=r"needs 1200 while 600 old ones still run: 200 too many"):
        platform_rules(new, "x-v2", current=old)


def test_nothing_changes_when_the_list_stays() -> None:
    same = KeywordSet.of("health", "drug")
    rules = platform_rules(same, "x-v2", current=same)
    assert (rules.requests, rules.add, rules.remove) == ((), (), ())


def test_bluesky_filters_on_our_side() -> None:
    rules = platform_rules(KeywordSet.of("health", "long covid"), "bluesky")
    assert rules.requests[0]["wantedCollections"] == ["app.bsky.feed.post"]
    assert rules.requests[0]["terms"] == ["health", "long covid"]


def test_mastodon_follows_single_words_and_says_what_it_cannot_follow() -> None:
    keywords = KeywordSet.of("Health", "#vaccine", "long covid", "veteran's", "2020")
    rules = platform_rules(keywords, "mastodon", current=KeywordSet.of("health", "flu"))
    (settings,) = rules.requests
    assert settings["hashtags"] == ["health", "vaccine"]
    assert (settings["follow"], settings["unfollow"]) == (["vaccine"], ["flu"])
    assert rules.notes == ("Not to be followed as hashtags, only as filter terms: long covid, veteran's, 2020.",)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_rules_are_json(platform: str) -> None:
    rules = platform_rules(KeywordSet.of("health", "long covid"), platform)  # type: ignore[arg-type]
    assert json.loads(rules.to_json())["terms"] == ["health", "long covid"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_an_empty_list_is_refused(platform: str) -> None:
    with pytest.raises(SettingError, match="empty"):
        platform_rules(KeywordSet(), platform)  # type: ignore[arg-type]


def test_an_unknown_platform_is_refused() -> None:
    with pytest.raises(SettingError, match="x-v1, x-v2, bluesky, mastodon"):
        platform_rules(KeywordSet.of("a"), "myspace")  # type: ignore[arg-type]


def test_control_characters_are_refused() -> None:
    with pytest.raises(SettingError, match=r"U\+0007"):
        platform_rules(KeywordSet.of("he\x07llo"), "bluesky")
