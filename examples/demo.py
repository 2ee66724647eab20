"""The whole story in one go: eleven simulated weeks, advice for the twelfth, and how it turned out.

A simulated platform (known truth) is filtered with the first keywords of a subject. In week 6 a story
breaks that the list does not know. klda and the baselines each propose a list for week 12 from what was collected and a
1 % sample of the rest; then week 12 itself tells how much of the subject each list catches.

    python -m examples.demo --out demo
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import klda
from klda.cli.output import ListFormat, out, print_table
from klda.cli.progress import progress_bar
from klda.cli.recommend import show
from klda.corpus.simulation import World
from klda.evaluation.archive import Archive
from klda.policies.candidates import assemble_candidates
from klda.policies.proposal import write_proposal
from klda.policies.registry import policy
from klda.report.content import Comparison, report_of
from klda.report.html import write
from klda.report.topics import topics_of

POLICIES = ("klda", "counting-scored", "counting", "viral", "frequent", "random", "static")
BUDGET = klda.Budget(max_keywords=10)


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate, recommend, compare with what happened.")
    parser.add_argument("--out", type=Path, default=Path("demo"))
    parser.add_argument("--posts-per-week", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    world = World(weeks=12, posts_per_week=options.posts_per_week, seed=options.seed, emergence=5)
    subject = next(s for s in world.subjects if s.name == world.emerging.subject)
    first = klda.KeywordSet.of(*subject.keywords)
    generator = np.random.default_rng(options.seed)

    with progress_bar() as progress:
        archive = Archive(klda.Corpus.from_posts(world, first, progress=progress))
        collected = [archive.collect(week, first) for week in range(11)]
        sample = [week[generator.random(len(week)) < 0.01] for week in map(archive.positions, range(11))]
        seen = archive.seen(np.union1d(np.concatenate(collected), np.concatenate(sample)), [first] * 11)
        sources = ("history", "viral", "nouns", "rising")
        found = assemble_candidates(seen, first, sources=sources, generator=generator, progress=progress)
        history = seen.with_candidates(found.keywords)
        proposals = {}
        for done, name in enumerate(POLICIES):
            progress("policies", done, len(POLICIES))
            draws = np.random.default_rng(options.seed)
            proposals[name] = policy(name).propose(history, first, found.keywords, BUDGET, generator=draws)
        progress("policies", len(POLICIES), len(POLICIES))

    lists = {name: proposal.next_keywords for name, proposal in proposals.items()}
    lists["best possible"] = klda.KeywordSet.of(*world.best_keywords(subject.name, week=11, n=10))
    outcome = [(name, *_outcome(archive, keywords, subject.name)) for name, keywords in lists.items()]

    options.out.mkdir(parents=True, exist_ok=True)
    advice, last = proposals["klda"], history.window(-1)
    write_proposal(advice, options.out / "proposal.json")
    cells = tuple((name, f"{r:.0%}", f"{p:.0%}", f"{f:.2f}", f"{n:,}", words) for name, r, p, f, n, words in outcome)
    columns = ("list", "recall", "precision", "F1", "posts", "keywords")
    report = report_of(
        advice,
        history,
        subject=subject.name,
        budget=BUDGET,
        current_topics=topics_of(last, advice.current),
        proposed_topics=topics_of(last, advice.next_keywords),
        comparison=Comparison("What each list caught of the subject in the week that followed", columns, cells),
        settings={"posts a week": f"{options.posts_per_week:,}", "seed": str(options.seed), "data": "simulated"},
    )
    write(report, options.out / "report.html")

    story = ", ".join(world.emerging.words[:6])
    out.print(f"\nFirst keywords: {', '.join(first.texts)}. In week 6 a story broke: {story}, …\n", highlight=False)
    show(advice, ListFormat.table)
    print_table("Week 12, as it turned out", columns, [(n, r, p, f, c, w) for n, r, p, f, c, w in outcome])
    out.print(f"Report: {options.out / 'report.html'}", markup=False, highlight=False)


def _outcome(archive: Archive, keywords: klda.KeywordSet, label: str) -> tuple[float, float, float, int, str]:
    """Recall, precision, F1 and volume of a list in week 12."""
    caught = archive.collect(11, keywords)
    relevant = archive.on_topic(frozenset({label}), 11)
    hits = len(np.intersect1d(caught, relevant))
    total = max(len(caught) + len(relevant), 1)
    return hits / len(relevant), hits / max(len(caught), 1), 2 * hits / total, len(caught), ", ".join(keywords.texts)


if __name__ == "__main__":
    main()
