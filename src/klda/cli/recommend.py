"""`klda recommend` and `klda policies`: the next keyword list with reasons, and the policies that can propose it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from klda.advice.explanation import Reason
from klda.advice.proposal import COLUMNS, Proposal, row_of
from klda.baselines.places import SOURCES, USUAL_SOURCES, Tagger
from klda.cli import options as o
from klda.cli.arguments import (
    check_files,
    check_local,
    check_output,
    parse_keywords,
    parse_mapping,
    parse_names,
    parse_settings,
)
from klda.cli.options import OutputFormat
from klda.cli.output import Format, ListFormat, out, print_csv, print_json, print_table, progress_bar, say, starting
from klda.errors import InputError
from klda.safe_text import csv_text
from klda.types import Estimate

if TYPE_CHECKING:
    from klda.model.klda import KLDA

HAVE_OPTIONS = ("top", "novelty", "subject", "founding", "training", "model", "tagger")
"""Settings of policies that have an option of their own here."""


def recommend(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files or folders of posts, or one corpus; may be left out with --model.", show_default=False
        ),
    ] = None,
    keywords: o.Keywords = "",
    subject: Annotated[str | None, typer.Option(help="The subject in words, such as 'voting by mail'.")] = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="A trained model, so that none is trained.")
    ] = None,
    policy: Annotated[str, typer.Option("--policy", "-p", help="Policy that proposes; see klda policies.")] = "klda",
    settings: o.PolicySettings = None,
    candidates: o.Candidates = None,
    sources: Annotated[
        str, typer.Option(help=f"Where candidates are looked for, with commas: {', '.join(SOURCES)}.")
    ] = ",".join(USUAL_SOURCES),
    sample: Annotated[
        list[Path] | None,
        typer.Option(help="Files of an unfiltered sample of the stream, which shows what your list misses."),
    ] = None,
    sample_share: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of the stream that --sample shows; estimated if left out."),
    ] = None,
    tagger: Annotated[Tagger, typer.Option(help="What finds nouns; spacy is an extra.")] = "pattern",
    window: o.WindowLength = "7d",
    top: Annotated[int, typer.Option(min=1, help="Words named for each current keyword (--format json).")] = 2,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Most keywords of the next list; no number: ten more than now."),
    ] = None,
    max_posts: Annotated[
        int | None, typer.Option(min=1, help="Most posts that the next list may bring in a window.")
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(min=1, help="Most word forms of all keywords together, as platforms count them.")
    ] = None,
    require: Annotated[
        str | None, typer.Option(help="Keywords that must be on the next list, written like --keywords.")
    ] = None,
    forbid: Annotated[str | None, typer.Option(help="Words that must not be on the next list.")] = None,
    novelty: Annotated[
        float, typer.Option(min=0, max=1, help="0: close relatives of the list. 1: rising and new words.")
    ] = 0.5,
    founding: Annotated[
        str | None,
        typer.Option(help="The first keywords, if the list has changed since; they may come back."),
    ] = None,
    training: Annotated[
        Path | None, typer.Option(help="A corpus with repost counts, from which viral learns if the posts have none.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Also write a report, one HTML file.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Also write the proposal: .csv as a table, any other name as JSON for klda rules."),
    ] = None,
    language: o.Language = "en",
    only_language: o.OnlyLanguage = False,
    min_count: Annotated[
        int, typer.Option(min=1, help="Rarer words share one placeholder. The default 3 is 2 below 1,000 posts.")
    ] = 3,
    reposts: o.Reposts = True,
    mapping: o.Mapping = None,
    timezone: o.Timezone = None,
    date_format: o.DateFormat = None,
    strict: o.Strict = False,
    engine: o.EngineName = o.Engine.local,
    address: o.Address = None,
    output: Annotated[ListFormat, typer.Option("--format", help="How to print the result.")] = ListFormat.table,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Also say what each added word extends and brings, and what is lost."),
    ] = False,
    seed: o.Seed = 0,
) -> None:
    """Say which keywords to use next: what to keep, add and drop, why, and how many posts it will cost."""
    quiet = output is not ListFormat.table
    check_files(*(files or ()), *(sample or ()), model, training)
    current = parse_keywords(keywords)
    with starting(quiet):
        from klda.cli.inputs import Reading, corpus_of_model, open_corpus
        from klda.policies.recommend import founding_setting
        from klda.policies.recommend import recommend as propose
        from klda.text.text_settings import TextSettings
        from klda.types import Budget, KeywordSet

    given = None if candidates is None else parse_keywords(candidates, "--candidates")
    first = None if founding is None else parse_keywords(founding, "--founding")
    # a wrong name is reported before minutes of reading
    chosen = parse_settings(settings or [], policy, elsewhere=HAVE_OPTIONS)
    founding_setting(policy, first)
    check_output(report, "--report")
    check_output(save, "--save")
    paths = files or ([] if model is None else [corpus_of_model(model)])
    if not paths:
        raise InputError("nothing to read: name files of posts, a corpus that klda prepare wrote, or a --model")
    limits = Budget(
        max_keywords=budget,
        max_posts=max_posts,
        max_terms=max_terms,
        required=KeywordSet() if require is None else parse_keywords(require, "--require"),
        forbidden=frozenset() if forbid is None else frozenset(parse_keywords(forbid, "--forbid").texts),
    )
    reading = Reading(
        parse_mapping(mapping or []), reposts, (language,) if only_language else None, timezone, strict, date_format
    )
    with ExitStack() as stack:
        progress = stack.enter_context(progress_bar(quiet))
        text = TextSettings(language=language, min_count=min_count)
        own = chosen if sample_share is None else chosen | {"sample_share": sample_share}
        if engine is o.Engine.ray:
            from klda.cli.on_ray import on_ray, open_on_ray, trained_on_ray

            stack.enter_context(on_ray(address))
            corpus = stack.enter_context(open_on_ray(paths, current, reading, text, window, progress))
            own |= {"fit": trained_on_ray} if policy == "klda" and model is None else {}
        else:
            check_local(address)
            corpus = open_corpus(paths, current, reading, text, window, progress)
        unfiltered = open_corpus(sample, current, reading, text, window, progress) if sample else None
        proposal = propose(
            corpus,
            current,
            policy=policy,
            subject=subject,
            model=None if model is None else _loaded(model),
            candidates=given,
            sources=parse_names(sources),
            sample=unfiltered,
            tagger=tagger,
            top=top,
            budget=limits,
            novelty=novelty,
            founding=first,
            training=training,
            seed=seed,
            progress=progress,
            **own,
        )
        if report is not None:
            from klda.report.proposal_report import write_report

            progress("report", 0, 1)
            shown = {"policy": policy, "novelty": f"{novelty:g}", "seed": str(seed)}
            if first is not None:
                shown["founding"] = ", ".join(first.texts)
            write_report(proposal, corpus, report, budget=limits, settings=shown, seed=seed, progress=progress)
            progress("report", 1, 1)
    if save is not None:
        from klda.advice.proposal import write_proposal

        if save.suffix.lower() == ".csv":
            _write_csv(proposal, save)
        else:
            write_proposal(proposal, save)
    show(proposal, output, verbose=verbose)
    if report is not None and not quiet:
        out.print(f"Report: {report}", markup=False, highlight=False, soft_wrap=True)


def _loaded(model: Path) -> KLDA:
    """A trained model. Its libraries are loaded only if a model was given."""
    from klda.model.klda import KLDA

    return KLDA.load(model)


def show(proposal: Proposal, output: ListFormat, *, verbose: bool = False) -> None:
    """Prints a proposal."""
    if output is ListFormat.json:
        print_json(proposal.to_dict())
        return
    if output is ListFormat.csv:
        print_csv(*_table(proposal))
        for note in proposal.notes:
            say(f"Note: {note}")
        return
    out.print(proposal.headline, style="bold", markup=False, highlight=False)
    if proposal.known is not None:
        out.print(f"Read: {proposal.known}.", markup=False, highlight=False)
    for note in proposal.notes:
        out.print(f"Note: {note[:1].upper()}{note[1:]}", style="yellow", markup=False, highlight=False)
    rows = [_row(r, verbose) for r in proposal.in_order]
    window = f" for {proposal.window[:10]}" if proposal.window else ""
    print_table(f"Next keywords{window} ({proposal.policy})", ("", *COLUMNS[1:]), rows)
    if proposal.expected_posts is not None:
        e, often = proposal.expected_posts, proposal.known.often if proposal.known else "a window"
        text = f"about {e.mean:,.0f} posts {often}, with 90% certainty {e.low:,.0f} to {e.high:,.0f}"
        if proposal.at_least:
            text = f"at least {e.mean:,.0f} posts {often}"
        out.print(f"The list will bring {text}.", markup=False, highlight=False)


def _table(proposal: Proposal) -> tuple[Sequence[str], list[Sequence[object]]]:
    """The header and the rows of a proposal as CSV."""
    posts = ("expected_posts", "posts_low", "posts_high", "new_posts", "relevance")
    measured = ("divergence", "divergence_low", "divergence_high", "gained", "lost")
    rows = [
        (
            r.action,
            r.keyword.text,
            " ".join(r.keyword.forms),
            r.frequency,
            *_rounded(r.expected_posts),
            r.new_posts,
            r.relevance,
            *_rounded(r.divergence, 4),
            ", ".join(r.gained),
            ", ".join(r.lost),
            r.text,
        )
        for r in proposal.in_order
    ]
    return ("action", "keyword", "forms", "frequency", *posts, *measured, "reason"), list(rows)


def _write_csv(proposal: Proposal, path: Path) -> None:
    """Writes a proposal as a table for spreadsheets."""
    try:
        path.write_text(csv_text(*_table(proposal)), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise InputError(f"{path}: the proposal cannot be written ({error.strerror}); give another path") from error


def _row(reason: Reason, verbose: bool) -> tuple[object, ...]:
    """A row of the table.

    With `verbose`, the reason also names the words that the keyword extends, brings and loses.
    """
    *row, why = row_of(reason)
    said = [str(why)]
    if verbose:
        said += [f"Extends {reason.extends}."] if reason.extends and reason.action == "add" else []
        said += [f"Brings {', '.join(reason.gained)}."] if reason.gained and reason.action == "add" else []
        said += [f"Loses {', '.join(reason.lost)}."] if reason.lost else []
    return (*row, " ".join(filter(None, said)))


def _rounded(estimate: Estimate | None, digits: int | None = None) -> tuple[float | None, ...]:
    """The mean and the interval of an estimate, rounded."""
    values = (None, None, None) if estimate is None else (estimate.mean, estimate.low, estimate.high)
    return tuple(None if value is None else round(value, digits) for value in values)


def policies(output: OutputFormat = Format.table) -> None:
    """List the policies that --policy can name."""
    from klda.policies.registry import policies as known

    found = known()
    if output is Format.json:
        print_json(found)
    else:
        print_table("Policies", ("name", "what it does"), list(found.items()))
