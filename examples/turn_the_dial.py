"""Close relatives of my list, or rising words? The list at each setting of the dial."""

from __future__ import annotations

import klda

posts = klda.World(weeks=7, posts_per_week=6000)
advice = klda.recommend(posts, ["health", "hospitals", "nurses"], subject="public health", budget=10)

print("dial  kept  new ground  posts  keywords")
for point in advice.frontier:
    print(
        f"{point.novelty:4.1f}  {point.retention:4.0%}  {point.new_ground:10.0%}  {point.expected_posts:5,.0f}  "
        + ", ".join(point.keywords)
    )
