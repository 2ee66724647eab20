"""Pseudonyms: keyed hashes in place of the names of people.

The author, the id of a post and the id of a reposted post become hashes. An id leads to its author (a Bluesky id even
contains the author), so hashing authors alone would hide nobody. Texts stay unchanged, with mentions: matching,
training and counting need the text that the filter saw.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from klda.errors import StoreError
from klda.posts.schema import POST_SCHEMA

_HIDDEN = ("id", "author", "repost_of")
_KEY_BYTES = 32


class Pseudonyms:
    """Hashes of names. The same name gives the same hash, and only the holder of the key can compute it.

    >>> Pseudonyms(b"k" * 32).of("alice") == Pseudonyms(b"k" * 32).of("alice") != Pseudonyms(b"l" * 32).of("alice")
    True
    """

    def __init__(self, key: bytes) -> None:
        if len(key) < _KEY_BYTES:
            raise StoreError(
                f"the key for pseudonyms has {len(key)} bytes and needs {_KEY_BYTES}; restore the file from a backup"
            )
        self._key = key

    @classmethod
    def open(cls, path: Path) -> Pseudonyms:
        """The pseudonyms of a key file. A missing file is created, readable by its owner only."""
        with suppress(FileExistsError):
            _create(path)
        try:
            return cls(bytes.fromhex(path.read_text(encoding="ascii")))
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: not a key for pseudonyms ({error}); restore the file from a backup") from error

    def of(self, name: str) -> str:
        """The hash of a name: 128 bits of HMAC-SHA256, in hexadecimal."""
        return hmac.digest(self._key, name.encode("utf-8", "surrogatepass"), sha256)[:16].hex()

    def hide(self, posts: pa.Table) -> pa.Table:
        """The posts with hashes in place of names; an empty `repost_of` stays empty."""
        for name in _HIDDEN:
            at = posts.schema.get_field_index(name)
            hidden = self._all(posts.column(name).to_pylist())
            posts = posts.set_column(at, POST_SCHEMA.field(name), pa.array(hidden, pa.string()))
        return posts

    def _all(self, names: Iterable[str | None]) -> list[str | None]:
        return [self.of(name) if name else name for name in names]


def _create(path: Path) -> None:
    """Writes a new key, completely or not at all; never replaces a key."""
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: the key for pseudonyms cannot be written ({error})") from error
    finally:
        beside.unlink(missing_ok=True)
