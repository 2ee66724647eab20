"""Pages: HTML files that open without a network, shared by all reports.

Pictures are in a page twice. SVG is for mail previews and browsers without scripts. From the specifications, the
inlined Vega draws the pictures again, with tooltips and at the width of the screen. A content security policy allows
only the scripts of the page, by their hashes, so no text of a post can run or load anything.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment
from markupsafe import Markup

from klda.errors import InputError
from klda.report.charts.theme import CATEGORIES, DARK, LIGHT, Spec, full_date, themed
from klda.report.templating import cleaned, environment

STATIC_WIDTH = 680
VEGA_LITE = "6.4"


def page(template: str, pictures: Mapping[str, Spec], *, static_width: int = STATIC_WIDTH, **content: Any) -> str:
    """The page of a template with these pictures, as HTML.

    The content is always shown as text; it never becomes markup, a script or a link.
    """
    environment = _environment()
    style = Markup(  # noqa: S704 - our own file
        environment.get_template("report.css").render(light=LIGHT, dark=DARK, categories=CATEGORIES)
    )
    scripts = [_vega(), _source("report.js")]
    specs = {name: cleaned(themed(spec)) for name, spec in pictures.items()}
    return environment.get_template(template).render(
        specs=specs,
        svgs={name: _svg(spec, static_width) for name, spec in specs.items()},
        style=style,
        scripts=scripts,
        policy="; ".join(
            [
                "default-src 'none'",
                f"script-src {' '.join(_hash(script) for script in scripts)}",
                f"style-src {_hash(style)}",
                "base-uri 'none'",
                "form-action 'none'",
            ]
        ),
        **({"version": version("klda")} | content),
    )


def write_page(html: str, path: Path | str) -> None:
    """Writes a page. The old file is replaced at once, so a file is always complete."""
    path = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(html)
            part.chmod(0o644)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path}: the report cannot be written ({error.strerror}); give another path") from error


def _svg(spec: Spec, width: int) -> Markup:
    """The picture as SVG; Vega escapes every text in it."""

    def draw(text: str) -> str:
        svg: str = vl_convert.vegalite_to_svg(text, vl_version=VEGA_LITE, allowed_base_urls=[])
        return svg

    text = json.dumps(spec | {"width": width}, ensure_ascii=False)
    try:
        return Markup(draw(text))  # noqa: S704
    except ValueError:
        # Vega may cut a label between the two halves of an emoji, and then cannot measure it.
        return Markup(draw(re.sub("[\U00010000-\U0010ffff]", "□", text)))  # noqa: S704


@cache
def _vega() -> Markup:
    """One script with Vega, Vega-Lite and vega-embed."""
    vendor = files("klda.report") / "vendor"
    parts = ((vendor / name / f"{name}.min.js").read_text("utf-8") for name in ("vega", "vega-lite", "vega-embed"))
    return Markup(";\n".join(parts))  # noqa: S704 - files of the package


@cache
def _source(name: str) -> Markup:
    made = _environment()
    assert made.loader is not None
    return Markup(made.loader.get_source(made, name)[0])  # noqa: S704 - our own file


def _hash(source: str) -> str:
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


@cache
def _environment() -> Environment:
    made = environment("klda.report")
    made.filters["date"] = full_date
    return made
