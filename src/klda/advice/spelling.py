"""Near spellings of keywords that no post has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from klda.advice.constants import FEWEST_POSTS, NEAR_SPELLING
from klda.text.vocabulary import Vocabulary
from klda.types import Keyword


def near_word(keyword: str, vocabulary: Vocabulary) -> tuple[str, int] | None:
    """The frequent word that is spelt most like a keyword, and how often it occurs; None where there is none.

    >>> known = Vocabulary.of({"vaccin": {"vaccine": 20, "vaccines": 9}, "vacin": {"vacine": 1}})
    >>> near_word("vacine", known), near_word("pasta", known)
    (('vaccine', 20), None)
    """
    typed = keyword.casefold()
    forms = {
        form: count
        for spelt, counts in zip(vocabulary.forms, vocabulary.form_counts, strict=True)
        for form, count in zip(spelt, counts, strict=True)
        if count >= FEWEST_POSTS and form != typed.lstrip("#$") and abs(len(form) - len(typed)) <= 2
    }
    found = get_close_matches(typed, forms, n=3, cutoff=NEAR_SPELLING)
    return max(((form, forms[form]) for form in found), key=lambda pair: pair[1], default=None)


def how_to_write(keyword: str) -> str | None:
    """What to write instead of a keyword that is a list or a pattern; None if it is neither.

    >>> how_to_write("rust;python")
    'write a comma between keywords: rust,python'
    >>> how_to_write("crypto*")
    'a star stands for nothing; list the words themselves, as in crypto,cryptos'
    """
    for sign in ";|\t":
        if sign in keyword.strip(sign):
            parts = [part.strip() for part in keyword.split(sign)]
            return f"write a comma between keywords: {','.join(part for part in parts if part)}"
    if "*" in keyword:
        word = keyword.replace("*", "")
        return f"a star stands for nothing; list the words themselves, as in {word},{word}s"
    return None


def no_post_has(keywords: Iterable[Keyword], vocabulary: Vocabulary) -> str:
    """The error for keywords that no post carries, with the nearest spellings."""
    texts = [keyword.text for keyword in keywords]
    hints = [hint for text in texts if (hint := how_to_write(text)) is not None]
    if hints:
        return f"no post carries any of the keywords {', '.join(texts)}; {'; '.join(hints)}"
    near = [found for text in texts if (found := near_word(text, vocabulary)) is not None]
    meant = f"did you mean {', '.join(word for word, _ in near)}?" if near else "check how they are written"
    return f"no post carries any of the keywords {', '.join(texts)}; {meant}"
