from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from klda import KLDA, Corpus, read_posts, recommend
from klda.errors import DataError, InputError, SettingError
from klda.policies.recommend import MIN_COUNT
from klda.policies.registry import policy
from klda.simulation import World
from klda.text.text_settings import TextSettings
from klda.types import Budget, KeywordSet, Post

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def posts(n: int = 60, days: float = 20, text: str = "the mask and the vaccine, day {i}", start: datetime = MONDAY):
    return [Post(str(i), start + timedelta(days=days * i / n), text.format(i=i)) for i in range(n)]


def test_from_posts_to_advice_in_one_call():
    world = World(weeks=4, posts_per_week=800)
    advice = recommend(world, world.best_keywords("health", 0, 3), policy="counting", budget=5, seed=7)
    assert advice.policy == "counting"
    assert advice.seed == 7
    assert 0 < len(advice.next_keywords) <= 5
    assert advice.window == (world.start + timedelta(weeks=4)).isoformat()


def test_a_corpus_and_its_posts_give_the_same_advice(corpus, current):
    rows = [corpus.posts[row] for row in range(len(corpus.posts))]
    same = Corpus.from_posts(rows, current, settings=TextSettings(min_count=MIN_COUNT))
    assert recommend(rows, current) == recommend(same, current)


def test_given_candidates_are_the_only_ones(corpus, current):
    advice = recommend(corpus, current, policy="frequent", candidates=["hospital", "ward"])
    assert set(advice.ranked.texts) == {*current.texts, "hospital", "ward"}


def test_a_keyword_typed_twice_in_other_case_takes_one_place_of_the_list():
    typed = ["Mask", "MASK", "mask"]
    assert recommend(posts(), typed, policy="static").next_keywords.texts == ("Mask",)
    required = Budget(required=KeywordSet.of("MASK"))
    assert recommend(posts(), typed, policy="static", budget=required).next_keywords.texts == ("Mask",)
    advice = recommend(posts(), typed, policy="frequent", candidates=["mask", "Vaccine"])
    assert set(advice.ranked.texts) == {"Mask", "Vaccine"}


def test_a_keyword_whose_accent_is_written_in_two_ways_is_one():
    whole, in_two = "café", "Cafe\u0301"
    advice = recommend(posts(text="the café in town, day {i}"), [in_two, whole], policy="frequent", candidates=[whole])
    assert advice.ranked.texts == (in_two,)
    assert KeywordSet.of(whole).spell(KeywordSet.of(in_two)).texts == (whole,)


def test_a_text_alone_is_a_list_with_commas(corpus, current):
    alone, listed = (
        recommend(corpus, words, policy="counting") for words in ("health, cancers", ["health", "cancers"])
    )
    assert alone.current == listed.current
    advice = recommend(corpus, current, policy="counting", candidates="ward")
    assert advice.next_keywords
    assert len(Corpus.from_posts(posts(), "mask,masks").candidates) == 2
    assert corpus.with_candidates(["hospital", "ward"]).candidates == KeywordSet.of("hospital", "ward")


def test_a_notebook_shows_a_line_not_every_array(corpus, current):
    advice = recommend(corpus, current, policy="counting", budget=3)
    assert repr(advice).startswith("<Proposal of counting: keep ")
    assert all(keyword in repr(advice) for keyword in advice.next_keywords.texts)
    assert f"<Corpus of {len(corpus):,} documents" in repr(corpus)
    assert repr(corpus.posts) == f"<PostTable of {len(corpus.posts):,} posts>"
    assert max(map(len, map(repr, (advice, corpus)))) < 300


