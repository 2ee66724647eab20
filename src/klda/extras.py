"""Optional parts, installed by `pip install 'klda[…]'`, and the error for a part that is missing."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, requires

from klda.errors import MissingExtraError

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+).*;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")


def require(extra: str, what: str) -> None:
    """Raises a `MissingExtraError` where a package of this extra is not installed; `what` needs it.

    Which packages these are is written in `pyproject.toml` alone.
    """
    missing = next((name for name in packages(extra) if not _is_installed(name)), None)
    if missing is not None:
        raise MissingExtraError(f"{what} needs {missing}; install it with: pip install 'klda[{extra}]'")


def packages(extra: str) -> list[str]:
    """The packages of an extra; the build has put in those of the extras that it names.

    >>> packages("kafka")[0], packages("ray")
    ('confluent-kafka', ['deltalake', 'ray'])
    """
    found = (_REQUIREMENT.match(one) for one in requires("klda") or ())
    return [one["name"] for one in found if one is not None and one["extra"] == extra]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
