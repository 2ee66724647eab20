"""`recommend`: from posts, a corpus or a trained model to advice for the next window, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from os import PathLike as PathLikeObject
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from klda.advice.constants import FEW_POSTS, FEWEST_POSTS
from klda.advice.policy import Policy
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.advice.spelling import no_post_has
from klda.baselines.candidates import Candidates, assemble_candidates
from klda.baselines.places import SIZE, USUAL_SOURCES, Tagger
from klda.baselines.viral import Viral
from klda.errors import DataError, SettingError
from klda.interactive import shown
from klda.policies.registry import accepted
from klda.policies.registry import policy as policy_named
from klda.posts import read_posts
from klda.posts.files import PathLike
from klda.posts.input_types import Frame
from klda.posts.schema import HasBatches, PostTable, unread
from klda.text.corpus import Corpus
from klda.text.documents import merged
from klda.text.text_settings import TextSettings
from klda.text.windows import Windowing
from klda.types import Budget, KeywordSet, Post, Progress, as_keywords, whole_number

if TYPE_CHECKING:
    from klda.model.klda import KLDA

MIN_COUNT = FEWEST_POSTS
"""Rarer words share a placeholder: as many posts as a candidate needs. Commands, monitors and replays read posts so."""
CLOCK_TOLERANCE = timedelta(days=1)
"""Posts may be this far ahead of this machine's clock: zones and clocks are often a little wrong."""


