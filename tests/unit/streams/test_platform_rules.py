"""Keyword lists as platform rules: complete, within the limits, and never a gap between old and new."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.query import has_signs
from klda.streams.platform_rules import PLATFORMS, X2_CHARACTERS, platform_rules
from klda.types import Keyword, KeywordSet

words = st.text(st.characters(categories=("L", "N", "Po", "Sc"), exclude_characters='"\\'), min_size=1, max_size=12)
forms = st.lists(words, min_size=1, max_size=3).map(" ".join).filter(lambda form: not has_signs(form))
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
        ('"-health"', '"-health"'),
        ("or", '"or"'),
        ('"OR"', '"OR"'),
        ("coca-cola", '"coca-cola"'),
        ('"(a"', '"(a"'),
        ("#vaccine", "#vaccine"),
        ("@who", "@who"),
        ("café", "café"),
        ("🦠", '"🦠"'),
        ("is:retweet health", '("is:retweet" health)'),
    ],
)
def test_operators_of_x_v2_are_taken_as_words(form: str, clause: str) -> None:
    assert platform_rules(KeywordSet.of(form), "x-v2").requests[0]["add"][0]["value"] == clause


def test_what_x_v2_cannot_express_is_refused() -> None:
    with pytest.raises(SettingError, match="X v2"):
        platform_rules(KeywordSet.of("back\\slash"), "x-v2")


@pytest.mark.parametrize(
    ("keyword", "clause"),
    [
        ('"burn pits"', '"burn pits"'),
        ("apple AND (iphone OR ios)", "(apple (iphone OR ios))"),
        ("apple -pie", "(apple -pie)"),
        ('apple -(pie OR "apple juice")', '(apple -pie -"apple juice")'),
        ("long covid OR pasc", "((long covid) OR pasc)"),
        ("apple -(cider vinegar)", "apple"),
    ],
)
def test_queries_are_said_in_x_v2(keyword: str, clause: str) -> None:
    assert platform_rules(KeywordSet.of(keyword), "x-v2").requests[0]["add"][0]["value"] == clause


def test_x_v2_leaves_out_what_the_list_leaves_out_in_every_rule() -> None:
    keywords = KeywordSet.of(*(f"word{i:04d}" for i in range(400)), "-pie", '-"apple juice"', "-(war OR peace)")
    rules = [rule["value"] for rule in platform_rules(keywords, "x-v2").requests[0]["add"]]
    assert len(rules) > 1
    assert all(rule.endswith(') -"apple juice" -peace -pie -war') for rule in rules)
    assert all(rule.startswith("(word") for rule in rules)
    assert all(len(rule) <= X2_CHARACTERS for rule in rules)


def test_x_v2_says_what_it_leaves_to_the_filter_here() -> None:
    rules = platform_rules(KeywordSet.of("a", "b -(c d)", "-e f", "-(g AND h)", "-i"), "x-v2")
    assert rules.requests[0]["add"][0]["value"] == "(a OR b) -i"
    assert rules.notes == ("X v2 cannot say all of b -(c d), -e f, -(g AND h): filter again on arrival, as klda does.",)


def test_exclusions_that_find_no_room_in_a_rule_of_x_v2_are_filtered_here() -> None:
    keywords = KeywordSet.of("health", *(f"-{'x' * 98}{i:02d}" for i in range(10)))
    rules = platform_rules(keywords, "x-v2")
    assert rules.requests[0]["add"][0]["value"].count(" -") == 5
    assert "filter again on arrival" in rules.notes[0]


def test_an_exclusion_that_comes_changes_the_rules_of_x_v2_without_a_gap() -> None:
    old, new = KeywordSet.of("apple"), KeywordSet.of("apple", "-pie")
    rules = platform_rules(new, "x-v2", current=old)
    assert rules.add == ("-pie",)
    assert [request.keys() for request in rules.requests] == [{"add"}, {"delete"}]
    assert rules.requests[0]["add"][0]["value"] == "apple -pie"


def test_x_v1_asks_for_more_and_says_what_to_filter() -> None:
    rules = platform_rules(KeywordSet.of("apple AND (iphone OR ios) -pie", '"burn pits"', "-juice"), "x-v1")
    assert rules.requests[0]["track"] == ["apple iphone", "apple ios", "burn pits"]
    assert "any order" in rules.notes[0]
    assert "cannot leave out posts" in rules.notes[1]


def test_x_v1_asks_for_the_shortest_part_of_a_query_with_many_alternatives() -> None:
    many = " OR ".join(f"w{i}" for i in range(30))
    rules = platform_rules(KeywordSet.of(f"({many}) AND (apple OR pear)"), "x-v1")
    assert rules.requests[0]["track"] == ["apple", "pear"]


def test_mastodon_follows_the_hashtags_that_one_word_is_enough_for() -> None:
    rules = platform_rules(KeywordSet.of("#mask OR masks", "apple -pie", "a AND b", "-war"), "mastodon")
    assert rules.requests[0]["hashtags"] == ["mask", "masks", "apple"]
    assert rules.notes == ("Not to be followed as hashtags, only as filter terms: a AND b, -war.",)


@pytest.mark.parametrize(
    ("platform", "but_not"),
    [("brandwatch", "NOT"), ("meltwater", "NOT"), ("talkwalker", "AND NOT"), ("media-cloud", "NOT")],
)
def test_a_list_is_one_boolean_query(platform: str, but_not: str) -> None:
    keywords = KeywordSet.of("apple AND (iphone OR ios)", '"burn pits"', 'tax -(cut OR "tax day")', "-pie", "-war")
    (request,) = platform_rules(keywords, platform).requests  # type: ignore[arg-type]
    tax = f'(tax {but_not} (cut OR "tax day"))'
    assert request["query"] == f'((apple AND (iphone OR ios)) OR "burn pits" OR {tax}) {but_not} (pie OR war)'


def test_words_of_a_loose_phrase_are_joined_for_tools_that_read_them_otherwise() -> None:
    (request,) = platform_rules(KeywordSet.of("long covid", "#flu"), "media-cloud").requests
    assert request["query"] == "(long AND covid) OR #flu"


def test_a_tool_that_reads_signs_otherwise_is_named_in_a_note() -> None:
    rules = platform_rules(KeywordSet.of("c++", "#flu"), "media-cloud")
    assert [note.split(":")[0] for note in rules.notes] == [
        "Media Cloud may ignore the signs in c++",
        "Media Cloud searches news, without hashtags and mentions",
    ]


def test_a_long_list_is_several_lines_of_talkwalker_each_with_the_exclusions() -> None:
    keywords = KeywordSet.of(*(f"word{i:04d}" for i in range(1000)), "-pie")
    rules = platform_rules(keywords, "talkwalker")
    queries = [request["query"] for request in rules.requests]
    assert len(queries) == 3
    assert all(len(query) <= 4_096 and query.endswith(") AND NOT pie") for query in queries)
    found = [word for query in queries for word in re.findall(r"word[0-9]+", query)]
    assert sorted(found) == sorted(keywords.included.texts)
    with pytest.raises(SettingError, match="4,096 characters a line"):
        platform_rules(KeywordSet.of(" ".join(["word"] * 1000)), "talkwalker")


@given(keyword_sets, st.lists(words.filter(str.isalnum), max_size=8), st.booleans())
def test_no_rule_of_x_v2_is_too_long_with_exclusions(keywords: KeywordSet, left_out: list[str], adjacent: bool) -> None:
    whole = KeywordSet((*keywords, *KeywordSet.of(*(f"-{word}" for word in left_out))))
    (request,) = platform_rules(whole, "x-v2", adjacent=adjacent).requests
    assert all(len(rule["value"]) <= X2_CHARACTERS for rule in request["add"])


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
