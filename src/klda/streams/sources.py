"""The names of all sources, for settings files and the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from klda.errors import SettingError
from klda.streams.folder import Folder
from klda.streams.jetstream import Jetstream
from klda.streams.kafka import Kafka
from klda.streams.mastodon_stream import Mastodon
from klda.streams.protocol import Source
from klda.streams.replay import Replay
from klda.streams.x_stream import XStream

SOURCES: dict[str, Callable[..., Source]] = {
    "jetstream": Jetstream,
    "mastodon": Mastodon,
    "x": XStream,
    "kafka": Kafka,
    "folder": Folder,
    "replay": Replay,
}


def source_of(settings: str | Mapping[str, Any]) -> Source:
    """The source that the settings describe: `kind`, `kind:address`, or a table with `kind` and the source's options.

    In a table, `address` stands for the first option of the source, such as its server or folder.

    >>> source_of("jetstream").name
    'jetstream'
    >>> source_of("mastodon:https://fosstodon.org").name
    'mastodon fosstodon.org'
    >>> source_of({"kind": "mastodon", "server": "https://fosstodon.org", "timeline": "hashtag"}).unfiltered
    False
    """
    if isinstance(settings, str):
        kind, colon, address = settings.partition(":")
        options: dict[str, Any] = {"address": address} if colon else {}
    else:
        options = dict(settings)
        kind = str(options.pop("kind", ""))
    names = _parameters(kind)
    if "address" in options:
        options[names[0]] = options.pop("address")
    make = SOURCES[kind]
    hints = get_type_hints(make.__init__)
    for name, value in options.items():
        if name not in names:
            raise SettingError(f"{kind}: there is no option {name!r}; there are {', '.join(names)}")
        adapter: TypeAdapter[Any] = TypeAdapter(hints[name], config=ConfigDict(arbitrary_types_allowed=True))
        try:
            options[name] = adapter.validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, (name, *problem["loc"])))
            given = "" if isinstance(value, Mapping) else f" (given: {value!r})"  # a table may hold a password
            raise SettingError(f"{kind}: {where} cannot be used: {problem['msg']}{given}") from None
    try:
        return make(**options)
    except TypeError as error:
        raise SettingError(f"{kind}: needs {names[0]!r}, as in {kind}:{names[0]}") from error


def _parameters(kind: str) -> list[str]:
    """The options of a kind of source, its address first."""
    if kind not in SOURCES:
        raise SettingError(f"source {kind!r} is not known; choose one of {', '.join(SOURCES)}")
    return list(inspect.signature(SOURCES[kind]).parameters)