def recommend(
    posts: Corpus | HasBatches | Iterable[Post] | PathLike | Frame,
    keywords: KeywordSet | Iterable[str],
    *,
    policy: str | Policy = "klda",
    model: KLDA | None = None,
    candidates: KeywordSet | Iterable[str] | None = None,
    sources: Sequence[str] = USUAL_SOURCES,
    tagger: Tagger = "pattern",
    n_candidates: int = SIZE,
    window: str | Windowing = "7d",
    language: str = "en",
    timezone: str | None = None,
    date_format: str | None = None,
    subject: str | None = None,
    top: int = 2,
    budget: Budget | int | None = None,
    max_posts: float | None = None,
    novelty: float = 0.5,
    founding: KeywordSet | Iterable[str] | None = None,
    sample: Corpus | None = None,
    training: Corpus | Path | str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> Proposal:
    """The keywords to use next, and why.

    `posts` are what was collected so far, cut by `window` and read in a `language`, or a `Corpus` of it, which has
    its own. A path or a frame is read with `klda.read_posts`, with `timezone` and `date_format`. `keywords` is the
    current list; `subject` says in words what it is about. `budget` is a `Budget` or simply a number of keywords;
    without one there is room for ten more. `sample` is a corpus of the unfiltered stream; its posts join the others.
    `founding` are the keywords that the subject was first asked for with, where the list has moved on since: they may
    come back.

    `progress` is told how far it is; without it, a bar is shown in notebooks and at a Python prompt.

    `policy` is a name (see `klda.policies.registry.policies`) or a policy; `settings` are passed on to the one named.
    The policy `klda` looks at every word of recent posts, unless `candidates` are given; with a trained `model` it
    predicts the words that a list will bring. `klda-paper` with a `model` trains none. Other policies get candidates
    from `sources`: of these, `viral` can learn from `training`, another corpus or the folder of one, when the posts
    carry no counts of reposts; nouns are told by `tagger`, patterns of ours or spaCy.

    >>> from klda.simulation import World
    >>> advice = recommend(World(weeks=3, posts_per_week=400), ["horse", "race"], policy="counting", budget=4)
    >>> advice.policy, len(advice.next_keywords) <= 4
    ('counting', True)
    """
    with shown(progress) as report:
        return _recommend(
            as_posts(posts, timezone, date_format),
            as_keywords(keywords),
            policy=policy,
            model=model,
            candidates=candidates,
            sources=sources,
            tagger=tagger,
            n_candidates=n_candidates,
            window=window,
            language=language,
            subject=subject,
            top=top,
            budget=budget,
            max_posts=max_posts,
            novelty=novelty,
            founding=founding,
            sample=sample,
            training=training,
            seed=seed,
            progress=report,
            settings=settings,
        )


def _recommend(
    posts: Corpus | HasBatches | Iterable[Post],
    current: KeywordSet,
    *,
    policy: str | Policy,
    model: KLDA | None,
    candidates: KeywordSet | Iterable[str] | None,
    sources: Sequence[str],
    tagger: Tagger,
    n_candidates: int,
    window: str | Windowing,
    language: str,
    subject: str | None,
    top: int,
    budget: Budget | int | None,
    max_posts: float | None,
    novelty: float,
    founding: KeywordSet | Iterable[str] | None,
    sample: Corpus | None,
    training: Corpus | Path | str | None,
    seed: int,
    progress: Progress,
    settings: dict[str, Any],
) -> Proposal:
    """The same, with a callback for progress."""
    if model is not None:
        if candidates is not None:
            raise SettingError("a model has candidates of its own; give either candidates or a model")
        current = model.candidates_.spell(current)
    exclusions, current = current.exclusions, current.included
    if not len(current):
        raise SettingError("there are no keywords to start from; give at least one that is no exclusion")
    if not 0 <= novelty <= 1:
        raise SettingError(f"novelty must lie between 0 and 1, got {novelty}")
    top, seed = whole_number(top, "top", 1), whole_number(seed, "seed", 0)
    windowing = window if isinstance(window, Windowing) else Windowing(window)
    if sample is not None and not isinstance(sample, Corpus):
        raise SettingError(f"sample must be a Corpus of unfiltered posts, got {type(sample).__name__}")
    if sample is not None and "sample" not in sources:
        sources = (*sources, "sample")
    corpus = posts
    if not isinstance(corpus, Corpus):
        text = TextSettings(language=language, min_count=MIN_COUNT)
        corpus = Corpus.from_posts(corpus, current, window=windowing, settings=text, progress=progress)
    share = None
    if sample is not None:
        share = shown_share(corpus, sample, current)
        corpus = with_sample(corpus, sample)
    if model is None:
        corpus = with_rare_words(corpus)
    corpus = corpus.without_excluded(exclusions)
    sample = None if sample is None else sample.without_excluded(exclusions)
    if not all(keyword in corpus.candidates for keyword in current):
        corpus = corpus.with_candidates(current)
    check(corpus, current)
    corpus, cut = up_to_last_post(corpus, current)
    generator = np.random.default_rng(seed)
    first = None if founding is None else current.spell(as_keywords(founding).included)
    common = {"top": top, "novelty": novelty, "subject": subject, "training": training, "model": model}
    if share is not None and "sample_share" not in settings:
        common["sample_share"] = share
    if isinstance(policy, str):
        chosen = policy_named(policy, **accepted(policy, common), **founding_setting(policy, first), **settings)
    elif first is not None:
        raise SettingError("founding keywords go with the name of a policy; give this one its own")
    elif model is not None and getattr(policy, "model", model) is not model:
        raise SettingError("a model goes with the name of a policy; give this one its own, as in KLDAPolicy(model=…)")
    else:
        chosen = policy
    if candidates is not None:
        found = Candidates(KeywordSet.of(*current, *as_keywords(candidates).included))
    elif getattr(chosen, "finds_candidates", False):
        found = Candidates(current)
    elif model is not None:
        found = Candidates(model.candidates_.included | current)
    else:
        found = assemble_candidates(
            corpus,
            current,
            sources=sources,
            size=n_candidates,
            viral=chosen if isinstance(chosen, Viral) else None if training is None else Viral(training),
            sample=sample,
            tagger=tagger,
            generator=generator,
            progress=progress,
        )
    matched = corpus if corpus.candidates == found.keywords else corpus.with_candidates(found.keywords)
    proposal = chosen.propose(
        Situation(
            history=matched, current=current, candidates=found.keywords, budget=_budget(budget, max_posts, current)
        ),
        generator=generator,
        progress=progress,
    )
    proposal = proposal.with_exclusions(exclusions)
    return replace(proposal, notes=(*unread(posts), *cut, *found.notes, *proposal.notes), seed=seed)


def as_posts(
    posts: Corpus | HasBatches | Iterable[Post] | PathLike | Frame, timezone: str | None, date_format: str | None
) -> Corpus | HasBatches | Iterable[Post]:
    """The posts or the corpus; a path or a frame is read."""
    if isinstance(posts, str | PathLikeObject | Frame) and not isinstance(posts, Corpus):
        return read_posts(posts, timezone=timezone, date_format=date_format)
    if timezone is not None or date_format is not None:
        raise SettingError("timezone and date_format say how to read a file or a frame; these posts have been read")
    return posts


def check(corpus: Corpus, current: KeywordSet) -> None:
    """Raises a `DataError` that says what is wrong with posts from which nothing can be advised."""
    carrying = corpus.carrying(current)
    if not len(carrying):
        raise DataError(no_post_has(current, corpus.vocabulary))
    every = merged(corpus.documents, corpus.apart)
    newest = int(every.time.argmax())
    latest = datetime.fromtimestamp(int(every.time[newest]) / 1e6, UTC)
    if latest > datetime.now(UTC) + CLOCK_TOLERANCE:
        raise DataError(
            f"post {corpus.posts[int(every.post[newest])].id} is dated {latest:%Y-%m-%d %H:%M} UTC, in the future; "
            "correct its time, or remove the post from the file"
        )
    texts = corpus.posts.texts(corpus.documents.post[carrying])
    if len(texts) > 1 and len(set(texts)) == 1:
        raise DataError(
            f"all {len(texts):,} posts with a keyword have the same text; give posts that say different things"
        )


def up_to_last_post(corpus: Corpus, current: KeywordSet) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus up to the last window with a post of the list, and a note if later windows are left out."""
    last = int(corpus.documents.window[corpus.carrying(current)].max())
    left = corpus.n_windows - 1 - last
    if not left:
        return corpus, ()
    windows = "window holds" if left == 1 else f"{left} windows hold"
    end = f"{corpus.windows[last].end:%Y-%m-%d}"
    note = f"The last {windows} no post with a keyword. The advice is made from the posts before {end}."
    return corpus.span(0, last + 1), (note,)


def _budget(budget: Budget | int | None, max_posts: float | None, current: KeywordSet) -> Budget:
    """The limits. A required keyword is written as the list writes it, if only the case differs."""
    chosen = budget if isinstance(budget, Budget) else Budget(max_keywords=budget)
    chosen = replace(chosen, required=current.spell(chosen.required.included))
    return chosen if max_posts is None else replace(chosen, max_posts=max_posts)


def shown_share(corpus: Corpus, sample: Corpus, current: KeywordSet) -> float:
    """The share of the stream in a sample, estimated by the share of the list's posts that it holds."""
    ours, theirs = (
        len((known if known.candidates == current else known.with_candidates(current)).carrying(current))
        for known in (corpus, sample)
    )
    return min(1.0, max(theirs, 1) / max(ours, 1))


def with_sample(corpus: Corpus, sample: Corpus) -> Corpus:
    """The corpus with further posts of an unfiltered sample, within its windows; no post comes twice."""
    known, more = corpus.posts.table, sample.posts.table
    edges = (corpus.windows[0].start, corpus.windows[-1].end)
    start, end = (pa.scalar(edge, more.schema.field("time").type) for edge in edges)
    is_new = pc.and_(
        pc.invert(pc.is_in(more["id"], known["id"].combine_chunks())),
        pc.and_(pc.greater_equal(more["time"], start), pc.less(more["time"], end)),
    )
    if not pc.any(is_new).as_py():
        return corpus
    both = PostTable(pa.concat_tables([known, more.filter(is_new)], promote_options="default"))
    joined = Corpus.from_posts(
        both, corpus.candidates, window=corpus.windowing, settings=corpus.settings, adjacent=corpus.adjacent
    )
    return joined.with_history(corpus.history) if joined.n_windows == corpus.n_windows else joined


def with_rare_words(corpus: Corpus) -> Corpus:
    """The corpus; words that occur twice are kept if it is small."""
    if corpus.settings.min_count != MIN_COUNT or len(corpus.posts) >= FEW_POSTS:
        return corpus
    settings = replace(corpus.settings, min_count=MIN_COUNT - 1)
    richer = Corpus.from_posts(
        corpus.posts, corpus.candidates, window=corpus.windowing, settings=settings, adjacent=corpus.adjacent
    )
    return richer.with_history(corpus.history) if richer.n_windows == corpus.n_windows else corpus


def founding_setting(name: str, founding: KeywordSet | None) -> dict[str, KeywordSet]:
    """The founding keywords, if any, as a setting of a policy; an error if the policy has no such setting."""
    if founding is None:
        return {}
    if not len(founding):
        raise SettingError("founding names no keyword; leave it out if the list is as it was first asked for")
    if not accepted(name, {"founding": founding}):
        raise SettingError(f"policy {name!r} knows no founding keywords; leave them out, or take klda")
    return {"founding": founding}
