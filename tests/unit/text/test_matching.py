from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from klda.errors import SettingError
from klda.query import All, Condition, Either, Query, SearchTerm, parse_query, written
from klda.text.documents import Ragged
from klda.text.matching import Matcher, narrowed
from klda.text.tokens import cut, normalise
from klda.text.vocabulary import Vocabulary
from klda.types import Keyword, KeywordSet

# ── a slow, obvious reference ────────────────────────────────────────────────────────────────────────────────────────


def is_letter(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character) in ("Mn", "Mc")


def is_spaceless(character: str) -> bool:
    name = unicodedata.name(character, "")
    return any(name.startswith(script) for script in ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"))


def is_boundary(text: str, i: int) -> bool:
    """Whether a word may begin or end between text[i - 1] and text[i]; white space stands around every text."""
    before, after = f" {text} "[i : i + 2]
    if "\u200d" in (before, after) or "\u200c" in (before, after):
        return False
    if unicodedata.category(after).startswith("M") or "🏻" <= after <= "🏿":
        return False
    return not (is_inside(before) and is_inside(after))


def is_flag(character: str) -> bool:
    return "🇦" <= character <= "🇿"


def is_inside(character: str) -> bool:
    return is_letter(character) and not is_spaceless(character)


def places(word: str, text: str) -> list[tuple[int, int]]:
    starts = [i for i in range(len(text)) if text.startswith(word, i)]
    if word[0] in "#@":  # "a#b" is no hashtag, "a@b" no mention
        starts = [i for i in starts if i == 0 or not is_inside(text[i - 1])]
    if is_flag(word[0]):  # two letters are a flag, counted from where their row begins
        starts = [i for i in starts if next((n for n in range(i) if not is_flag(text[i - n - 1])), i) % 2 == 0]
    return [(i, i + len(word)) for i in starts if is_boundary(text, i) and is_boundary(text, i + len(word))]


def in_a_row(words: list[str], text: str, end: int | None = None) -> bool:
    if not words:
        return True
    return any(
        (end is None or (start >= end and not any(c.isalnum() or c == "_" for c in text[end:start])))
        and in_a_row(words[1:], text, stop)
        for start, stop in places(words[0], text)
    )


def meets(condition: Condition, text: str, adjacent: bool) -> bool:
    if isinstance(condition, SearchTerm):
        words = normalise(" ".join(condition.words)).split()
        side_by_side = condition.in_order or adjacent
        return all(places(word, text) for word in words) and (not side_by_side or in_a_row(words, text))
    if isinstance(condition, Either):
        return any(meets(part, text, adjacent) for part in condition.parts)
    wanted = all(meets(part, text, adjacent) for part in condition.parts)
    return wanted and not any(meets(part, text, adjacent) for part in condition.without)


def reference(keywords: KeywordSet, text: str, adjacent: bool) -> list[int]:
    text = normalise(text)
    queries = [(column, parse_query(form)) for column, keyword in enumerate(keywords) for form in keyword.forms]
    met = [(column, query) for column, query in queries if meets(query.condition, text, adjacent)]
    return [] if any(query.excludes for _, query in met) else sorted({column for column, _ in met})


# ── random text and keywords that have a chance to meet ──────────────────────────────────────────────────────────────

ATOMS = [
    "a", "b", "ab", "ba", "aB", "A", "1", "_", "é", "e\u0301", "ß", "ss", "ﬁ", "fi", "İ", "σ", "ς", "한", "क", "ि",
    "日", "本", "日本", "カ", "ｶ", "ー", "ไ", "👍", "👍🏽", "🏽", "👨\u200d👩", "👨", "❤\ufe0f", "❤", "🇫🇷", "🇷🇸", "🇸🇪",
    "1\ufe0f\u20e3", "-", "'", "’", ".", "&", "&amp;", "&#10;", "#", "@", "/", "http://a.b/", "+", "\u200b", "\u200c",
    "\u00ad", "ʼ", "´",
]  # fmt: skip
GAPS = ["", "", "", " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "\u2028"]


@st.composite
def encounters(draw: st.DrawFn) -> tuple[KeywordSet, list[str]]:
    """Keywords and texts made of the same few atoms, so that they meet often; texts repeat the keywords' words."""
    atoms = st.sampled_from([*draw(st.lists(st.sampled_from(ATOMS), min_size=2, max_size=4)), "a", "#"])
    words = st.lists(atoms, min_size=1, max_size=3).map("".join)
    matchable = words.map(lambda word: word if "".join(normalise(word).split()).strip("#@") else f"{word}a")
    phrases = st.builds(SearchTerm, st.lists(matchable, min_size=1, max_size=3).map(tuple), st.booleans())
    few = st.lists(conditions(phrases), min_size=1, max_size=3)
    lists = draw(st.lists(few, min_size=1, max_size=4))
    excluding = draw(st.lists(st.integers(0, 3).map(lambda n: n == 0), min_size=len(lists), max_size=len(lists)))
    forms = [[str(Query(c, excludes)) for c in own] for own, excludes in zip(lists, excluding, strict=True)]
    used = [word for own in lists for condition in own for word in Query(condition).words]
    known = st.sampled_from(used)
    pieces = st.tuples(known | known | atoms, st.sampled_from(GAPS)).map("".join)
    texts = draw(st.lists(st.lists(pieces, max_size=6).map("".join) | st.text(max_size=10), min_size=1, max_size=6))
    return KeywordSet(tuple(Keyword(own[0], tuple(own)) for own in forms)), texts


def conditions(phrases: st.SearchStrategy[SearchTerm]) -> st.SearchStrategy[Condition]:
    """Phrases most of the time; else groups of them, and of groups."""

    def groups(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        several = st.lists(parts, min_size=2, max_size=3).map(tuple)
        left_out = st.lists(parts, max_size=2).map(tuple)
        return st.builds(All, several, left_out) | st.builds(Either, several)

    return phrases | phrases | st.recursive(phrases, groups, max_leaves=5)


@given(encounters(), st.booleans())
@settings(max_examples=250, deadline=None)
@example((KeywordSet.of("b a"), ["a a b", "b, a"]), True)
@example((KeywordSet.of("a b", "b a", "ab", "b"), ["ab a b", "a-b", "#a@b"]), False)
@example((KeywordSet.of("👨", "👩"), ["👨\u200d👩"]), False)
@example((KeywordSet.of("a -b", "b", "-a b c"), ["a", "a b", "b", "c b a"]), False)
@example((KeywordSet.of('"a b" OR (c -(a OR b))', "c"), ["b a", "a-b", "c", "c a", "c b"]), False)
def test_matching_equals_the_obvious_reference(encounter: tuple[KeywordSet, list[str]], adjacent: bool) -> None:
    keywords, texts = encounter
    found = Matcher(keywords, adjacent=adjacent).match_many(texts).lists()
    assert found == [reference(keywords, text, adjacent) for text in texts]


@given(encounters())
@settings(deadline=None)
def test_a_text_matches_alone_as_it_does_among_others(encounter: tuple[KeywordSet, list[str]]) -> None:
    keywords, texts = encounter
    matcher = Matcher(keywords)
    assert [matcher.match(text) for text in texts] == matcher.match_many(texts).lists()


# ── what people rely on ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("keyword", "text", "matches"),
    [
        ("drug", "Drug-free", True),
        ("drug", "drugs", False),
        ("drug", "#drug", True),
        ("drug", "@DRUG!", True),
        ("drug", "@drug_watch", False),
        ("drug", "see https://a.com/drug?page=2", True),
        ("drug", "https://drugstore.com", False),
        ("#drug", "drug", False),
        ("#drug", "a #Drug.", True),
        ("#drug", "a#drug", False),
        ("@who", "mail me@who.int", False),
        ("@who", "thanks, @WHO", True),
        ("@who", "@whoever", False),
        ("don't", "I DON’T", True),
        ("u.s.", "the U.S. border", True),
        ("c++", "learn C++ now", True),
        ("computer virus", "a virus ate my computer", True),
        ("computer virus", "a computer", False),
        ("covid 19", "COVID-19", True),
        ("at&t", "AT&amp;T", True),
        ("日本", "私は日本人です", True),
        ("ai", "生成AIを使う", True),
        ("カメラ", "ｶﾒﾗ", True),
        ("👍", "good 👍", True),
        ("👨", "👨\u200d👩\u200d👧", False),
        ("strasse", "Straße", True),
        ("🇸🇪", "🇺🇸🇪🇸", False),
        ("🇪🇸", "🇺🇸🇪🇸", True),
        ("don't", "don´t", True),
        ("tiktok", "TikTok™!", True),
        ("istanbul", "İSTANBUL", True),
        ("école", "e\u00ad\u0301cole", True),
    ],
)
def test_a_keyword_matches_as_a_streaming_filter_does(keyword: str, text: str, matches: bool) -> None:
    assert Matcher(KeywordSet.of(keyword)).match(text) == ([0] if matches else [])


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("my computer virus", True),
        ("computer-virus", True),
        ("#computer #virus", True),
        ("virus, computer", False),
        ("computer has virus", False),
    ],
)
def test_an_adjacent_phrase_stands_side_by_side(text: str, matches: bool) -> None:
    assert Matcher(KeywordSet.of("computer virus"), adjacent=True).match(text) == ([0] if matches else [])


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("my computer virus", True),
        ("#computer-#virus", True),
        ("virus, computer", False),
        ("computer has virus", False),
    ],
)
def test_a_phrase_in_quotes_stands_side_by_side(text: str, matches: bool) -> None:
    assert Matcher(KeywordSet.of('"computer virus"')).match(text) == ([0] if matches else [])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Apple iPhone", [0]),
        ("apple, iOS", [0, 2]),
        ("an apple", []),
        ("apple ios jailbreak", [0]),
        ("ios", [2]),
        ("burn the pits", [1]),
        ("ios burn pits apple PIE", [0, 1, 2]),
        ("apple ios, apple-pie recipe", []),
    ],
)
def test_a_list_of_queries_matches_as_people_read_it(text: str, columns: list[int]) -> None:
    keywords = KeywordSet.of("apple AND (iphone OR ios)", "burn pits", "ios -jailbreak", "-pie recipe")
    assert Matcher(keywords).match(text) == columns


