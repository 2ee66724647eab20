"""Which keywords should I use next week? From posts to a list, with reasons."""

from __future__ import annotations

import klda

# Seven weeks of a simulated platform; with files of your own: posts = klda.read_posts("posts.parquet")
posts = klda.World(weeks=7, posts_per_week=6000)

advice = klda.recommend(
    posts,
    ["health", "hospitals", "nurses"],
    subject="public health",
    budget=klda.Budget(max_keywords=8, forbidden=frozenset({"everyone"})),
    novelty=0.6,
)

for reason in advice.reasons:
    print(f"{reason.action:5} {reason.keyword.text:14} {reason.text}")
if advice.expected_posts is not None:
    print(f"\nabout {advice.expected_posts.mean:,.0f} posts in the week of {advice.window}")