def test_a_file_and_a_frame_are_read_as_read_posts_reads_them(tmp_path):
    days = [f"{day:02}/01/2026 10:{minute:02}" for day in range(1, 12) for minute in range(9)]
    texts = [f"mask number {i} is full of news" for i in range(len(days))]
    frame = pl.DataFrame({"id": range(len(days)), "created_at": days, "text": texts})
    path = tmp_path / "posts.csv"
    frame.write_csv(path)
    for posts in (path, str(path), frame):
        with pytest.raises(InputError, match="--date-format"):
            recommend(posts, ["mask"], policy="static", timezone="UTC")
        advice = recommend(posts, ["mask"], policy="static", timezone="UTC", date_format="%d/%m/%Y %H:%M")
        assert advice.next_keywords.texts == ("mask",)
    with pytest.raises(SettingError, match="have been read"):
        recommend(read_posts(path, timezone="UTC"), ["mask"], policy="static", date_format="%d/%m/%Y")


def test_what_is_no_post_is_refused_with_the_way_to_read_one(tmp_path):
    for path in ("posts.csv", tmp_path / "posts.csv"):
        with pytest.raises(InputError, match="there is no such file or folder"):
            recommend(path, ["mask"], policy="counting")
        with pytest.raises(InputError, match=r"read it first: klda\.read_posts"):
            Corpus.from_posts(path, ["mask"])
    with pytest.raises(InputError, match=r"the posts are str, not klda\.Post"):
        Corpus.from_posts(["my mask", "your mask"], ["mask"])


