"""Every platform's format, in files made by hand after the documented fields, is read without being told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from klda.posts import PostReader, read_posts
from klda.posts.formats import x_v1, x_v2
from klda.posts.formats.outcome import Row
from klda.posts.parsing import parse_record
from klda.text.matching import Matcher
from klda.types import KeywordSet, Post

SAMPLES = Path(__file__).parents[2] / "data" / "posts"


def posts_of(name: str, **options: object) -> tuple[list[Post], PostReader]:
    reader = read_posts(SAMPLES / name, **options)  # type: ignore[arg-type]
    posts = list(reader)
    assert reader.report.lines == reader.report.accounted
    return posts, reader


def test_x_v1_gives_the_longest_text_and_all_counts() -> None:
    (first, second, repost), reader = posts_of("x_v1.jsonl")
    assert first == Post(
        id="1050118621198921728",
        time=datetime(2018, 10, 10, 20, 19, 24, tzinfo=UTC),
        text="To make room for more expression, we will now count all emojis as equal & include those with gender "
        "👩‍🚀 #emoji",
        author="anna",
        language="en",
        hashtags=("emoji",),
        reposts=3,
        likes=5,
        replies=1,
        quotes=2,
        followers=120,
        following=80,
        author_posts=900,
        author_likes=40,
    )
    assert (second.text, second.hashtags) == ("Cats <3 dogs #cats", ("cats",))
    assert (repost.text, repost.repost_of) == ("RT @berta: A long thought that the repost cuts short", "4")
    assert dict(reader.report.skipped) == {"delete": 1, "control message": 1, "keep-alive": 1}


def test_x_v2_stream_finds_authors_and_originals_beside_the_data() -> None:
    (first, long, repost), reader = posts_of("x_v2_stream.jsonl")
    assert first == Post(
        id="1600000000000000001",
        time=datetime(2022, 12, 6, 5, 34, 56, tzinfo=UTC),
        text="Solar power at home #solar & wind",
        author="carla",
        language="en",
        hashtags=("solar",),
        reposts=1,
        likes=3,
        replies=2,
        quotes=4,
        followers=10,
        following=20,
        author_posts=30,
        author_likes=40,
    )
    assert (long.text, long.author, long.hashtags) == (
        "A long post that is cut short only in its text field",
        "22",
        ("long",),
    )
    assert (repost.text, repost.author) == ("RT @carla: Solar power at home #solar & wind", "dora")
    assert repost.repost_of == first.id
    assert dict(reader.report.skipped) == {"keep-alive": 1, "control message": 1}


def test_links_on_x_are_those_that_they_lead_to_as_its_filter_reads_them() -> None:
    links = [
        {"url": "https://t.co/a1", "expanded_url": "https://bit.ly/x", "unwound_url": "https://nasa.gov/moon?a=1&b=2"},
        {"url": "https://t.co/a12", "expanded_url": "https://esa.int/sun"},
        {"url": "https://t.co/pic", "expanded_url": "https://x.com/anna/photo", "display_url": "pic.x.com/p"},
        {"url": None, "expanded_url": "https://nowhere.org"},
    ]
    text = "https://t.co/a12 &amp; https://t.co/a1, https://t.co/pic https://t.co/other"
    said = "https://esa.int/sun & https://nasa.gov/moon?a=1&b=2, https://t.co/pic https://t.co/other"
    post = {"text": text, "entities": {"urls": links}}
    older = {**post, "id_str": "7", "created_at": "Wed Oct 10 20:19:24 +0000 2018", "user": {"screen_name": "anna"}}
    newer = {**post, "id": "7", "created_at": "2026-01-05T10:00:00Z", "author_id": "1"}
    for row in (x_v1.parse(older), x_v2.parse(newer)):
        assert isinstance(row, Row)
        assert row.text == said
    assert Matcher(KeywordSet.of("moon", "anna")).match(said) == [0]


def test_a_repost_on_x_has_the_hashtags_of_its_original() -> None:
    cut, whole = {"hashtags": []}, {"hashtags": [{"text": "flu", "tag": "flu"}]}
    old = {"id_str": "2", "created_at": "Wed Oct 10 20:19:24 +0000 2018", "text": "RT @a: Stay", "user": {}}
    long = {"id_str": "1", "text": "Stay", "extended_tweet": {"full_text": "Stay at home #flu", "entities": whole}}
    row = x_v1.parse({**old, "entities": cut, "retweeted_status": long})
    assert isinstance(row, Row)
    assert row.hashtags == ("flu",)
    new = {"id": "2", "created_at": "2022-12-06T05:34:56Z", "text": "RT @a: Stay", "entities": cut}
    row = x_v2.parse(
        new | {"referenced_tweets": [{"type": "retweeted", "id": "1"}]},
        tweets={"1": {"id": "1", "text": "Stay at home #flu", "entities": whole}},
    )
    assert isinstance(row, Row)
    assert row.hashtags == ("flu",)


def test_each_tweet_of_an_x_v2_page_is_a_line() -> None:
    posts, reader = posts_of("x_v2_pages.jsonl")
    assert [post.id[-1] for post in posts] == ["1", "2", "3"]
    assert reader.report.lines == 4
    assert dict(reader.report.skipped) == {"empty page": 1}


def test_x_v2_flattened_by_twarc_says_the_same_as_the_envelope() -> None:
    (flat, repost), _ = posts_of("x_v2_twarc.jsonl")
    enveloped, _ = posts_of("x_v2_stream.jsonl")
    assert flat == enveloped[0]
    assert repost == enveloped[2]


def test_jetstream_v1_keeps_only_created_posts() -> None:
    (post,), reader = posts_of("jetstream_v1.jsonl")
    assert post == Post(
        id="at://did:plc:eygmaihciaxprqvxpfvl6flk/app.bsky.feed.post/3l3qo2vuowo2b",
        time=datetime(2024, 9, 9, 19, 46, 2, 329308, tzinfo=UTC),
        text="Rain over the #harbour again",
        author="did:plc:eygmaihciaxprqvxpfvl6flk",
        language="en",
        hashtags=("harbour", "weather"),
    )
    assert dict(reader.report.skipped) == {
        "like": 1,
        "repost": 1,
        "follow": 1,
        "delete": 1,
        "update": 1,
        "other event": 1,
        "media only": 1,
        "identity": 1,
        "account": 1,
    }
    assert not reader.report.bad


def test_jetstream_v2_frames_are_read_like_v1() -> None:
    (post,), reader = posts_of("jetstream_v2.jsonl")
    assert post.id == "at://did:plc:eygmaihciaxprqvxpfvl6flk/app.bsky.feed.post/3maaa"
    assert post.time == datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert post.hashtags == ("harbour", "weather")
    assert dict(reader.report.skipped) == {"like": 1, "delete": 1, "identity": 1, "account": 1, "other event": 1}


def test_mastodon_html_becomes_text_and_a_boost_is_a_repost() -> None:
    (status, boost), reader = posts_of("mastodon.jsonl")
    assert status == Post(
        id="https://garden.example/users/flora/statuses/103270115826048975",
        time=datetime(2019, 12, 8, 3, 48, 33, 901000, tzinfo=UTC),
        text="gardening Tomatoes & beans are #ripe Come by!",
        author="flora@garden.example",
        language="en",
        hashtags=("ripe",),
        reposts=2,
        likes=3,
        replies=1,
        followers=5,
        following=6,
        author_posts=7,
    )
    assert (boost.author, boost.repost_of, boost.text) == ("gerda", status.id, status.text)
    assert dict(reader.report.skipped) == {"media only": 1}


def test_mastodon_events_and_raw_server_sent_events_bring_the_same_status() -> None:
    (plain, _), _ = posts_of("mastodon.jsonl")
    (framed,), reader = posts_of("mastodon_stream.jsonl")
    assert dict(reader.report.skipped) == {"delete": 1, "update": 1, "other event": 1}
    (sent,), reader = posts_of("mastodon.sse")
    assert dict(reader.report.skipped) == {"keep-alive": 7, "delete": 1, "update": 1}
    assert framed == sent == plain


def test_the_archives_columns_are_known_in_csv() -> None:
    (first, second), reader = posts_of("archive.csv")
    assert first.text == 'Two lines,\nand a "quote"'
    assert (first.reposts, first.likes, first.language, first.repost_of) == (3, 4, "en", None)
    assert (second.repost_of, second.reposts) == ("", None)
    assert second.time == first.time
    assert reader.report.lines == 2


def test_a_json_array_is_read_element_by_element() -> None:
    (first, second), reader = posts_of("array.json")
    assert (first.id, first.text, first.author) == ("1", "An array", "jo")
    assert second.time == datetime(2020, 1, 5, 10, 0, 0, 123000, tzinfo=UTC)
    assert reader.report.lines == 2


def test_reposts_are_dropped_on_request_and_counted() -> None:
    posts, reader = posts_of("x_v1.jsonl", reposts="drop")
    assert len(posts) == 2
    assert reader.report.reposts_dropped == 1


def test_a_folder_of_all_formats_is_one_stream_without_duplicates() -> None:
    posts, reader = posts_of("")
    assert len({post.id for post in posts}) == len(posts)
    assert (len(posts), reader.report.duplicates) == (11, 10)


def test_records_of_live_streams_take_the_same_way() -> None:
    [row] = parse_record({"id": 1, "created_at": "2026-01-05T10:00:00Z", "text": "Hello", "author": "anna"})
    assert isinstance(row, Row)
    assert row.post() == Post(id="1", time=datetime(2026, 1, 5, 10, tzinfo=UTC), text="Hello", author="anna")
