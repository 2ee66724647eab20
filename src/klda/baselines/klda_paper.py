"""The paper's own policy, to the letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from klda.advice.evidence import Evidence
from klda.advice.high_frequency import LOSS_PENALTY, RETENTION_RATE
from klda.advice.proposal import Proposal
from klda.advice.situation import Situation
from klda.arrays import Floats
from klda.baselines.algorithm2 import FREQUENCY_THRESHOLD, extend
from klda.baselines.scored import proposal_by_extensions
from klda.text.corpus import Corpus
from klda.text.recode import frequent_vocabulary, recoded
from klda.types import Progress, silent

if TYPE_CHECKING:
    from klda.model.klda import KLDA

HIGH_FREQUENCY = 0.001
"""The paper's o_h."""
OF_MODEL = (
    "n_topics", "word_weight", "batches", "early_stop", "relaxation", "partition", "batch_size", "hidden",
    "keyword_penalty", "negative_weight", "frequency_penalty", "n_chains", "gibbs_period", "gibbs_steps", "threshold",
    "cooling", "lowest_temperature", "expectation_iterations", "learning_rate", "keyword_learning_rate", "l2",
)  # fmt: skip
"""Settings that go to `KLDA.paper` under the same name."""


@dataclass
class KLDAPaper:
    """KLDA as the paper trains it, and its Algorithm 2 as it stands: each keyword gives way to its extensions.

    `top` is how many extensions a keyword has. A given `model` is used as it is, and none is trained. `pretraining` and
    `iterations` are the numbers of training steps; the settings from `n_topics` on are those of `KLDA`, with the
    paper's values.
    """

    top: int = 2
    divergence: str = "kl"
    high_frequency: float | None = HIGH_FREQUENCY
    """o_h: a more probable word is a frequent word. None: such that frequent sets have about 100 words."""
    retention: float = RETENTION_RATE
    """r"""
    loss_penalty: float = LOSS_PENALTY
    """ĉ"""
    min_frequency: float = FREQUENCY_THRESHOLD
    """f_2"""
    min_count: int = 10
    """Rarer words of the history share a placeholder in training."""
    model: KLDA | None = None
    pretraining: int = 2500
    iterations: int = 10_000
    n_topics: int = 5
    word_weight: Literal["tokens", "vocabulary"] = "tokens"
    batches: Literal["stratified", "uniform"] = "uniform"
    early_stop: Literal["bound", "words"] | None = None
    relaxation: Literal["exact", "enumerate", "gumbel", "categorical"] = "gumbel"
    partition: Literal["exact", "gibbs"] = "gibbs"
    batch_size: int = 64
    hidden: tuple[int, ...] = (32, 32)
    keyword_penalty: float = 2.0
    negative_weight: float = 0.1
    frequency_penalty: float = 1.0
    n_chains: int = 100
    gibbs_period: int = 100
    gibbs_steps: int = 1000
    threshold: float = 0.5
    cooling: float = 1e-4
    lowest_temperature: float = 0.25
    expectation_iterations: int = 20
    learning_rate: float = 0.001
    keyword_learning_rate: float = 0.005
    l2: float = 0.1

    name = "klda-paper"

    def propose(
        self,
        situation: Situation,
        *,
        generator: np.random.Generator,
        progress: Progress = silent,
    ) -> Proposal:
        """The extensions of the current keywords in their place; the current list when there are none."""
        evidence = Evidence.of(situation)
        seed = int(generator.integers(2**31))
        model = self.trained(evidence.history, seed, progress) if self.model is None else self.model
        words = model.word_distributions(evidence.candidates).astype(np.float64)  # (Q, V)
        found = extend(
            words,
            evidence.frequency,
            evidence.current,
            top=None,
            divergence=self.divergence,
            threshold=self.high_frequency,
            retention=self.retention,
            penalty=self.loss_penalty,
            min_frequency=self.min_frequency,
        )
        return proposal_by_extensions(
            self.name,
            evidence,
            situation.budget,
            _as_the_posts_number_words(words, model, evidence),
            found,
            self.top,
            divergence=self.divergence,
            threshold=self.high_frequency,
            generator=generator,
        )

    @property
    def of_model(self) -> dict[str, Any]:
        """The settings of `KLDA.paper`."""
        own = {name: getattr(self, name) for name in OF_MODEL}
        return own | {"pretraining_iterations": self.pretraining, "max_iterations": self.iterations}

    def trained(self, history: Corpus, seed: int, progress: Progress = silent) -> KLDA:
        """The model that is trained on a history."""
        from klda.model.klda import KLDA  # brings torch

        known = recoded(history, frequent_vocabulary(history, self.min_count))
        return KLDA.paper(**self.of_model, random_state=seed).fit(known, progress=progress)


def _as_the_posts_number_words(words: Floats, model: KLDA, evidence: Evidence) -> Floats:
    """Word distributions of a model (Q, words of the model) over the words of the posts. # (Q, V)

    Words that the posts do not have go to the place that rare words share.
    """
    vocabulary = evidence.history.vocabulary
    if vocabulary.words == model.vocabulary_.words:
        return words
    found = np.zeros((len(words), len(vocabulary)))
    np.add.at(found.T, [vocabulary.index(word) for word in model.vocabulary_.words], words.T)
    return found