@pytest.mark.parametrize("wrong", [{"novelty": 7}, {"top": 0}])
def test_a_setting_outside_its_range_is_named(corpus, current, wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        recommend(corpus, current, policy="counting", **wrong)


def test_a_policy_can_be_given_ready_made_and_settings_reach_a_named_one(corpus, current):
    ready = policy("klda", novelty=0.0, top=1)
    by_name = recommend(corpus, current, novelty=0.0, top=1)
    assert recommend(corpus, current, policy=ready) == by_name
    assert all(len(words) <= 1 for words in by_name.per_keyword.values())
    with pytest.raises(SettingError, match="half_life"):
        recommend(corpus, current, policy="counting", half_lives=3)


def test_a_keyword_that_goes_because_it_is_forbidden_is_said_to(corpus, current):
    gone = current[0].text
    advice = recommend(corpus, current, budget=Budget(forbidden=frozenset({gone})))
    assert advice.reason(gone).code == "forbidden"
    assert advice.reason(gone).text.startswith("Not allowed by your settings.")


def test_max_posts_tightens_any_budget(corpus, current):
    budget = Budget(max_keywords=4, required=KeywordSet((current[0],)))
    advice = recommend(corpus, current, policy="frequent", budget=budget, max_posts=80)
    assert current[0] in advice.next_keywords
    assert advice.expected_posts.mean <= 80.05


def test_a_keyword_that_goes_for_want_of_room_is_said_to(corpus, current):
    as_it_is = recommend(corpus, current, budget=len(current))
    tight = recommend(corpus, current, max_posts=0.5 * as_it_is.posts_now.mean)
    gone = [reason for reason in tight.reasons if reason.action == "drop"]
    assert gone
    assert {reason.code for reason in gone} <= {"dropped_room", "off"}
    assert all("allowed" in reason.text for reason in gone if reason.code == "dropped_room")


def test_no_room_is_no_reason_for_what_is_forbidden(corpus, current):
    budget = Budget(max_keywords=len(current) - 1, forbidden=frozenset({current[0].text}))
    advice = recommend(corpus, current, policy="counting", budget=budget)
    assert not any("budget" in note for note in advice.notes)
    assert not any("no room" in reason.text for reason in advice.reasons if reason.keyword == current[0])


def test_a_trained_model_spares_the_training(history, current):
    from klda import KLDA

    model = KLDA(pretraining_iterations=3, max_iterations=0).fit(history)
    stages: set[str] = set()
    advice = recommend(history, current, model=model, progress=lambda stage, *_, **__: stages.add(stage))
    assert set(current.texts) <= set(advice.ranked.texts)
    assert "pretraining" not in stages
    unknown_to_it = recommend(history, current | KeywordSet.of("people"), model=model)
    assert "people" in unknown_to_it.current


def test_a_model_of_other_posts_is_an_error(history, current):
    from klda import KLDA

    other = World(weeks=2, posts_per_week=300, seed=3)
    model = KLDA(pretraining_iterations=1, max_iterations=0).fit(Corpus.from_posts(other, current))
    with pytest.raises(DataError, match="another vocabulary"):
        recommend(history, current, model=model)


@pytest.mark.parametrize(
    ("given", "keywords", "message"),
    [
        ([], ["mask"], "no posts"),
        (posts(), ["tariff"], "no post carries any of the keywords tariff"),
        (posts(text="a mask"), ["mask"], "the same text"),
        (posts(start=datetime(2999, 1, 7, tzinfo=UTC)), ["mask"], "in the future"),
        ([*posts(), Post("2999", datetime(2999, 1, 7, tzinfo=UTC), "nothing to see")], ["mask"], "2999 is dated 2999"),
    ],
)
def test_bad_input_is_a_clear_error(given, keywords, message):
    with pytest.raises(DataError, match=message):
        recommend(given, keywords, policy="counting")


def test_windows_after_the_last_post_of_the_list_are_left_out_with_a_note():
    late = Post("late", MONDAY + timedelta(days=30), "nothing to see")
    advice = recommend([*posts(), late], ["mask"])
    assert advice.next_keywords.texts[0] == "mask"
    assert any("no post with a keyword" in note for note in advice.notes)


@pytest.mark.parametrize("given", [posts(days=3), posts(days=1), posts()[:1], posts()[:10]])
def test_few_posts_get_advice_with_a_note(given):
    advice = recommend(given, ["mask"])
    assert "mask" in advice.next_keywords
    assert any("Treat this advice as a first guess" in note or "what is rising" in note for note in advice.notes)


def test_a_common_word_as_keyword_is_said_to_be_one():
    advice = recommend(posts(text="the {i} of and"), ["the"])
    assert any("any subject: the." in note for note in advice.notes)
    assert not advice.add


@pytest.mark.parametrize("language", ["xx", "de", "ja"])
def test_a_language_without_vectors_gets_advice(language):
    advice = recommend(posts(), ["mask"], language=language, use_vectors=False)
    assert "mask" in advice.next_keywords


def test_a_misspelt_keyword_is_told_what_it_was_meant_to_be():
    advice = recommend(posts(), ["mask", "maskk"])
    assert any("'maskk'; did you mean mask" in note for note in advice.notes)
    with pytest.raises(DataError, match="did you mean mask"):
        recommend(posts(), ["maskk"])


def test_a_large_keyword_beside_a_rare_one_is_not_dropped():
    rare = [Post(f"rare{i}", MONDAY + timedelta(days=5 * i), f"a visor for number {i}") for i in range(4)]
    other = [Post(f"other{i}", MONDAY + timedelta(hours=2 * i), f"dinner with friends {i}") for i in range(200)]
    assert "mask" in recommend([*posts(200), *rare, *other], ["mask", "visor"]).keep


def test_a_full_budget_is_why_nothing_is_added():
    world = World(weeks=4, posts_per_week=800)
    asked = {"keywords": world.best_keywords("health", 0, 3), "subject": "health", "use_vectors": False}
    assert recommend(world, **asked).add
    full = recommend(world, **asked, budget=2)
    assert not full.add
    assert any("the budget has no room. Raise it to add" in note for note in full.notes)


def test_no_keywords_is_an_error():
    with pytest.raises(SettingError, match="at least one"):
        recommend(posts(), [], policy="counting")


def test_a_keyword_that_never_occurs_is_noted():
    advice = recommend(posts(), ["mask", "tariff"], policy="static", candidates=["vaccine"])
    assert any("'tariff'" in note for note in advice.notes)
    assert advice.next_keywords.texts == ("mask", "tariff")


def test_nothing_is_said_to_extend_a_keyword_that_never_occurs():
    advice = recommend(posts(), ["mask", "tariff"], policy="counting", candidates=["vaccine", "day"])
    reasons = [reason for reason in advice.reasons if reason.extends]
    assert reasons
    assert {reason.extends for reason in reasons} == {"mask"}


def test_keywords_in_other_case_are_those_of_the_model(corpus, current):
    model = KLDA(2, pretraining_iterations=1, max_iterations=0).fit(corpus)
    typed = [text.upper() for text in current.texts]
    advice = recommend(corpus, typed, model=model, policy="frequent")
    assert advice.current.texts == current.texts
    assert model.topics(keywords=typed) == model.topics(keywords=current)
    with pytest.raises(SettingError, match="either candidates or a model"):
        recommend(corpus, typed, model=model, candidates=["mask"])


def test_records_that_could_not_be_read_are_noted(tmp_path):
    lines = [
        {"id": p.id, "time": p.time.isoformat()[: 19 if i % 2 else None], "text": p.text} for i, p in enumerate(posts())
    ]
    file = tmp_path / "mixed.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    advice = recommend(read_posts(file), ["mask"], policy="counting")
    assert "30 of 60 records could not be read and were left out: time without zone 30" in advice.notes
    file.write_text(json.dumps(lines[1]))
    with pytest.raises(DataError, match="1 of 1 records could not be read"):
        recommend(read_posts(file), ["mask"], policy="counting")


def test_a_sample_that_is_given_is_looked_at():
    world = World(weeks=3, posts_per_week=600)
    keywords = world.best_keywords("health", 0, 3)
    sample = Corpus.from_posts(World(weeks=3, posts_per_week=600, seed=1), keywords)
    with_it, without = (
        recommend(world, keywords, policy="frequent", sample=s, n_candidates=400) for s in (sample, None)
    )
    assert set(with_it.ranked.texts) - set(without.ranked.texts)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"window": "soon"}, "soon"),
        ({"sample": 5}, "sample must be a Corpus"),
        ({"budget": 2.5}, "max_keywords must be a whole number, got 2.5"),
        ({"budget": True}, "max_keywords must be a whole number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"top": 1.5}, "top must be a whole number"),
    ],
)
def test_an_argument_that_cannot_be_meant_is_refused(corpus, current, arguments, why):
    with pytest.raises(SettingError, match=why):
        recommend(corpus, current, policy="frequent", **arguments)


