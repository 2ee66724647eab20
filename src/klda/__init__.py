"""klda: which keywords to follow next, and why.

The names in `__all__` are what programs may rely on. Everything else may change without notice; see
docs/reference/stability.md.

>>> import klda
>>> klda.KeywordSet.of("health", "hospital").texts
('health', 'hospital')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from klda import errors

if TYPE_CHECKING:
    from klda.advice.assemble import assemble
    from klda.advice.choices import Outlook
    from klda.advice.evidence import Evidence
    from klda.advice.explanation import Finding, Reason
    from klda.advice.first_list import FirstList, FirstWord
    from klda.advice.policy import Policy
    from klda.advice.proposal import Proposal, read_proposal, write_proposal
    from klda.advice.situation import Situation
    from klda.baselines.ranked import fitting
    from klda.evaluation.comparison import Backtest, backtest
    from klda.evaluation.subjects import Subject
    from klda.model.klda import KLDA
    from klda.policies.recommend import recommend
    from klda.policies.registry import policies as list_policies
    from klda.policies.registry import policy
    from klda.policies.start import start
    from klda.posts import read_posts
    from klda.report.proposal_report import write_report
    from klda.simulation import World
    from klda.streams.platform_rules import Rules, platform_rules
    from klda.text.corpus import Corpus
    from klda.text.recipe import Recipe
    from klda.text.shards import load_corpus
    from klda.text.storage import save_corpus
    from klda.text.text_settings import TextSettings
    from klda.types import Budget, Estimate, Keyword, KeywordSet, Post, Progress, Window, silent

__version__: str

# Loaded on first use: `import klda` and `klda --help` stay quick, torch comes only when a model does.
_HOME = {
    "Backtest": "klda.evaluation.comparison",
    "Budget": "klda.types",
    "Corpus": "klda.text.corpus",
    "Estimate": "klda.types",
    "Evidence": "klda.advice.evidence",
    "Finding": "klda.advice.explanation",
    "FirstList": "klda.advice.first_list",
    "FirstWord": "klda.advice.first_list",
    "KLDA": "klda.model.klda",
    "Keyword": "klda.types",
    "KeywordSet": "klda.types",
    "Outlook": "klda.advice.choices",
    "Policy": "klda.advice.policy",
    "Post": "klda.types",
    "Progress": "klda.types",
    "Proposal": "klda.advice.proposal",
    "Reason": "klda.advice.explanation",
    "Recipe": "klda.text.recipe",
    "Rules": "klda.streams.platform_rules",
    "Situation": "klda.advice.situation",
    "Subject": "klda.evaluation.subjects",
    "TextSettings": "klda.text.text_settings",
    "Window": "klda.types",
    "World": "klda.simulation",
    "assemble": "klda.advice.assemble",
    "backtest": "klda.evaluation.comparison",
    "fitting": "klda.baselines.ranked",
    "list_policies": "klda.policies.registry:policies",
    "load_corpus": "klda.text.shards",
    "platform_rules": "klda.streams.platform_rules",
    "policy": "klda.policies.registry",
    "read_posts": "klda.posts",
    "read_proposal": "klda.advice.proposal",
    "recommend": "klda.policies.recommend",
    "save_corpus": "klda.text.storage",
    "silent": "klda.types",
    "start": "klda.policies.start",
    "write_proposal": "klda.advice.proposal",
    "write_report": "klda.report.proposal_report",
}

__all__ = [
    "KLDA",
    "Backtest",
    "Budget",
    "Corpus",
    "Estimate",
    "Evidence",
    "Finding",
    "FirstList",
    "FirstWord",
    "Keyword",
    "KeywordSet",
    "Outlook",
    "Policy",
    "Post",
    "Progress",
    "Proposal",
    "Reason",
    "Recipe",
    "Rules",
    "Situation",
    "Subject",
    "TextSettings",
    "Window",
    "World",
    "assemble",
    "backtest",
    "errors",
    "fitting",
    "list_policies",
    "load_corpus",
    "platform_rules",
    "policy",
    "read_posts",
    "read_proposal",
    "recommend",
    "save_corpus",
    "silent",
    "start",
    "write_proposal",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("klda")
    if name not in _HOME:
        raise AttributeError(f"module 'klda' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted(__all__)
