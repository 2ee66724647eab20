"""What does KLDA learn? Topics under a keyword set, and the words that each keyword is expected to bring."""

from __future__ import annotations

import klda

current = klda.KeywordSet.of("health", "hospitals", "nurses")
corpus = klda.Corpus.from_posts(klda.World(weeks=7, posts_per_week=6000), current)

# Which words may become keywords? The best of another policy; then all posts are matched against them.
ranked = klda.recommend(corpus, current, policy="counting").ranked.texts[:20]
corpus = corpus.with_candidates(klda.KeywordSet.of(*current, *ranked))

model = klda.KLDA(n_topics=4, pretraining_iterations=100, max_iterations=0, half_life=2.0).fit(corpus)

for number, topic in enumerate(model.topics(n_words=8, keywords=["hospitals"])):
    print(f"topic {number} of hospitals:", ", ".join(word for word, _ in topic))

advice = klda.recommend(corpus, current, model=model, budget=6)
print("next:", ", ".join(advice.next_keywords.texts))
