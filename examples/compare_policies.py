"""What would each policy have said? All of them on the same posts, against the words of the story that broke."""

from __future__ import annotations

import klda

world = klda.World(weeks=8, posts_per_week=6000, emergence=5)
current = klda.KeywordSet.of(*world.best_keywords("health", week=0, n=4))
history = klda.Corpus.from_posts(world, current)

print("today:", ", ".join(current.texts))
print("best, as the simulation knows:", ", ".join(world.best_keywords("health", week=7, n=6)))
for name in ("static", "random", "frequent", "viral", "counting", "counting-scored", "klda"):
    advice = klda.recommend(history, current, policy=name, budget=6)
    print(f"{name:16}", ", ".join(advice.next_keywords.texts))
