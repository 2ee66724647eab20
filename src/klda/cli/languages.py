"""What commands say of the language of posts: it is another one than asked for, or nothing is known of it."""

from __future__ import annotations

import numpy as np

from klda.cli.progress import say
from klda.posts.schema import PostTable
from klda.text.languages import STEMMED, other_language, taken_as_written

SAMPLE = 300
"""Posts that are looked at."""


def tell_language(posts: PostTable, language: str, *, filtered: bool = False) -> None:
    """Writes a note to standard error where stemmer and stop words are not those of the posts.

    `filtered` posts were chosen by their language, so that only what is known of it matters.
    """
    if taken_as_written(language):
        say(
            f"Note: --language {language}: there is neither a stemmer nor a list of stop words nor a table of "
            "frequencies for it; words are taken as written"
        )
    if filtered or not len(posts):
        return
    rows = np.unique(np.linspace(0, len(posts) - 1, min(SAMPLE, len(posts))).astype(np.int64))
    found = other_language(posts.texts(rows), language)
    if found is not None:
        code, count = found
        name = f"{STEMMED[code].capitalize()} ({code})" if code in STEMMED else code
        say(
            f"Note: most posts look {name}, {count:,} of {len(rows):,} looked at: add --language {code}, or stop words "
            "count as words and stems are wrong"
        )
