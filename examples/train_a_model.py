"""What does KLDA learn? Topics under a keyword set, and the words that each keyword is expected to bring."""

from __future__ import annotations

import numpy as np

import klda
from klda.baselines.candidates import assemble_candidates
from klda.simulation import World

current = klda.KeywordSet.of("health", "hospitals", "nurses")
corpus = klda.Corpus.from_posts(World(weeks=7, posts_per_week=6000), current)

# Which words may become keywords? Those of posts on the subject; then all posts are matched against them.
found = assemble_candidates(corpus, current, size=20, generator=np.random.default_rng(0))
corpus = corpus.with_candidates(found.keywords)

model = klda.KLDA(n_topics=4, pretraining_iterations=100, max_iterations=0, half_life=2.0).fit(corpus)

for number, topic in enumerate(model.topics(n_words=8, keywords=["hospitals"])):
    print(f"topic {number} of hospitals:", ", ".join(word for word, _ in topic))

advice = klda.recommend(corpus, current, model=model, budget=6)
print("next:", ", ".join(advice.next_keywords.texts))
