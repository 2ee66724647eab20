"""The files to read: those of Delta tables, and of folders on object storage, by their address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow import fs

from klda.errors import InputError

GROUP_BYTES = 64 << 20
"""Small files are read by one task, up to this size together."""

Needed = Callable[[Sequence[str], Sequence[str]], Sequence[str]]
"""Takes the columns in the files of a Delta table and its partition columns; returns the needed partition columns."""


@dataclass(frozen=True)
class SourceFile:
    """A file to read: its path or address, whether the user named it, and its size."""

    path: str
    named: bool
    size: int
    constants: tuple[tuple[str, pa.Scalar], ...] = ()
    """Columns with a single value that are not in the (Parquet) file, such as partition columns."""


def address(path: Path | str) -> str | None:
    """The address in a path, from which `Path` removed a slash; None for an ordinary path.

    >>> address(Path("s3://archive/2026")), address("posts.jsonl")
    ('s3://archive/2026', None)
    """
    parts = re.fullmatch(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", str(path))
    if parts is None:
        return None
    return f"file:///{parts[2]}" if parts[1] == "file" else f"{parts[1]}://{parts[2]}"


def is_delta(path: Path | str) -> bool:
    """Whether a folder, on this machine or at an address, is a Delta table."""
    where = address(path)
    if where is None:
        return (Path(path) / "_delta_log").is_dir()
    with _reached(where):
        system, inner = fs.FileSystem.from_uri(where)
        return bool(system.get_file_info(fs.FileSelector(f"{inner}/_delta_log", allow_not_found=True)))


def delta_files(path: Path | str, needed: Needed | None = None) -> list[SourceFile]:
    """The files of the last version of a Delta table, by name, with the needed partition columns (default: all)."""
    try:
        table = DeltaTable(address(path) or str(path))
        added = pa.table(table.get_add_actions(flatten=True))
        uris = sorted(table.file_uris())
        partitions = table.metadata().partition_columns
        own = [field.name for field in table.schema().fields if field.name not in partitions]
    except (DeltaError, OSError) as error:
        raise InputError(f"{path}: not a readable Delta table ({error})") from error
    wanted = partitions if needed is None else needed(own, partitions)
    constants = [(name, added.column(f"partition.{name}")) for name in wanted]
    # An address is the root of the table and the quoted path from the log, so both have the same order.
    order = sorted(range(len(added)), key=lambda row: unquote(added.column("path")[row].as_py()))
    return [
        SourceFile(uri, True, added.column("size_bytes")[row].as_py(), tuple((name, c[row]) for name, c in constants))
        for uri, row in zip(uris, order, strict=True)
    ]


def remote_files(where: str) -> list[SourceFile]:
    """The files at an address; those of a folder are sorted, without hidden files."""
    with _reached(where):
        system, inner = fs.FileSystem.from_uri(where)
        info = system.get_file_info(inner)
        if info.type == fs.FileType.File:
            return [SourceFile(where, True, info.size)]
        if info.type == fs.FileType.NotFound:
            raise InputError(f"{where}: there is no such file or folder; check the address")
        found = sorted(system.get_file_info(fs.FileSelector(inner, recursive=True)), key=lambda one: one.path)
    start, query = where.split("?")[0].rstrip("/"), urlsplit(where).query
    return [
        SourceFile(
            f"{start}{one.path.removeprefix(inner.rstrip('/'))}" + (f"?{query}" if query else ""), False, one.size
        )
        for one in found
        if one.type == fs.FileType.File and not re.search(r"(^|/)\.", one.path.removeprefix(inner))
    ]


def grouped(files: Sequence[SourceFile]) -> list[list[SourceFile]]:
    """Neighbouring files in groups of about 64 MB, so that small files share a task."""
    groups: list[list[SourceFile]] = []
    room = 0
    for file in files:
        if file.size > room or not groups:
            groups.append([])
            room = GROUP_BYTES
        groups[-1].append(file)
        room -= file.size
    return groups


@contextmanager
def on_this_machine(files: Iterable[SourceFile]) -> Iterator[list[tuple[Path, bool]]]:
    """Local paths of these files, each with whether the user named it; remote files are copied for the time of use."""
    with TemporaryDirectory(prefix="klda-") as folder:
        found = []
        for number, file in enumerate(files):
            where, path = address(file.path), Path(file.path)
            if where is not None:
                path = Path(folder) / str(number) / Path(urlsplit(where).path).name
                path.parent.mkdir()
                with _reached(where):
                    system, inner = fs.FileSystem.from_uri(where)
                    fs.copy_files(inner, str(path), system, fs.LocalFileSystem())
            if file.constants:
                path = _with_columns(path, file.constants, Path(folder) / f"{number}-whole")
            found.append((path, file.named))
        yield found


def _with_columns(path: Path, constants: Iterable[tuple[str, pa.Scalar]], folder: Path) -> Path:
    """A copy of a Parquet file with these columns too; another file stays as it is, and the reader reports it."""
    try:
        schema = pq.read_schema(path)
    except (OSError, ValueError, pa.ArrowException):
        return path
    lacking = [(name, value) for name, value in constants if name not in schema.names]  # some writers keep them
    for name, value in lacking:
        schema = schema.append(pa.field(name, value.type))
    folder.mkdir()
    whole = folder / path.name
    with _reached(str(path)), pq.ParquetFile(path) as file, pq.ParquetWriter(whole, schema) as writer:
        for batch in file.iter_batches():
            columns = [*batch.columns, *(pa.repeat(value, len(batch)) for _, value in lacking)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    return whole


@contextmanager
def _reached(where: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{where}: cannot be read ({error}); check the address and the rights") from error
