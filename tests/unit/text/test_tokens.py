from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from klda.text.tokens import cut, is_word, normalise, tokenise, tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It’s “fine”", ["it's", "fine"]),
        ("rock-and-roll, don't!", ["rock-and-roll", "don't"]),
        ("war—peace – talks", ["war", "peace", "talks"]),
        ("COVID-19 #COVID-19", ["covid-19", "#covid", "19"]),
        ("👍🏽👩\u200d🚀🇫🇷🇺🇸", ["👍🏽", "👩\u200d🚀", "🇫🇷", "🇺🇸"]),
        ("❤\ufe0f ❤", ["❤", "❤"]),
        ("press 1\ufe0f\u20e3 now", ["press", "1\u20e3", "now"]),
        ("🏴󠁧󠁢󠁥󠁮󠁧󠁿 wins", ["🏴󠁧󠁢󠁥󠁮󠁧󠁿", "wins"]),
        ("see https://a.com/B?x=1&y=(2), ok", ["see", "https://a.com/b?x=1&y=(2),", "ok"]),
        ("nyti.ms/2x www.house.gov a.b@c.org", ["nyti.ms/2x", "www.house.gov", "a.b@c.org"]),
        (".@Name: @a.bsky.social @b@mas.to", ["@name", "@a.bsky.social", "@b@mas.to"]),
        ("the U.S. and U.K.", ["the", "u.s.", "and", "u.k."]),
        ("end.Start", ["end", "start"]),
        ("R&amp;D &lt;b&gt;", ["r", "d", "b"]),
        ("हिन्दी 한국어 ＦＵＬＬ", ["हिन्दी", "한국어", "full"]),
        ("Don´t use TikTok™s", ["don't", "use", "tiktok", "s"]),
        ("... !!! ©", []),
        ("", []),
    ],
)
def test_a_text_is_cut_into_words_tags_emoji_and_addresses(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == tokens


@given(st.text())
def test_tokens_stay_as_they_are_when_normalised_again(text: str) -> None:
    for token in tokenise(text):
        assert "&" in token or normalise(token) == token


@given(st.text())
def test_upper_case_and_compatible_forms_make_no_difference(text: str) -> None:
    assert normalise(normalise(text).replace("&", "")) == normalise(text).replace("&", "")


@given(st.lists(st.text(alphabet="aB1 \n\t#@-'.’é👍🏽\u200d\ufe0fー日&;", max_size=25), max_size=6))
def test_many_texts_are_cut_as_each_alone(texts: list[str]) -> None:
    tokens = tokens_of(cut(texts))
    distinct = tokens.distinct.to_list()
    assert [[distinct[i] for i in row] for row in tokens.texts.lists()] == [tokenise(text) for text in texts]


def test_addresses_numbers_and_single_letters_are_no_words() -> None:
    tokens = ["x", "é", "2020", "1st", "#1", "@", "_", "http://a.b", "www.a.b", "👍", "1\u20e3", "日", "u.s.", "@who"]
    kept = is_word(pl.Series(tokens))
    assert pl.Series(tokens).filter(kept).to_list() == ["1st", "👍", "1\u20e3", "日", "u.s.", "@who"]
