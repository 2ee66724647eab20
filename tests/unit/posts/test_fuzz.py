"""Whatever the bytes: no error but ours, and every record is accounted for."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from klda.errors import InputError
from klda.posts import read_posts
from klda.posts.formats.outcome import Bad, Row, Skip
from klda.posts.parsing import parse_record
from klda.posts.schema import POST_SCHEMA

SAMPLES = sorted((Path(__file__).parents[2] / "data" / "posts").iterdir())
NAMES = ["a.jsonl", "a.csv", "a.json", "a.parquet", "a.txt", "a.jsonl.gz", "a.zst"]

scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=8)
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def survives(content: bytes, name: str, **options: object) -> None:
    """Reads the bytes as a file of this name; it may be refused, but not otherwise fail."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            reader = read_posts(path, **options)  # type: ignore[arg-type]
            for batch in reader.batches():
                assert batch.schema.equals(POST_SCHEMA)
                batch.validate(full=True)
            posts = list(reader)
        except InputError:
            return
        report = reader.report
        assert report.lines == report.accounted
        assert report.posts == len(posts)


@given(st.binary(max_size=400), st.sampled_from(NAMES))
def test_random_bytes(content: bytes, name: str) -> None:
    survives(content, name)


@given(
    st.lists(
        st.sampled_from(
            [
                b"{",
                b"}",
                b"[",
                b"]",
                b'"',
                b",",
                b":",
                b"\n",
                b"\r",
                b"id",
                b"text",
                b"time",
                b"1",
                b"data: ",
                b"\0",
                b"\xff",
                b";",
            ]
        ),
        max_size=60,
    ),
    st.sampled_from(NAMES),
)
def test_random_pieces_of_syntax(pieces: list[bytes], name: str) -> None:
    survives(b"".join(pieces), name)
    survives(b"id,time,text\n" + b"".join(pieces), name)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A sample file with some stretches overwritten, cut out or doubled."""
    sample = draw(st.sampled_from(SAMPLES))
    content = bytearray(sample.read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        end = min(len(content), at + draw(st.integers(0, 20)))
        content[at:end] = draw(
            st.binary(max_size=6)
            | st.just(bytes(content[at:end]) * 2)
            | st.sampled_from([b"", b'"', b"\n", b"null", b"[", b"{}", b"1e999"])
        )
    return sample.name, bytes(content)


@settings(max_examples=200)
@given(mutated(), st.sampled_from([bytes, gzip.compress, zstandard.ZstdCompressor().compress]), st.booleans())
def test_mutations_of_every_format(sample: tuple[str, bytes], pack: object, strict: bool) -> None:
    name, content = sample
    survives(pack(content), name, strict=strict)  # type: ignore[operator]


@given(st.data())
def test_damaged_packs(data: st.DataObject) -> None:
    content = SAMPLES[0].read_bytes() * 30
    packed = bytearray(data.draw(st.sampled_from([gzip.compress, zstandard.ZstdCompressor().compress]))(content))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at : at + 4] = data.draw(st.binary(max_size=4))
    survives(bytes(packed), "a.csv.gz")


@given(st.data())
def test_damaged_parquet(data: st.DataObject) -> None:
    sink = pa.BufferOutputStream()
    table = pa.table(
        {
            "id": [str(i) for i in range(50)],
            "time": [1767607200 + i for i in range(50)],
            "text": ["word " * i for i in range(50)],
        }
    )
    pq.write_table(table, sink, compression="zstd")
    content = bytearray(sink.getvalue().to_pybytes())
    at = data.draw(st.integers(4, len(content) // 2))  # pages, not the footer
    content[at : at + 4] = data.draw(st.binary(max_size=4))
    survives(bytes(content), "a.parquet")


@st.composite
def twisted(draw: st.DrawFn) -> object:
    """A record of some platform in which values, at any depth, are replaced by others."""
    path = draw(st.sampled_from([path for path in SAMPLES if path.suffix == ".jsonl"]))
    record = orjson.loads(draw(st.sampled_from([line for line in path.read_bytes().splitlines() if line])))
    for _ in range(draw(st.integers(1, 4))):
        inner = record
        while isinstance(inner, dict | list) and inner:
            key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
            if not isinstance(inner[key], dict | list) or not inner[key] or draw(st.booleans()):
                inner[key] = draw(json_values)
                break
            inner = inner[key]
    return record


@settings(max_examples=300)
@given(twisted() | json_values)
def test_records_with_values_of_any_type(record: object) -> None:
    outcomes = list(parse_record(record))
    assert outcomes
    assert all(isinstance(outcome, Row | Skip | Bad) for outcome in outcomes)
    survives(orjson.dumps(record), "a.jsonl")