def test_a_list_of_exclusions_alone_matches_nothing() -> None:
    assert Matcher(KeywordSet.of("-pie")).match_many(["pie", "apple"]).lists() == [[], []]


def test_operators_join_any_order_even_where_phrases_stand_side_by_side() -> None:
    matcher = Matcher(KeywordSet.of("computer AND virus", "computer virus"), adjacent=True)
    assert matcher.match("a virus in my computer") == [0]


def test_a_model_hides_the_words_that_a_query_asks_for() -> None:
    words = Vocabulary.of({word: {word: 5} for word in ("apple", "ios", "pie", "cake")})
    matcher = Matcher(KeywordSet.of("apple AND (ios OR #mac) -pie", "-cake"))
    assert matcher.words_of(words).lists() == [[1, 2], []]


@given(encounters())
@settings(max_examples=50, deadline=None)
def test_narrowing_a_keyword_tells_what_a_second_word_and_an_exclusion_leave(
    encounter: tuple[KeywordSet, list[str]],
) -> None:
    keywords, texts = encounter
    keyword, *others = [written(query.condition) for k in keywords for query in k.queries]
    words = KeywordSet.of(*others) - KeywordSet.of(keyword)
    rows, with_word = narrowed(Keyword(keyword), words, cut(texts))
    for word, own in zip(words, with_word.lists(), strict=True):
        second, without = Keyword(f"({keyword}) AND ({word})"), Keyword(f"({keyword}) -({word})")
        found = Matcher(KeywordSet((second, without))).match_many(texts)
        assert own == found.rows[found.values == 0].tolist()
        assert sorted(set(rows.tolist()) - set(own)) == found.rows[found.values == 1].tolist()


