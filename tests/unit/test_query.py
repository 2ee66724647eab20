"""The small language of keywords: what people type is understood, and what is wrong is pointed at."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.errors import QueryError, SettingError
from klda.query import All, Condition, Either, Query, SearchTerm, parse_query, split_list
from klda.types import Keyword, KeywordSet, as_keywords

WORDS = [
    "apple",
    "pie",
    "AND",
    "OR",
    "NOT",
    "and",
    "-",
    "-5",
    "(",
    ")",
    "a(b",
    "1,000",
    "c++",
    "#tag",
    "@who",
    "日本",
    "don't",
]

phrases = st.builds(SearchTerm, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(tuple), st.booleans())


def groups(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.builds(All, several, st.lists(parts, max_size=2).map(tuple)) | st.builds(Either, several)


queries = st.builds(Query, st.recursive(phrases, groups, max_leaves=6), st.booleans())


@given(queries)
def test_what_is_written_is_read_back(query: Query) -> None:
    text = str(query)
    read = parse_query(text)
    assert read.excludes == query.excludes
    assert read.words == query.words
    assert str(parse_query(str(read))) == str(read)


@given(st.lists(queries, min_size=1, max_size=4))
def test_a_list_with_commas_falls_apart_into_its_queries(several: list[Query]) -> None:
    texts = [str(query) for query in several]
    assert split_list(", ".join(texts)) == texts


@given(st.text(st.sampled_from('ab -()"“”–,ANDORT'), max_size=20))
def test_any_text_is_understood_or_refused_with_a_place(text: str) -> None:
    try:
        parse_query(text)
    except QueryError as error:
        place, shown = error.position, str(error)
    else:
        return
    assert 0 <= place <= len(text)
    assert shown.endswith("^")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("burn  pits", "burn  pits"),
        ("“burn pits”", '"burn pits"'),
        ('"health"', "health"),
        ("apple NOT pie", "apple -pie"),
        ("apple AND NOT pie", "apple -pie"),
        ("NOT pie", "-pie"),
        ("–pie", "-pie"),
        ("a OR b AND c", "a OR (b AND c)"),
        ("a (b OR c)", "a AND (b OR c)"),
        ("covid-19", "covid-19"),
        ("health and care", "health and care"),
        ('"-5"', '"-5"'),
        ('":)"', '":)"'),
    ],
)
def test_a_keyword_has_one_spelling(typed: str, read: str) -> None:
    assert Keyword(typed).text == read
    assert Keyword(typed).forms == (read,)


@pytest.mark.parametrize(
    ("typed", "why", "place"),
    [
        ("apple AND (iphone OR ios", "not closed", 10),
        ("apple)", "never opened", 5),
        ('apple "pie', "quotation mark is not closed", 6),
        ('apple ""', "nothing stands between", 6),
        ("apple ()", "nothing stands in the parentheses", 7),
        ("AND apple", "AND stands between", 0),
        ("apple AND", "AND stands between", 6),
        ("apple OR", "a word is missing", 8),
        ("OR apple", "OR stands between", 0),
        ("apple OR -pie", "only words to leave out", 9),
        ("apple - pie", "minus sign stands alone", 6),
        ("apple NOT", "word to leave out is missing", 6),
        ("-apple -pie", "no second one", 7),
    ],
)
def test_an_error_points_at_the_character(typed: str, why: str, place: int) -> None:
    with pytest.raises(QueryError, match=why) as caught:
        Keyword(typed)
    shown, caret = str(caught.value).splitlines()[1:]
    assert shown == f"  {typed}"
    assert caret.index("^") == 2 + place
    assert isinstance(caught.value, SettingError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # processes pass errors on so


def test_the_caret_stands_under_wide_characters_and_long_texts_are_cut() -> None:
    with pytest.raises(QueryError) as caught:
        parse_query("日本 (")
    assert str(caught.value).splitlines()[2] == "  " + " " * 6 + "^"
    with pytest.raises(QueryError) as caught:
        parse_query("a" * 500 + " )")
    assert max(map(len, str(caught.value).splitlines())) < 90


def test_commas_in_quotes_and_parentheses_separate_nothing() -> None:
    assert as_keywords('health, "a, b", (c OR d,e) AND f').texts == ("health", '"a, b"', '(c OR "d,e") AND f')


def test_a_list_knows_its_exclusions() -> None:
    keywords = KeywordSet.of("apple", "-pie", "apple -cake")
    assert keywords.included.texts == ("apple", "apple -cake")
    assert keywords.exclusions.texts == ("-pie",)
    assert keywords.n_terms == 2


def test_an_operator_and_a_word_are_not_the_same_keyword() -> None:
    assert KeywordSet.of("black AND white", "black and white").texts == ("black AND white", "black and white")
