"""`klda train` and `klda topics`: trains a model on a corpus, and shows its topics."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from klda.cli.arguments import check_files, check_folder, check_local, parse_keywords
from klda.cli.options import Address, Engine, EngineName, OutputFormat, Seed
from klda.cli.output import Format, print_json, print_table, progress_bar, say, starting
from klda.errors import DataError, InputError, SettingError


class Preset(StrEnum):
    """Settings that belong together."""

    default = "default"
    paper = "paper"


def train(
    corpus: Annotated[Path, typer.Argument(help="Folder that klda prepare wrote.", show_default=False)],
    model: Annotated[Path, typer.Option("--model", "-m", help="Folder to write the model to.")],
    topics: Annotated[str, typer.Option("--topics", help='Number of topics, or "auto" to find one.')] = "5",
    preset: Annotated[Preset, typer.Option(help="Settings of klda, or exactly those of the paper.")] = Preset.default,
    half_life: Annotated[
        float | None,
        typer.Option(min=0.01, help="Windows after which a post counts half; all posts count the same if left out."),
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(min=0, help="Cap on iterations of the full model.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    device: Annotated[str, typer.Option(help="Where tensors live: cpu, cuda, …")] = "cpu",
    seed: Seed = 0,
    engine: EngineName = Engine.local,
    address: Address = None,
    workers: Annotated[
        int, typer.Option(min=1, help="On Ray: number of workers that train together, each with its own batch.")
    ] = 1,
    output: OutputFormat = Format.table,
) -> None:
    """Train KLDA on a corpus. Ctrl-C keeps a checkpoint, from which --resume continues."""
    if not corpus.is_dir():
        what = "is a file" if corpus.exists() else "there is no such folder"
        raise InputError(f"{corpus}: {what}; give the folder that klda prepare wrote")
    with starting(quiet=output is Format.json):
        from klda.cli.inputs import remember_corpus
        from klda.model.checkpoint import is_model
        from klda.model.klda import KLDA, TOPICS_ALIKE
        from klda.model.runs import has_begun, step_of, with_smaller_steps
        from klda.text.corpus import every
        from klda.text.shards import load_corpus
        from klda.text.shards import n_documents as count

    check_folder(model, "--model", "model", is_model)
    changes = {"n_topics": _topics(topics), "half_life": half_life, "random_state": seed, "device": device}
    if max_iterations is not None:
        changes["max_iterations"] = max_iterations
    estimator = KLDA.paper(**changes) if preset is Preset.paper else KLDA(**changes)  # type: ignore[arg-type]
    n_documents = count(corpus)
    _check_words(corpus)
    if resume and not (model.is_dir() if engine is Engine.ray else has_begun(model)):
        say(f"Note: {model} has nothing to resume; training starts from the beginning")
    first_step = (resume and engine is Engine.local and step_of(model)) or estimator.learning_rate

    def go_on(step: float) -> bool:
        """Whether to resume: a run continues only with the step that it was trained with."""
        return resume and step == first_step

    def again(step: float) -> None:
        say(f"Note: training diverged; it starts again with a smaller step ({step:g})")

    try:
        if engine is Engine.ray:
            from klda.cli.on_ray import on_ray, train_on_ray

            def on_cluster(step: float) -> KLDA:
                estimator.set_params(learning_rate=step)
                return train_on_ray(estimator, corpus, model, workers=workers, resume=go_on(step))

            with on_ray(address, workers):
                estimator = with_smaller_steps(on_cluster, first_step, again)
        else:
            check_local(address, workers)
            with progress_bar(quiet=output is Format.json) as progress:
                read = load_corpus(corpus, every)

                def here(step: float) -> KLDA:
                    estimator.set_params(learning_rate=step)
                    return estimator.fit(read, checkpoint=model, resume=go_on(step), progress=progress)

                with_smaller_steps(here, first_step, again)
    except KeyboardInterrupt:
        given = [word for word in sys.argv[1:] if word != "--resume"]  # a run continues only with the same settings
        say(f"Interrupted. The progress is kept. To continue: {shlex.join(['klda', *given, '--resume'])}")
        raise typer.Exit(130) from None
    estimator.save(model)
    remember_corpus(model, corpus)
    # a handful of documents has no held-out part, so there is no bound to show
    stage, iterations, bound = estimator.history_[-1] if estimator.history_ else (None, None, None)
    result = {
        "model": str(model),
        "documents": n_documents,
        "n_topics": estimator.n_topics_,
        "candidates": len(estimator.candidates_),
        "vocabulary": len(estimator.vocabulary_) - 1,
        "last_stage": stage,
        "iterations": iterations,
        "held_out_bound": bound,
        "learnt": estimator.has_learnt_,
        "topics_alike": estimator.topics_alike_,
    }
    if output is Format.json:
        print_json(result)
    else:
        rows = [
            (name.replace("_", " "), value)
            for name, value in result.items()
            if name not in ("model", "learnt", "topics_alike")
        ]
        print_table(f"Model in {model}", ("what", "value"), rows)
        if not estimator.has_learnt_:
            say(
                "Note: training did not improve predictions of held-out posts, so the model is as it began; "
                f"{n_documents:,} posts are too few to learn topics from"
            )
        elif estimator.topics_alike_:
            say(f"Note: {TOPICS_ALIKE}")


def topics(
    model: Annotated[Path, typer.Argument(help="Folder that klda train wrote.", show_default=False)],
    keywords: Annotated[
        str | None,
        typer.Option("--keywords", "-k", help="Show the topics that these keywords together are expected to bring."),
    ] = None,
    words: Annotated[int, typer.Option("--words", min=1, help="How many words of each topic.")] = 10,
    output: OutputFormat = Format.table,
) -> None:
    """Show the topics of a model, on average over its candidates or under a set of keywords."""
    check_files(model)
    with starting(quiet=output is Format.json):
        from klda.model.klda import KLDA

        estimator = KLDA.load(model)
    chosen = None if keywords is None else parse_keywords(keywords)
    found = estimator.topics(words, chosen)
    if output is Format.json:
        print_json(
            {
                "keywords": None if chosen is None else list(chosen.texts),
                "topics": [[{"word": w, "probability": p} for w, p in topic] for topic in found],
            }
        )
        return
    title = "Topics" if chosen is None else f"What {', '.join(chosen.texts)} would bring"
    print_table(title, ("topic", "words"), [(i + 1, ", ".join(w for w, _ in topic)) for i, topic in enumerate(found)])


def _check_words(folder: Path) -> None:
    """Refuses a corpus without a word that is frequent enough to learn, on any engine."""
    from klda.text.shards import ShardedCorpus, is_sharded, load_corpus

    corpus = ShardedCorpus.open(folder).shard(0) if is_sharded(folder) else load_corpus(folder)
    if len(corpus.vocabulary) < 2:  # the placeholder alone
        least = corpus.settings.min_count
        raise DataError(f"{folder}: no word occurs {least} times; prepare more posts, or lower --min-count")


def _topics(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise SettingError(f'--topics {text!r}: give a number from 1 on, or "auto"')
    return int(text)
