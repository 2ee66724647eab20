"""klda: which keywords to follow next, and why.

>>> import klda
>>> sorted(klda.__all__)[:3]
['Budget', 'Corpus', 'KLDA']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from klda.advice.proposal import Proposal
    from klda.model.klda import KLDA
    from klda.policies.recommend import recommend
    from klda.posts import read_posts
    from klda.text.corpus import Corpus
    from klda.text.shards import load_corpus
    from klda.text.storage import save_corpus
    from klda.types import Budget, Keyword, KeywordSet, Post, Window

__version__: str

# Loaded on first use: `import klda` and `klda --help` stay quick, torch comes only when a model does.
_HOME = {
    "Budget": "klda.types",
    "Corpus": "klda.text.corpus",
    "KLDA": "klda.model.klda",
    "Keyword": "klda.types",
    "KeywordSet": "klda.types",
    "Post": "klda.types",
    "Proposal": "klda.advice.proposal",
    "Window": "klda.types",
    "load_corpus": "klda.text.shards",
    "read_posts": "klda.posts",
    "recommend": "klda.policies.recommend",
    "save_corpus": "klda.text.storage",
}

__all__ = [
    "KLDA",
    "Budget",
    "Corpus",
    "Keyword",
    "KeywordSet",
    "Post",
    "Proposal",
    "Window",
    "load_corpus",
    "read_posts",
    "recommend",
    "save_corpus",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("klda")
    if name not in _HOME:
        raise AttributeError(f"module 'klda' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
