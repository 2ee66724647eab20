"""`start`: from a subject in words to a first list, in one call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from klda.advice.first_list import FirstList, first_list, subject_keyword
from klda.interactive import shown
from klda.policies.recommend import MIN_COUNT, as_posts, with_rare_words
from klda.posts.files import PathLike
from klda.posts.input_types import Frame
from klda.posts.schema import HasBatches, unread
from klda.text.corpus import Corpus
from klda.text.text_settings import TextSettings
from klda.text.windows import Windowing
from klda.types import Post, Progress, whole_number


def start(
    subject: str,
    posts: Corpus | HasBatches | Iterable[Post] | PathLike | Frame,
    *,
    examples: Iterable[Post | str] = (),
    most: int = 10,
    window: str | Windowing = "7d",
    language: str = "en",
    timezone: str | None = None,
    date_format: str | None = None,
    use_vectors: bool = True,
    progress: Progress | None = None,
) -> FirstList:
    """Words of known posts for a subject told in words: a first keyword list to choose from, at most `most` words.

    `posts` are best an unfiltered sample of the stream; posts that a filter let through show only what it looks for. A
    path or a frame is read with `klda.read_posts`, with `timezone` and `date_format`. They are cut by `window` and read
    in a `language`; a `Corpus` has its own. `examples` are posts on the subject, or their texts. Where no vectors are
    known for a language, or without `use_vectors`, the list starts from the words of the subject alone.

    >>> from klda.simulation import World
    >>> found = start("horse racing", World(weeks=3, posts_per_week=400), most=3)
    >>> len(found.words) <= 3
    True
    """
    most = whole_number(most, "most", 1)
    texts = [example.text if isinstance(example, Post) else example for example in examples]
    with shown(progress) as report:
        known = as_posts(posts, timezone, date_format)
        if not isinstance(known, Corpus):
            windowing = window if isinstance(window, Windowing) else Windowing(window)
            text = TextSettings(language=language, min_count=MIN_COUNT)
            whole = subject_keyword(subject, text)
            corpus = Corpus.from_posts(known, whole, window=windowing, settings=text, progress=report)
        else:
            corpus = known
        found = first_list(with_rare_words(corpus), subject, texts, most=most, use_vectors=use_vectors)
    return replace(found, notes=(*unread(known), *found.notes))
