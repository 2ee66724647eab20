"""Reasons in plain English: the one place where codes and numbers become sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from klda.types import Estimate

Fact = float | str

SENTENCES = {
    # why a word is added
    "beside": "{beside:.0%} of its posts also mention your keywords",
    "meaning": "Close in meaning to {nearest}",
    "context": "The posts it adds have other words of your subject",
    "rising": "Rising: {times:.0f} times as frequent as before",
    "extends": "Its posts are closest to those of {nearest}",
    "likely": "Likely on the subject ({chance:.0%})",
    # why a keyword is kept
    "kept": "On the subject ({chance:.0%} likely)",
    "kept_beside": "{beside:.0%} of its posts also mention your other keywords",
    "kept_doubt": "Kept because you chose it; only {chance:.0%} likely on the subject",
    "kept_alone": "Kept: it is your only keyword",
    "kept_unknown": "Kept: too few posts without your keywords are known to judge it",
    "kept_unsure": "Kept: your other keywords are too few, or have too few posts, to judge it",
    "kept_silent": "Kept: no known post has it yet",
    "exclusion": "An exclusion: posts with it are left out",
    # why a word is not on the list
    "off": "Only {chance:.0%} likely on the subject; {beside:.0%} of its posts mention your other keywords",
    "no_posts": "No known post has it",
    "not_added": "Not added: only {chance:.0%} likely on the subject",
    "too_loud": "Not added: {chance:.0%} likely on the subject is too unsure for so many new posts",
    "nothing_new": "Not added: your list already brings its posts",
    "no_room": "Not added: over the budget ({room})",
    "dropped_room": "Dropped to keep within the budget ({room})",
    "forbidden": "Not allowed by your settings",
    # why a word is on a first list
    "first_subject": "The subject in your own words",
    "first_examples": "In {n} of your {of} example posts",
    "first_beside": "{beside:.0%} of its posts also have the words nearest to the subject",
    "first_meaning": "Close in meaning to the subject",
}
"""What each code of a reason says; no full stop."""

NOTES = {
    "nothing_known": "Nothing worth adding, because the posts hold no other word often enough.",
    "nothing_likely": "Nothing worth adding, because none of {n:,} other words is likely on the subject.",
    "nothing_new": "Nothing worth adding, because your list already brings the posts of every likely word.",
    "no_room": "Nothing added, because the budget has no room. Raise it to add {words}.",
    "only_common": "Nothing added, because your keywords are in posts on any subject. Name words of your subject.",
    "thin": "Only {n:,} posts carry a keyword. Treat this advice as a first guess.",
    "one_window": "Too few posts before the last window: what is rising is not known.",
    "no_model": "The topic model could not be trained. The words that a list brings are counted, not predicted.",
    "first_no_vectors": "No word vectors for language {language}: the list starts from the subject's own words.",
    "first_silent": "No known post has the words of the subject: {subject}.",
    "first_few": "Only {n} of the words in these posts fit the subject.",
    "first_nothing": "No word in these posts fits the subject. Read more posts, or say the subject in other words.",
    "common": "Common in posts on any subject: {words}. Such words say little about yours.",
    "list_only": "No posts without your keywords are known. Numbers of posts for new words are lower bounds.",
    "lower_bound": (
        "Only {n:,} recent posts without your keywords are known. Numbers of posts for new words are lower bounds."
    ),
}
"""What each code of a note says."""

SAMPLING_NOISE_ONLY = (
    "No past window could test forecasts of these keywords. The intervals of divergence and of words gained minus lost "
    "hold sampling noise only."
)
"""The note of baselines by the paper's criteria."""


def in_words(code: str, facts: Mapping[str, Fact]) -> str:
    """The sentence of a code.

    >>> in_words("beside", {"beside": 0.97})
    '97% of its posts also mention your keywords'
    """
    return SENTENCES[code].format(**facts)


def note(code: str, **facts: Fact) -> str:
    """The note of a code.

    >>> note("thin", n=7)
    'Only 7 posts carry a keyword. Treat this advice as a first guess.'
    """
    return NOTES[code].format(**facts)


def sentences(parts: Sequence[str | None]) -> str:
    """Parts of a reason as short sentences.

    >>> sentences(["required", None, "about 12 posts a week"])
    'Required. About 12 posts a week.'
    """
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts if part)


def often(window: timedelta) -> str:
    """How one says that something happens once a window.

    >>> often(timedelta(days=7)), often(timedelta(hours=6))
    ('a week', 'a window')
    """
    return {1: "a day", 7: "a week"}.get(window.days if window == timedelta(days=window.days) else 0, "a window")


def posts_in_words(posts: Estimate, window: timedelta, new: float | None = None, *, at_least: bool = False) -> str:
    """How many posts are expected, rounded as one would say it, and how many of them the list does not bring yet.

    >>> posts_in_words(Estimate(1234.5, 900, 1600), timedelta(days=7), new=310)
    'About 1,200 posts a week, 310 of them new.'
    >>> posts_in_words(Estimate(0.2, 0, 1), timedelta(days=2))
    'Hardly any posts a window.'
    """
    if posts.mean < 0.5:
        return f"Hardly any posts {often(window)}."
    n = rounded(posts.mean)
    fresh = "" if new is None else ", all of them new" if rounded(new) == n != "1" else f", {rounded(new)} of them new"
    about = "At least" if at_least else "About"
    return f"{about} {n} post{'' if n == '1' else 's'} {often(window)}{fresh}."


def rounded(posts: float) -> str:
    """A number of posts with two digits that count.

    >>> rounded(1234.5), rounded(0.6), rounded(0)
    ('1,200', '1', '0')
    """
    return f"{float(f'{posts:.2g}'):,.0f}"


def silent_in_words(keyword: str, near: tuple[str, int] | None, hint: str | None = None) -> str:
    """What is said of a keyword that no post carries.

    >>> silent_in_words("vacine", ("vaccine", 20))
    "no post carries the keyword 'vacine'; did you mean vaccine (20 times in the posts)?"
    """
    if hint is not None:
        return f"no post carries the keyword {keyword!r}; {hint}"
    what = "check how it is written" if near is None else f"did you mean {near[0]} ({near[1]:,} times in the posts)?"
    return f"no post carries the keyword {keyword!r}; {what}"