def test_any_form_of_a_keyword_will_do() -> None:
    matcher = Matcher(KeywordSet.of("x", Keyword("veteran", ("veteran", "veterans"))))
    assert matcher.match_many(["Veterans", "a veteran", "veteranship"]).lists() == [[1], [1], []]


def test_two_spellings_of_one_word_are_two_columns() -> None:
    spellings = KeywordSet(tuple(map(Keyword, ("Mask", "mask", "MASK"))))  # as typed on a list they would be one
    assert Matcher(spellings).match("mask") == [0, 1, 2]


def test_nothing_is_found_with_no_keywords_or_no_texts() -> None:
    assert Matcher(KeywordSet()).match_many(["a", "b"]).lists() == [[], []]
    assert Matcher(KeywordSet.of("a")).match_many([]).lists() == []


@pytest.mark.parametrize("keyword", ["#", "@@", "\ufe0f"])
def test_a_keyword_with_nothing_to_match_is_refused(keyword: str) -> None:
    with pytest.raises(SettingError, match="nothing to match"):
        Matcher(KeywordSet.of(keyword))


def test_texts_beyond_one_chunk_keep_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("klda.text.matching.CHUNK", 3)
    texts = ["a", "b", "a b", "c", "b", "", "a"]
    assert Matcher(KeywordSet.of("a", "b")).match_many(texts).lists() == [[0], [1], [0, 1], [], [1], [], [0]]


VOCABULARY = Vocabulary.of(
    {
        "veteran": {"veterans": 5, "veteran": 4},
        "#veteran": {"#veteran": 2},
        "@veteran": {"@veteran": 2},
        "veteran-own": {"veteran-owned": 2},
        "virus": {"virus": 1},
    }
)


@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        ("veteran", ["veteran", "#veteran", "@veteran", "veteran-own"]),
        ("veterans", ["veteran"]),
        ("#veteran", ["#veteran"]),
        ("virus veterans", ["veteran", "virus"]),
        ("absent", []),
    ],
)
def test_a_keyword_covers_the_words_it_is_matched_by(keyword: str, words: list[str]) -> None:
    covered = Matcher(KeywordSet.of(keyword)).words_of(VOCABULARY)
    assert isinstance(covered, Ragged)
    assert [VOCABULARY.words[i] for i in covered[0]] == words
    assert np.all(np.diff(covered[0]) > 0)


def test_a_form_without_its_comma_is_refused():
    with pytest.raises(SettingError, match="is one text; give a tuple"):
        Keyword("vaccine", ("vaccines"))
    with pytest.raises(SettingError, match="a keyword is a text"):
        KeywordSet.of(["mask"])
