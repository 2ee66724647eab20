"""Replays ask policies as people ask them."""

from __future__ import annotations

import pytest

from klda.evaluation.asking import policy_of
from klda.evaluation.subjects import Subject
from klda.policies.recommend import MIN_COUNT
from klda.posts.schema import PostTable
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.types import KeywordSet

VOTING = Subject("voting_by_mail", KeywordSet.of("ballot"))


def test_a_policy_is_told_the_subject_the_first_keywords_and_the_share_that_is_known():
    asked = policy_of("klda", VOTING, sample_share=0.01)
    assert (asked.subject, asked.founding, asked.sample_share) == ("voting by mail", VOTING.keywords, 0.01)
    said = Subject("voting_by_mail", VOTING.keywords, subject="absentee voting")
    assert policy_of("klda", said).subject == "absentee voting"


def test_a_policy_that_has_no_use_for_them_is_told_nothing():
    assert policy_of("counting", VOTING, sample_share=0.01, top=3).top == 3
    assert policy_of("static", VOTING, top=3).name == "static"


def test_a_variant_goes_before_what_is_usual():
    assert policy_of("klda~deep", VOTING, {"top": 7}, top=3).top == 7


@pytest.mark.parametrize("kept", [slice(None), slice(None, None, 3)], ids=["all", "a third"])
def test_an_archive_is_read_as_the_command_reads_its_posts(archive, health, kept):
    positions = archive.positions(0)[kept]
    seen = archive.read(positions, [health.keywords])
    rows = sorted(archive.documents.post[positions].tolist())
    plain = PostTable.of([archive.corpus.posts[row] for row in rows])
    same = Corpus.from_posts(plain, health.keywords, settings=TextSettings(min_count=MIN_COUNT))
    assert seen.vocabulary == same.vocabulary
    assert seen.documents.words.tolist() == same.documents.words.tolist()
    assert seen.apart.words.tolist() == same.apart.words.tolist()
    assert (seen.windows, seen.history, seen.candidates) == (same.windows, same.history, same.candidates)
