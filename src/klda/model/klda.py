"""The estimator that people import: `KLDA(n_topics=5).fit(corpus)`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Literal, Self

from sklearn.base import BaseEstimator, TransformerMixin

from klda.cells import html_paragraph, html_table
from klda.errors import DataError, TrainingWarning
from klda.interactive import shown
from klda.model import initialise, runs, saving
from klda.model.data import TrainingData, totals, training_data
from klda.model.inference import Fitted
from klda.model.initialise import find_n_topics, first_parameters, settings_of
from klda.model.model_settings import Batches, EarlyStop, ModelSettings, Partition, Relaxation
from klda.model.objective import Parameters
from klda.model.trainer import Split, split
from klda.model.workers import ALONE, Workers
from klda.safe_text import visible
from klda.text.corpus import Corpus
from klda.types import Progress

NOTHING_LEARNT = (
    "training did not improve predictions of held-out posts, so the model is as it was before training; give more posts"
)
TOPICS_ALIKE = "all topics have nearly the same words; give more posts, train longer, or ask for fewer topics"

SHOWN_TOPICS, SHOWN_WORDS = 20, 8
"""Topics, and words of each, that a printed model shows."""


class KLDA(Fitted, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Keyword-based topic model: which words a set of keywords brings in.

    Parameters
    ----------
    n_topics : int or "auto", default 5
        K. "auto" finds a good number with plain LDA.
    hidden : tuple of int, default (32, 32)
        Sizes of the hidden layers of g, the map from keywords to topic-word matrices.
    unigram_bias : bool, default True
        Whether the last bias of g starts at the log frequency of words.
    topic_start : "random" or "lda", default "random"
        Where topics start: nearly alike, with random weights; or at the topics of plain LDA, which stay apart in a
        short training.
    topic_prior : "fixed" or "parametric", default "fixed"
        f: all ones, or a network of its own. The paper saw the latter collapse to one topic.
    topic_floor : float, default 0.0
        With a parametric f: no topic's expected weight falls below this share of 1 / K, so that none dies out.
    keyword_penalty : float, default 2.0
        c, the price of every further keyword in p_kw.
    theta_start : "calibrated" or "log_frequency", default "calibrated"
        Where θ starts: so that p_kw gives each keyword its share of documents, or at the log of that share.
    partition : "exact" or "gibbs", default "exact"
        How ∇ log Z is found: in closed form, or with the paper's chains.
    n_chains : int, default 100
        Gibbs chains, where they are used.
    gibbs_period : int, default 100
        Iterations between two long runs of the chains; at the others each chain takes one step.
    gibbs_steps : int, default 1000
        m_t, the steps of a long run.
    negative_weight : float, default 1.0
        c_neg, the weight of ∇ log Z. Below 1, p_kw is not calibrated.
    frequency_penalty : float, default 1.0
        Weight of the squared distance between softmax(θ) and the keywords' frequencies.
    relaxation : "exact", "enumerate", "gumbel" or "categorical", default "exact"
        q(keywords) of a document: the best there is, which has a closed form over the subsets of its observed
        candidates; or Bernoulli rates ε that are trained, their expectation taken over those subsets ("enumerate")
        or by the paper's draws ("gumbel" in its experiments, "categorical" in its model section).
    enumeration_limit : int, default 3
        Most observed candidates of a document whose subsets are all enumerated. Of a document with more, this many
        candidates are enumerated at a time.
    share_sets : bool, default True
        With the exact q: whether only keyword sets that occur in the batch are considered for a document. They cost
        nothing more, because g is evaluated for them anyway. Otherwise all sets are.
    threshold : float, default 0.5
        h: a relaxed keyword above it takes its words out of the document.
    cooling : float, default 1e-4
        How fast the temperature of the paper's draws falls: τ_t = e^(−cooling · t).
    lowest_temperature : float, default 0.25
        The temperature stays at or above it.
    word_weight : "tokens" or "vocabulary", default "tokens"
        What the word terms of a batch are scaled to: the tokens of the corpus, or (as printed in the paper) V.
    expectation_iterations : int, default 20
        K_E, the most iterations of an E-step.
    expectation_tolerance : float, default 1e-2
        Mean change of γ at which an E-step ends; 0 for all iterations. At 1e-2 the bound is within about 1e-4 nats a
        token of its limit; scores are always computed to 1e-4.
    batches : "stratified" or "uniform", default "stratified"
        How documents are drawn: evenly over time, one from each of `batch_size` equal parts of the corpus, or uniformly
        (as printed in the paper). Uniform batches cannot be combined with a half-life.
    batch_size : int, default 512
        B, documents in an iteration.
    learning_rate : float, default 0.01
        Adam's, for g, f and θ.
    keyword_learning_rate : float, default 0.005
        RMSprop's, for ε.
    l2 : float, default 0.1
        Penalty on the squared weights (not biases) of g.
    pretraining_iterations : int, default 600
        Most iterations with the observed candidates as keywords.
    max_iterations : int, default 400
        Most iterations of the full model.
    held_out : float, default 0.05
        Share of documents that are held out of training to measure the bound; 0 for none, and no early stop.
    max_held_out : int, default 500
        The most documents that are held out.
    early_stop : "bound", "words" or None, default "bound"
        What decides when a stage ends, and which parameters it keeps: the held-out bound; the held-out bound without
        the keywords' own probability, which cannot fall because θ diverges; or nothing, so that all iterations are run
        and the last parameters are kept.
    check_every : int, default 50
        Iterations between two measurements of the held-out bound; each also writes a checkpoint.
    patience : int or None, default 4
        Checks without gain before a stage ends; None to go on to the cap.
    min_improvement : float, default 1e-3
        Gain of the smoothed held-out bound (nats a token) that counts.
    smoothing : float, default 0.5
        Weight of the past in the smoothed bound.
    half_life : float or None, default None
        Number of windows after which a document counts half; None: all documents count alike.
    random_state : int, default 0
        Seed of everything random, below 2^63.
    device : str, default "cpu"
        Where tensors live.

    Attributes
    ----------
    n_topics_ : int
    vocabulary_ : Vocabulary
    candidates_ : KeywordSet
    parameters_ : Parameters (g, f and θ)
    keyword_frequency_ : share of the documents that carry each candidate, (Q,)
    components_ : topic-word matrix, the mean over candidates by their frequency, (K, V)
    has_learnt_ : whether training improved the bound of held-out documents
    topics_alike_ : whether the topics have nearly the same words
    history_ : list of (stage, iteration, held-out bound a token)
    """

    def __init__(
        self,
        n_topics: int | Literal["auto"] = 5,
        *,
        hidden: tuple[int, ...] = (32, 32),
        unigram_bias: bool = True,
        topic_start: Literal["random", "lda"] = "random",
        topic_prior: Literal["fixed", "parametric"] = "fixed",
        topic_floor: float = 0.0,
        keyword_penalty: float = 2.0,
        theta_start: Literal["calibrated", "log_frequency"] = "calibrated",
        partition: Partition = "exact",
        n_chains: int = 100,
        gibbs_period: int = 100,
        gibbs_steps: int = 1000,
        negative_weight: float = 1.0,
        frequency_penalty: float = 1.0,
        relaxation: Relaxation = "exact",
        enumeration_limit: int = 3,
        share_sets: bool = True,
        threshold: float = 0.5,
        cooling: float = 1e-4,
        lowest_temperature: float = 0.25,
        word_weight: Literal["tokens", "vocabulary"] = "tokens",
        expectation_iterations: int = 20,
        expectation_tolerance: float = 1e-2,
        batches: Batches = "stratified",
        batch_size: int = 512,
        learning_rate: float = 0.01,
        keyword_learning_rate: float = 0.005,
        l2: float = 0.1,
        pretraining_iterations: int = 600,
        max_iterations: int = 400,
        held_out: float = 0.05,
        max_held_out: int = 500,
        early_stop: EarlyStop | None = "bound",
        check_every: int = 50,
        patience: int | None = 4,
        min_improvement: float = 1e-3,
        smoothing: float = 0.5,
        half_life: float | None = None,
        random_state: int = 0,
        device: str = "cpu",
    ) -> None:
        self.n_topics = n_topics
        self.hidden = hidden
        self.unigram_bias = unigram_bias
        self.topic_start = topic_start
        self.topic_prior = topic_prior
        self.topic_floor = topic_floor
        self.keyword_penalty = keyword_penalty
        self.theta_start = theta_start
        self.partition = partition
        self.n_chains = n_chains
        self.gibbs_period = gibbs_period
        self.gibbs_steps = gibbs_steps
        self.negative_weight = negative_weight
        self.frequency_penalty = frequency_penalty
        self.relaxation = relaxation
        self.enumeration_limit = enumeration_limit
        self.share_sets = share_sets
        self.threshold = threshold
        self.cooling = cooling
        self.lowest_temperature = lowest_temperature
        self.word_weight = word_weight
        self.expectation_iterations = expectation_iterations
        self.expectation_tolerance = expectation_tolerance
        self.batches = batches
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.keyword_learning_rate = keyword_learning_rate
        self.l2 = l2
        self.pretraining_iterations = pretraining_iterations
        self.max_iterations = max_iterations
        self.held_out = held_out
        self.max_held_out = max_held_out
        self.early_stop = early_stop
        self.check_every = check_every
        self.patience = patience
        self.min_improvement = min_improvement
        self.smoothing = smoothing
        self.half_life = half_life
        self.random_state = random_state
        self.device = device

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """The paper's recipe to the letter: its hyperparameters, uniform batches, Gumbel draws and Gibbs chains.

        All documents are trained on, all iterations are run, and the last parameters are kept. With `early_stop`, a
        share of the documents is held out, as by default. `word_weight="vocabulary"` also takes the printed V / N_B
        literally. p_kw is uncalibrated under c_neg = 0.1.

        >>> KLDA.paper().batch_size, KLDA.paper(n_topics=7).n_topics
        (64, 7)
        >>> KLDA.paper().held_out, KLDA.paper(early_stop="words").held_out
        (0.0, 0.05)
        """
        literal: dict[str, Any] = {
            "unigram_bias": False,
            "theta_start": "log_frequency",
            "partition": "gibbs",
            "negative_weight": 0.1,
            "expectation_tolerance": 1e-4,
            "relaxation": "gumbel",
            "batches": "uniform",
            "batch_size": 64,
            "learning_rate": 0.001,
            "pretraining_iterations": 2500,
            "max_iterations": 10_000,
            "early_stop": None,
            "check_every": 250,
        }
        if changes.get("early_stop") is None:
            literal["held_out"] = 0.0
        return cls(**(literal | changes))

    def fit(
        self,
        corpus: Corpus,
        y: None = None,  # noqa: ARG002
        *,
        checkpoint: Path | str | runs.Checkpoints | None = None,
        resume: bool = False,
        progress: Progress | None = None,
        workers: Workers = ALONE,
    ) -> Self:
        """Learns from a corpus. A checkpoint folder makes the run resumable, bit for bit.

        `progress` gets stage, iterations done and their cap, and the facts `bound` and `temperature`; without it, a bar
        is shown in notebooks and at a Python prompt. A `TrainingWarning` says that nothing was learnt. Several
        `workers` that call this together train one model, with a batch of `batch_size` each: each has a corpus of its
        own stretch of the documents (`klda.model.trainer.own_stretch`), the first that of the earliest.
        """
        with shown(progress) as report:
            data = training_data(corpus, half_life=self.half_life, workers=workers)
            settings = self._settings(data, report, workers)
            parts = split(data, settings, workers)
            parameters = first_parameters(parts, settings, workers)
            self._train(corpus, data, parts, settings, parameters, checkpoint, resume, report, workers)
        if workers.rank == 0:
            self._warn()
        return self

    def partial_fit(
        self,
        corpus: Corpus,
        y: None = None,  # noqa: ARG002
        *,
        checkpoint: Path | str | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """Goes on with a new window, whose vocabulary extends the one known; the candidates are those of its corpus.

        New words and candidates start from their frequencies, what is known from where it stands. A candidate that the
        new corpus lacks is forgotten: prepare it with `candidates=model.candidates_` to keep them all.
        """
        if not hasattr(self, "parameters_"):
            return self.fit(corpus, checkpoint=checkpoint, resume=resume, progress=progress)
        known = self.vocabulary_.words
        if corpus.vocabulary.words[: len(known)] != known:
            raise DataError(
                "the vocabulary of the new window does not extend the model's; build the corpus with "
                "vocabulary=model.vocabulary_, or extend that"
            )
        # The topics go on from the model's own.
        settings = settings_of(vars(self) | {"topic_start": "random"}, n_topics=self.n_topics_)
        data = training_data(corpus, half_life=self.half_life)
        parts = split(data, settings)
        parameters = first_parameters(parts, settings)
        old, new = self.candidates_, corpus.candidates
        columns = [(place, old.index(keyword)) for place, keyword in enumerate(new) if keyword in old]
        initialise.carry_over(self.parameters_, parameters, columns, len(known), data)
        with shown(progress) as report:
            self._train(corpus, data, parts, settings, parameters, checkpoint, resume, report)
        self._warn()
        return self

    def _train(
        self,
        corpus: Corpus,
        data: TrainingData,
        parts: Split,
        settings: ModelSettings,
        parameters: Parameters,
        checkpoint: Path | str | runs.Checkpoints | None,
        resume: bool,
        progress: Progress,
        workers: Workers = ALONE,
    ) -> None:
        keep = runs.checkpoints(checkpoint, resume)
        mark = "" if keep is None else runs.fingerprint(data)
        self.history_ = runs.train(
            parameters, parts, settings, mark=mark, keep=keep, progress=progress, workers=workers
        )
        whole = totals(data, workers)
        self.n_topics_, self.settings_ = settings.n_topics, settings
        self.parameters_ = parameters
        self.vocabulary_ = corpus.vocabulary
        self.candidates_ = corpus.candidates
        self.keyword_words_ = data.keyword_words
        self.mean_length_ = whole.mean_length
        self.word_frequency_ = whole.word_frequency
        self.keyword_frequency_ = whole.keyword_frequency

    def _warn(self) -> None:
        """Warns if training did not help, or if the topics are nearly alike."""
        if not self.has_learnt_:
            problem = NOTHING_LEARNT
        elif self.topics_alike_:
            problem = TOPICS_ALIKE
        else:
            return
        warnings.warn(problem, TrainingWarning, stacklevel=3)

    def _settings(self, data: TrainingData, progress: Progress, workers: Workers) -> ModelSettings:
        n_topics = self.n_topics
        if n_topics == "auto":
            others = settings_of(vars(self), n_topics=1)  # refused before the search rather than after it
            n_topics = find_n_topics(data, seed=others.random_state, progress=progress, workers=workers)
        return settings_of(vars(self), n_topics=n_topics)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # sklearn's name
        """The parameters that are not defaults and, when fitted, a line of words for each topic."""
        said = str(super().__repr__(N_CHAR_MAX))
        if not hasattr(self, "parameters_"):
            return said
        lines = [f"  topic {i}: {visible(', '.join(words))}" for i, words in enumerate(self._shown_topics(), start=1)]
        return "\n".join([said, *lines])

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        said = html_paragraph(str(super().__repr__()), strong=True)
        if not hasattr(self, "parameters_"):
            return f"{said}\n{html_paragraph('Not fitted yet.')}"
        rows = [(i, ", ".join(words)) for i, words in enumerate(self._shown_topics(), start=1)]
        facts = f"{len(self.candidates_):,} candidates, {len(self.vocabulary_):,} words."
        return "\n".join([said, html_paragraph(facts), html_table(("topic", "words"), rows)])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Both, in place of the diagram of sklearn, which shows no topics."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _shown_topics(self) -> list[list[str]]:
        """The leading words of the first topics."""
        return [[word for word, _ in topic] for topic in self.topics(SHOWN_WORDS)[:SHOWN_TOPICS]]

    def save(self, folder: Path | str) -> None:
        """Writes the model to a folder: safetensors and JSON, which cannot run code when they are read."""
        saving.write(self._fitted, self.get_params(), Path(folder))

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "cpu") -> Self:
        """The model in a folder."""
        return saving.read(Path(folder), cls, device=device)
