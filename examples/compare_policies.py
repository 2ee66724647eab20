"""What would each policy have said? All of them on the same posts, against the words of the story that broke."""

from __future__ import annotations

import numpy as np

import klda
from klda.advice.situation import Situation
from klda.baselines.candidates import assemble_candidates
from klda.policies.registry import policy
from klda.simulation import World

world = World(weeks=8, posts_per_week=6000, emergence=5)
current = klda.KeywordSet.of(*world.best_keywords("health", week=0, n=4))
history = klda.Corpus.from_posts(world, current)

candidates = assemble_candidates(history, current, size=30, generator=np.random.default_rng(0)).keywords
history = history.with_candidates(candidates)

print("today:", ", ".join(current.texts))
print("best, as the simulation knows:", ", ".join(world.best_keywords("health", week=7, n=6)))
for name in ("static", "random", "frequent", "viral", "counting", "counting-scored", "klda"):
    settings = {"iterations": 50} if name == "klda" else {}
    asked = Situation(history, current, klda.Budget(max_keywords=6), candidates=candidates)
    advice = policy(name, **settings).propose(asked, generator=np.random.default_rng(0))
    print(f"{name:16}", ", ".join(advice.next_keywords.texts))