def test_first_keywords_that_are_no_longer_listed_may_come_back():
    world = World(weeks=4, posts_per_week=800)
    first = world.best_keywords("health", 0, 3)
    advice = recommend(world, first[:1], candidates=["horse"], founding=first, budget=5)
    assert set(first) <= set(advice.ranked.texts)
    with pytest.raises(SettingError, match=r"policy 'frequent' knows no founding keywords"):
        recommend(world, first[:1], policy="frequent", founding=first)
    with pytest.raises(SettingError, match="go with the name of a policy"):
        recommend(world, first[:1], policy=policy("counting"), founding=first)
    with pytest.raises(SettingError, match="founding names no keyword"):
        recommend(world, first[:1], founding=[])


@pytest.mark.parametrize(("typed", "hint"), [("rust;python", "write a comma"), ("docto*", "a star stands for nothing")])
def test_a_keyword_that_was_meant_otherwise_is_answered_with_how_to_write_it(typed: str, hint: str) -> None:
    world = World(weeks=2, posts_per_week=300)
    assert any(hint in note for note in recommend(world, ["health", typed], use_vectors=False).notes)
    with pytest.raises(DataError, match=hint):
        recommend(world, [typed])


def test_klda_paper_uses_the_model_that_it_is_given(history, current, monkeypatch):
    model = KLDA.paper(pretraining_iterations=4, max_iterations=0).fit(history)
    monkeypatch.setattr(KLDA, "fit", lambda *_, **__: pytest.fail("a model was trained"))
    assert recommend(history, current, policy="klda-paper", model=model).policy == "klda-paper"


def test_a_model_beside_a_policy_that_has_none_is_refused(history, current):
    model = KLDA(pretraining_iterations=2, max_iterations=0).fit(history)
    with pytest.raises(SettingError, match="a model goes with the name of a policy"):
        recommend(history, current, policy=policy("klda-paper"), model=model)
