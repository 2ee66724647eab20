from __future__ import annotations

from datetime import UTC, datetime

import pytest

from klda import extras
from klda.errors import MissingExtraError
from klda.text import segmentation
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.text.tokens import cut, tokens_of
from klda.types import Post

TIME = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_text_without_spaces_is_refused_without_the_extra(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda name: False)
    segmentation.segmenter.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'klda\[languages\]'"):
        Corpus.from_posts([Post("1", TIME, "日本")], ["日本"], settings=TextSettings(language=language))


def test_a_segmenter_cuts_runs_and_leaves_tags_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "segmenter", lambda _: list)
    tokens = segmentation.segmented(tokens_of(cut(["日本人 #日本 ok", "人"])), "zh")
    words = tokens.distinct.to_list()
    assert [[words[i] for i in row] for row in tokens.texts.lists()] == [["日", "本", "人", "#日本", "ok"], ["人"]]


def test_other_languages_are_not_segmented() -> None:
    tokens = tokens_of(cut(["日本人"]))
    assert segmentation.segmented(tokens, "en") is tokens


def test_chinese_is_segmented_with_the_extra() -> None:
    pytest.importorskip("jieba")
    segmentation.segmenter.cache_clear()
    assert segmentation.segmenter("zh")("我来到北京清华大学") == ["我", "来到", "北京", "清华大学"]


def test_japanese_is_segmented_with_the_extra() -> None:
    pytest.importorskip("fugashi")
    segmentation.segmenter.cache_clear()
    assert "日本" in segmentation.segmenter("ja")("私は日本に住んでいます")
