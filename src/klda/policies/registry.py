"""Policies by name: ours, and those that other packages register under the entry point group `klda.policies`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, cast

from klda.advice.policy import Policy
from klda.errors import SettingError

GROUP = "klda.policies"

_BUILT_IN = {
    "klda": "klda.advice.advise:KLDAPolicy",
    "klda-paper": "klda.baselines.klda_paper:KLDAPaper",
    "counting": "klda.baselines.counting:Counting",
    "counting-scored": "klda.baselines.counting:CountingScored",
    "viral": "klda.baselines.viral:Viral",
    "frequent": "klda.baselines.frequent:Frequent",
    "random": "klda.baselines.random:Random",
    "static": "klda.baselines.static:Static",
    "tfidf": "klda.baselines.tfidf:TfIdf",
    "textrank": "klda.baselines.textrank:TextRank",
    "topical-pagerank": "klda.baselines.topical_pagerank:TopicalPageRank",
    "context-topical-pagerank": "klda.baselines.topical_pagerank:ContextTopicalPageRank",
    "cooccurrence": "klda.baselines.cooccurrence:CoOccurrence",
    "embedding": "klda.baselines.embedding:Embedding",
    "pretrained-embedding": "klda.baselines.pretrained_embedding:PretrainedEmbedding",
    "word-ppr": "klda.baselines.word_ppr:WordPPR",
    "rm3": "klda.baselines.rm3:RM3",
    "king-lam-roberts": "klda.baselines.king_lam_roberts:KingLamRoberts",
    "ensemble": "klda.policies.ensemble:Ensemble",
}


def policy(name: str, **settings: Any) -> Policy:
    """The policy of this name, with these settings in place of its defaults.

    >>> policy("static").name
    'static'
    >>> policy("statci")
    Traceback (most recent call last):
    klda.errors.SettingError: no policy 'statci'; there are klda, klda-paper, counting, counting-scored, viral, ...
    """
    check_name(name)
    make = _factories()[name]()
    known = [p for p in inspect.signature(make).parameters if p != "self"]
    unknown = [setting for setting in settings if setting not in known]
    if unknown:
        raise SettingError(f"policy {name!r} has no setting {', '.join(unknown)}; it has {', '.join(known) or 'none'}")
    return make(**settings)


def check_name(name: str) -> None:
    """Raises a `SettingError` where there is no policy of this name; loads none."""
    known = _factories()
    if name not in known:
        raise SettingError(f"no policy {name!r}; there are {', '.join(known)}")


def accepted(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the policy of this name has.

    >>> accepted("counting", {"top": 3, "subject": "health"})
    {'top': 3}
    """
    known = inspect.signature(type(policy(name))).parameters
    return {setting: value for setting, value in settings.items() if setting in known}


def defaults_of(name: str) -> dict[str, Any]:
    """The settings of the policy of this name, with their defaults.

    >>> defaults_of("frequent")
    {'top': 2}
    """
    parameters = inspect.signature(type(policy(name))).parameters
    return {setting: parameter.default for setting, parameter in parameters.items()}


def policies() -> dict[str, str]:
    """Every policy that can be named, with one line on what it does.

    >>> import klda
    >>> klda.list_policies()["static"]
    'Keeps the list as it is: the yardstick for every other policy.'
    """
    return {name: (inspect.getdoc(load()) or "").partition("\n")[0] for name, load in _factories().items()}


def _factories() -> dict[str, Callable[[], Callable[..., Policy]]]:
    """The loader of each policy. Other packages cannot take the name of a policy of klda."""
    others = {point.name: point.load for point in entry_points(group=GROUP)}
    ours = {name: partial(_load, path) for name, path in _BUILT_IN.items()}
    return ours | {name: load for name, load in others.items() if name not in ours}


def _load(path: str) -> Callable[..., Policy]:
    module, _, attribute = path.partition(":")
    return cast(Callable[..., Policy], getattr(import_module(module), attribute))
