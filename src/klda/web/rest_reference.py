"""The reference of the REST API in Markdown, made from its schema: `python -m klda.web.rest_reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from klda.web.application import create_app
from klda.web.studio_settings import StudioSettings

Plain = dict[str, Any]


def rest_reference() -> str:
    """Every address with its method, parameters, body and answer, as Markdown."""
    schema = create_app(StudioSettings(Path("monitors"))).openapi()
    lines = [
        "# REST API",
        "",
        "Written by `make docs` from the program itself. The studio shows the same at `/api`.",
        "It serves the schema (OpenAPI) at `/api/v1/openapi.json`.",
        "How to send a token is in [Approve in the studio](../how-to/studio.md#tokens-for-a-team).",
        "",
    ]
    sections: dict[str, list[str]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            sections.setdefault(operation["tags"][0], []).extend(_operation(method.upper(), path, operation))
    for tag, found in sections.items():
        lines += [f"## {tag.capitalize()}", "", *found]
    lines += ["## Bodies", "", *_bodies(schema)]
    return "\n".join(lines).rstrip() + "\n"


def _operation(method: str, path: str, operation: Plain) -> Iterator[str]:
    yield f"### `{method} {path}`"
    yield ""
    yield " ".join((operation.get("description") or operation["summary"]).split())
    yield ""
    rows = [
        f"| `{one['name']}` | {_type(one['schema'])} | {_default(one, one['schema'])} |"
        for one in operation.get("parameters", [])
        if one["in"] != "path" or "enum" in one["schema"]  # the address itself shows the others
    ]
    if rows:
        yield from ("| parameter | type | default |", "|---|---|---|", *rows, "")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body (`{kind}`): {_type(content['schema'])}."
        yield ""


def _bodies(schema: Plain) -> Iterator[str]:
    """Yields the objects that requests send."""
    wanted = sorted({name for name in _sent(schema) if name in schema["components"]["schemas"]})
    for name in wanted:
        body = schema["components"]["schemas"][name]
        yield from (f"### `{name}`", "", "| field | meaning | type | default |", "|---|---|---|---|")
        required = set(body.get("required", []))
        for field, value in body.get("properties", {}).items():
            meaning = value.get("description", "")
            default = _default({"required": field in required}, value)
            yield f"| `{field}` | {meaning} | {_type(value)} | {default} |"
        yield ""


def _sent(schema: Plain) -> Iterator[str]:
    for methods in schema["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                yield content["schema"].get("$ref", "").rpartition("/")[2]


def _type(schema: Plain) -> str:
    """A type in words, with a link to the object that it names."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[`{name}`](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("const") or schema.get("type") or "any")


def _default(holder: Plain, schema: Plain) -> str:
    if holder.get("required"):
        return "required"
    return "" if schema.get("default") in (None, "") else f"`{schema['default']}`"


if __name__ == "__main__":
    sys.stdout.write(rest_reference())
