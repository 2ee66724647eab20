"""The models behind proposals: saved in the monitor's folder, and continued by the next proposal.

With `training = "continue"`, a proposal continues the model of the windows before, and trains on new posts. With
`"scratch"`, it learns from the whole history. In both cases the newest few models are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from klda.advice.advise import KLDAPolicy
from klda.advice.prediction import STEP, one_thread, trained_somehow
from klda.errors import FormatError
from klda.monitor.forget import drop_models
from klda.monitor.monitor import Monitor
from klda.store.delta.rows import window_name
from klda.store.sql.sql_tables import new_id
from klda.text.corpus import Corpus
from klda.text.recode import most_frequent_vocabulary, recoded
from klda.text.vocabulary import Vocabulary
from klda.types import Progress, Window

if TYPE_CHECKING:
    from klda.model.klda import KLDA

OUTGROWN = 2
"""A continued model learns new words and forgets none. With this many times `n_words`, it starts again."""
_SHAPING = ("n_topics", "iterations", "n_words")
"""Settings that shape a model. If one of them changes, the model cannot be continued."""


@dataclass(frozen=True)
class Earlier:
    """A model to continue, its last window, and its id."""

    model: KLDA
    window: datetime
    id: str


@dataclass
class RecordedKLDA(KLDAPolicy):
    """The policy `klda`, which can continue an earlier model, and keeps the model that it trained."""

    earlier: Earlier | None = None
    trained: KLDA | None = field(default=None, init=False)
    continued: bool = field(default=False, init=False)

    def _trained(self, history: Corpus, seed: int, progress: Progress) -> KLDA:
        news = self._news(history)
        if self.earlier is None or news is None:
            self.trained = super()._trained(history, seed, progress)
        else:
            model = self.earlier.model
            model.set_params(random_state=seed, pretraining_iterations=self.iterations)
            corpus = recoded(news, self._words(news, model.vocabulary_))

            def go_on(step: float) -> KLDA:
                model.set_params(learning_rate=step)
                model.partial_fit(corpus, progress=progress)
                return model

            with one_thread():
                self.trained = trained_somehow(go_on, STEP)
            self.continued = True
        return self.trained

    def _news(self, history: Corpus) -> Corpus | None:
        """The windows that the earlier model has not seen. None if it cannot continue with them."""
        if self.earlier is None or len(self.earlier.model.vocabulary_) > OUTGROWN * self.n_words:
            return None
        seen = sum(window.start <= self.earlier.window for window in history.windows)
        news = history.span(seen, history.n_windows)
        return news if 0 < seen < history.n_windows and len(news) else None

    def _words(self, news: Corpus, known: Vocabulary) -> Vocabulary:
        """The known words, followed by the frequent words of the new windows."""
        found = most_frequent_vocabulary(news, self.n_words)
        forms = zip(found.words[1:], found.forms[1:], found.form_counts[1:], strict=True)
        return known.extend({w: dict(zip(f, n, strict=True)) for w, f, n in forms if w not in known})

    def shape(self) -> dict[str, Any]:
        """The settings that shape its model."""
        return {name: getattr(self, name) for name in _SHAPING}


def earlier_model(monitor: Monitor, window: Window, shape: dict[str, Any]) -> Earlier | None:
    """The newest earlier model that can be continued. None if there is none, or if the settings say otherwise."""
    if monitor.settings.training != "continue":
        return None
    from klda.model.klda import KLDA  # imports torch

    for found in monitor.records.journal.models():
        if found.window_start < window.start and found.facts.get("shape") == shape:
            try:
                return Earlier(KLDA.load(monitor.folder.path / found.path), found.window_start, found.id)
            except FormatError as error:
                monitor.records.journal.note("klda", "no model", found.id, reason=str(error))
    return None


def keep_model(monitor: Monitor, window: Window, policy: RecordedKLDA) -> str | None:
    """The id of the saved model, or None if the policy trained none."""
    if policy.trained is None:
        return None
    journal, model = monitor.records.journal, policy.trained
    path = Path("models") / f"{window_name(window.start).replace(':', '')}-{new_id()}"
    folder = monitor.folder.path / path
    model.save(folder)
    facts = {
        "policy": policy.name,
        "training": "continue" if policy.continued else "scratch",
        "from": policy.earlier.id if policy.earlier and policy.continued else None,
        "shape": policy.shape(),
        "bound": model.history_[-1][2] if model.history_ else None,
        "words": len(model.vocabulary_),
        "candidates": len(model.candidates_),
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
    }
    name = journal.add_model(window.start, str(path), **facts)
    drop_models(monitor, journal.models()[monitor.settings.keep_models :])
    return name
