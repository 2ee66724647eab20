"""The store of posts: one Delta Lake table for each monitor, in a local folder or on object storage.

Each batch is stored exactly once. Its rows, its number and the cursor of the source are one commit. After a crash the
table holds all of them or none, the source resumes from the cursor, and a batch with a known number is skipped. If a
source steps back, posts that were stored recently are dropped. The new text of an edited post is stored at once, and
its old row is deleted with the next deletions (`klda.store.sql.records`). One process writes at a time
(`klda.store.monitor_folders`). Any number of processes may read, each from the version that it opened.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from klda.errors import StoreError
from klda.store.delta import delta_log
from klda.store.delta.delta_log import FILE_BYTES, WRITER, Change, Position, files, open_table
from klda.store.delta.pseudonyms import Pseudonyms
from klda.store.delta.rows import (
    PARTITIONS,
    ROW_SCHEMA,
    TALLIED,
    Count,
    negative,
    outdated,
    part_of,
    post_rows,
    tally,
    window_name,
    window_start,
)
from klda.store.delta.stored_posts import RecentIds, StoredPosts, guarded, newest_ids
from klda.text.windows import Windowing
from klda.types import Window

_STAGED = re.compile(r"#\d+$")


def sweep(uri: str, grace: timedelta) -> int:
    """How many half-written files, unchanged for `grace`, were removed; on object storage none."""
    folder = _folder(uri)
    if folder is None:
        return 0
    before = time.time() - grace.total_seconds()
    staged = [path for path in folder.rglob("*#*") if _STAGED.search(path.name) and path.stat().st_mtime <= before]
    for path in staged:
        path.unlink(missing_ok=True)
    return len(staged)


def _folder(uri: str) -> Path | None:
    if "://" not in uri:
        return Path(uri)
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def one_of(expression: str, values: Iterable[str]) -> str:
    """The SQL condition that an expression has one of these values.

    >>> one_of("author", ["ann", "o'neill"])
    "author IN ('ann', 'o''neill')"
    """
    quoted = ("'" + value.replace("'", "''") + "'" for value in values)
    return f"{expression} IN ({', '.join(quoted)})"


def these(rows: pa.Table) -> str:
    """The SQL condition for these rows, by id and batch; windows and sources limit the files to read."""
    wanted = {name: rows.column(name).unique().to_pylist() for name in ("window", "source")}
    named = zip(rows.column("id").to_pylist(), rows.column("batch").to_pylist(), strict=True)
    wanted["concat(id, ' ', batch)"] = [f"{name} {batch}" for name, batch in dict.fromkeys(named)]
    return " AND ".join(one_of(name, values) for name, values in wanted.items())


REMEMBERED = 100_000
"""How many ids of each source are remembered to drop duplicates."""
GRACE = timedelta(hours=24)
"""How long unused files are kept for processes that still read them."""

_COMPACT_AFTER = 64  # small files: each one makes every commit slower
_DELETED_AT_ONCE = 5000


@dataclass(frozen=True)
class Appended:
    """The result of storing a batch."""

    committed: bool
    """False if the batch was stored before; then nothing was done."""
    posts: int = 0
    duplicates: int = 0
    """Posts that were not stored because the store has them."""


@dataclass(frozen=True)
class WindowSize:
    """The number of posts in a window, and in its sample."""

    window: Window
    posts: int
    sample: int


class PostStore:
    """The posts of one monitor.

    uri: a folder, or an address such as `s3://bucket/monitor/posts`; Delta uses `storage_options` to reach it.
    windowing: the division of time into windows. A late post is in the window of its own time.
    pseudonyms: if given, names of people are stored as keyed hashes.
    remembered: how many of the newest ids of each source are remembered to drop duplicates.
    """

    def __init__(
        self,
        uri: str | Path,
        windowing: Windowing,
        *,
        storage_options: Mapping[str, str] | None = None,
        pseudonyms: Pseudonyms | None = None,
        remembered: int = REMEMBERED,
    ) -> None:
        self.uri, self.windowing = str(uri), windowing
        self._options = dict(storage_options or {})
        self._pseudonyms, self._remembered = pseudonyms, remembered
        self._recent: dict[tuple[str, bool], RecentIds] = {}
        with guarded(self.uri, "be opened"):
            self._table = self._open()

    def _open(self) -> DeltaTable:
        table = open_table(self.uri, self._options)
        self._small_files = sum(size < FILE_BYTES // 2 for (size,) in files(table, "size_bytes"))
        return table

    def _newest(self) -> DeltaTable:
        self._table.update_incremental()
        return self._table

    # Writing

    def position(self, source: str) -> Position | None:
        """The number and the cursor of the last batch of a source; None before the first batch."""
        with guarded(self.uri, "be read"):
            return delta_log.position(self._newest(), source)

    def append(
        self,
        posts: pa.RecordBatch | pa.Table,
        keywords: Sequence[Sequence[str]],
        *,
        source: str,
        batch: int,
        cursor: str,
        sample: pa.RecordBatch | pa.Table | None = None,
        edited: Iterable[str] = (),
    ) -> Appended:
        """The result of storing a batch: its posts, the posts of the unfiltered sample, and the cursor, in one commit.

        posts: in `POST_SCHEMA`; an empty batch only moves the cursor.
        keywords: the texts of the keywords that each post matches.
        batch: one more than in `position(source)`, at first 1. A batch that is already stored is skipped, so the call
            can be repeated after any error.
        edited: ids of posts with a new text, which may already be stored; note them in `Deletions` first.
        """
        with guarded(self.uri, "be written"):
            if self._small_files >= _COMPACT_AFTER:
                self.compact()
            table = self._newest()
            last = table.transaction_version(delta_log.application(source)) or 0
            if batch <= last:
                return Appended(committed=False)
            if batch != last + 1:
                raise StoreError(f"{self.uri}: batch {batch} of {source} cannot follow batch {last}; start again there")
            given = self._rows(posts, keywords, source, batch)
            if sample is not None:
                given = pa.concat_tables([given, self._rows(sample, None, source, batch)])
            new = self._without_known(given, source, [self.stored_id(name) for name in edited])
            positions = delta_log.positions(table) | {source: Position(batch, cursor)}
            write_deltalake(
                table,
                new,
                mode="append",
                writer_properties=WRITER,
                commit_properties=delta_log.properties(positions, tally(new), source),
            )
        for part in (False, True):
            self._known(source, part).add(part_of(new, part).column("id").to_pylist())
        self._small_files += len(new.group_by(list(PARTITIONS)).aggregate([]))
        return Appended(True, part_of(new, False).num_rows, given.num_rows - new.num_rows)

    def _rows(
        self, posts: pa.RecordBatch | pa.Table, keywords: Sequence[Sequence[str]] | None, source: str, batch: int
    ) -> pa.Table:
        made = post_rows(posts, keywords, source=source, batch=batch, windowing=self.windowing)
        return self._pseudonyms.hide(made) if self._pseudonyms else made

    def _without_known(self, given: pa.Table, source: str, edited: Sequence[str]) -> pa.Table:
        """The rows that are new, judged by the remembered ids, or edited."""
        parts = []
        for part in (False, True):
            own = part_of(given, part)
            parts.append(own.filter(self._known(source, part).fresh(own.column("id"), edited)))
        return pa.concat_tables(parts)

    def _known(self, source: str, part: bool) -> RecentIds:
        """The newest ids of a source; the first call reads them from the table."""
        if (source, part) not in self._recent:
            self._recent[source, part] = RecentIds(self._remembered)
            dataset = self._table.to_pyarrow_dataset()
            for name in reversed(delta_log.names(self._table, source)):
                last = self._table.transaction_version(delta_log.application(name)) or 0
                self._recent[source, part].add(newest_ids(dataset, name, part, last, self._remembered))
        return self._recent[source, part]

    # Reading

    def read(self, windows: Window | Iterable[Window] | None = None, *, sample: bool = False) -> StoredPosts:
        """The posts of one, several or all windows; with `sample`, the unfiltered sample instead."""
        chosen = [windows] if isinstance(windows, Window) else windows
        predicate = f"sample = {str(sample).lower()}"
        if chosen is not None:
            names = ", ".join(f"'{window_name(window.start)}'" for window in chosen)
            predicate += f" AND window IN ({names})" if names else " AND false"
        with guarded(self.uri, "be read"):
            return StoredPosts(self._newest().to_pyarrow_dataset(file_pruning_predicate=predicate), self.uri)

    def windows(self) -> list[WindowSize]:
        """The windows with posts and their sizes, in order; read from the log only."""
        sizes: dict[str, list[int]] = {}
        with guarded(self.uri, "be read"):
            found = list(files(self._newest(), "partition.window", "partition.sample", "num_records"))
        for name, sample, records in found:
            sizes.setdefault(name, [0, 0])[sample] += records
        return [WindowSize(self._window(name), *sizes[name]) for name in sorted(sizes)]

    def _window(self, name: str) -> Window:
        return self.windowing.holding(window_start(name))

    @property
    def version(self) -> int:
        """The number of the newest commit."""
        with guarded(self.uri, "be read"):
            return int(self._newest().version())

    def changes(self, since: int) -> list[Change] | None:
        """The changes of counts after a version, oldest first; None if the log has expired, then use `count`."""
        with guarded(self.uri, "be read"):
            return delta_log.changes(self._newest(), since)

    def count(self, window: Window) -> list[Count]:
        """The counts of a window, from its posts; needed when the log has expired."""
        both = (self.read(window, sample=part) for part in (False, True))
        columns = pa.schema([ROW_SCHEMA.field(name) for name in TALLIED])
        batches = [batch for posts in both for batch in posts.rows(columns)]
        return tally(pa.Table.from_batches(batches, columns))

    # Forgetting

    def delete(
        self,
        names: Iterable[str],
        *,
        source: str | None = None,
        by: Literal["id", "author"] = "id",
        but_newest: bool = False,
    ) -> int:
        """How many posts with these ids, or by these authors, were deleted. `vacuum` removes them from the history too.

        but_newest: whether to keep the newest row of each id, as for an edited post.
        """
        with guarded(self.uri, "be deleted"):
            gone = self._all_of(by, names, source, ["id", "source", "batch", *TALLIED])
            if but_newest:
                gone = outdated(gone)
            found = gone.column("id").unique()
            for at in range(0, len(found), _DELETED_AT_ONCE):  # all rows of an id go in one commit, with their counts
                self._delete(gone.filter(pc.is_in(gone.column("id"), found.slice(at, _DELETED_AT_ONCE))))
        return int(part_of(gone, False).num_rows)

    def ids_by(self, authors: Iterable[str], *, source: str | None = None) -> list[str]:
        """The stored ids of the posts by these authors."""
        with guarded(self.uri, "be read"):
            found = self._all_of("author", authors, source, ["id", "source"])
        return list(found.column("id").unique().to_pylist())

    def _all_of(self, column: str, names: Iterable[str], source: str | None, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows of a source that have one of these names in a column."""
        chosen, table = pc.field(column).isin(pa.array(map(self.stored_id, names), pa.string())), self._newest()
        if source is not None:
            chosen &= pc.field("source").isin(delta_log.names(table, source))
        stored = StoredPosts(table.to_pyarrow_dataset(), self.uri)
        return stored.where(chosen, list(dict.fromkeys([*columns, column])))

    def stored_id(self, name: str) -> str:
        """The stored form of an id or author: the name itself, or its pseudonym."""
        return self._pseudonyms.of(name) if self._pseudonyms else name

    def _delete(self, gone: pa.Table) -> None:
        """Deletes these rows, and notes in the same commit how the counts change."""
        table = self._newest()
        note = delta_log.properties(delta_log.positions(table), negative(tally(gone)))
        table.delete(these(gone), commit_properties=note, writer_properties=WRITER)

    def expire(self, before: datetime) -> list[Window]:
        """The windows that ended before a time; their posts are deleted, and their counts are kept."""
        expired = [size.window for size in self.windows() if size.window.end <= before]
        if expired:
            with guarded(self.uri, "be dropped"):
                table = self._newest()
                names = one_of("window", [window_name(window.start) for window in expired])
                table.delete(names, commit_properties=delta_log.properties(delta_log.positions(table)))
        return expired

    def compact(self) -> None:
        """Joins small files; the posts stay the same."""
        with guarded(self.uri, "be compacted"):
            table = self._newest()
            note = delta_log.properties(delta_log.positions(table))
            table.optimize.compact(target_size=FILE_BYTES, commit_properties=note, writer_properties=WRITER)
            self._table = self._open()
        self._small_files = 0

    def vacuum(self, grace: timedelta = GRACE) -> int:
        """How many files were removed that no version has needed for `grace`; they may hold deleted posts.

        If this runs daily, deleted posts disappear within two days, and the log entries that name them within seven.
        """
        with guarded(self.uri, "be vacuumed"):
            table = self._newest()
            removed = table.vacuum(
                retention_hours=int(grace / timedelta(hours=1)),
                dry_run=False,
                enforce_retention_duration=False,
                full=True,  # also files that a crash left behind
                commit_properties=delta_log.properties(delta_log.positions(table)),
            )
            table.update_incremental()
            table.create_checkpoint()
            table.cleanup_metadata()
            return len(removed) + sweep(self.uri, grace)
