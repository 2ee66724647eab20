"""From advice to a filter: rules ready to apply, within the platform's limits."""

from __future__ import annotations

import klda

posts = klda.World(weeks=5, posts_per_week=6000)
advice = klda.recommend(posts, ["health", "hospitals", "nurses"], policy="counting", budget=8)
rules = klda.platform_rules(advice.next_keywords, "x-v2", current=advice.current)

print("add:", ", ".join(rules.add))
print("remove:", ", ".join(rules.remove) or "nothing")
for request in rules.requests:
    print(request)
