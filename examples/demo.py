"""The whole story in one go: eleven simulated weeks, advice for the twelfth, and how it turned out.

A platform is filtered with a subject's first keywords. In week 6 a story breaks that they do not know. Each policy
proposes from what was collected and a 1 % sample. Week 12 tells how much of the subject each list catches."""

import argparse
from pathlib import Path

import numpy as np

import klda
from klda.advice.proposal import write_proposal
from klda.advice.situation import Situation
from klda.baselines.candidates import assemble_candidates
from klda.cli.output import ListFormat, out, print_table, progress_bar
from klda.cli.recommend import show
from klda.evaluation.archive import Archive
from klda.evaluation.closed_loop import against_labels
from klda.policies.registry import policy
from klda.report.content import Comparison
from klda.report.proposal_report import write_report
from klda.simulation import World

POLICIES = ("klda", "counting-scored", "counting", "viral", "frequent", "random", "static")
BUDGET = klda.Budget(max_keywords=10)
SOURCES = ("history", "viral", "nouns", "rising")
COLUMNS = ("list", "recall", "precision", "F1", "posts", "keywords")

parser = argparse.ArgumentParser(description="Simulate, recommend, compare with what happened.")
parser.add_argument("--out", type=Path, default=Path("demo"))
parser.add_argument("--posts-per-week", type=int, default=10_000)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

world = World(weeks=12, posts_per_week=options.posts_per_week, seed=options.seed, emergence=5)
subject = next(s for s in world.subjects if s.name == world.emerging.subject)
first, generator = klda.KeywordSet.of(*subject.keywords), np.random.default_rng(options.seed)
proposals = {}
with progress_bar() as progress:
    archive = Archive(klda.Corpus.from_posts(world, first, progress=progress))
    known = [np.union1d(archive.collect(w, first), archive.sample(w, 0.01, generator)) for w in range(11)]
    seen = archive.seen(np.concatenate(known), [first] * 11)
    found = assemble_candidates(seen, first, sources=SOURCES, generator=generator, progress=progress).keywords
    history = seen.with_candidates(found)
    for done, name in enumerate(POLICIES, start=1):
        situation = Situation(
            history, first, BUDGET, candidates=first if name == "klda" else found
        )  # klda finds its own
        proposals[name] = policy(name).propose(situation, generator=np.random.default_rng(options.seed))
        progress("policies", done, len(POLICIES))

advice, rows = proposals["klda"], []
best = klda.KeywordSet.of(*world.best_keywords(subject.name, week=11, n=10))
lists = {name: proposal.next_keywords for name, proposal in proposals.items()} | {"best possible": best}
for name, keywords in lists.items():
    caught = archive.collect(11, keywords)
    share = against_labels(archive, frozenset({subject.name}), 11, caught)
    cells = f"{share['recall']:.0%}", f"{share['precision']:.0%}", f"{share['f1']:.2f}", f"{len(caught):,}"
    rows.append((name, *cells, ", ".join(keywords.texts)))

options.out.mkdir(parents=True, exist_ok=True)
write_proposal(advice, options.out / "proposal.json")
comparison = Comparison("What each list caught of the subject in the week that followed", COLUMNS, tuple(rows))
write_report(advice, history, options.out / "report.html", subject=subject.name, budget=BUDGET, comparison=comparison)
out.print(f"\nFirst keywords: {', '.join(first.texts)}. In week 6 a story broke:", ", ".join(world.emerging.words[:6]))
show(advice, ListFormat.table)
print_table("Week 12, as it turned out", COLUMNS, rows)
out.print(f"Report: {options.out / 'report.html'}", markup=False, highlight=False)
