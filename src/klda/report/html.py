"""The report as one HTML file that opens without a network.

Pictures are in the page twice: as SVG, for mail previews and browsers without scripts, and as specifications from which
the inlined Vega draws them again with tooltips and at the width of the screen. A content security policy allows the
page's own scripts by their hashes and nothing else, so that no text of a post can ever run or load anything.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from klda.errors import InputError
from klda.report import phrases
from klda.report.charts.collected import collected
from klda.report.charts.dates import full_date
from klda.report.charts.evolution import evolution
from klda.report.charts.expected import expected
from klda.report.charts.frontier import frontier
from klda.report.charts.theme import ACTIONS, DARK, LIGHT, Spec, themed
from klda.report.charts.topics import topics
from klda.report.charts.words import words
from klda.report.content import Report

STATIC_WIDTH = 680
VEGA_LITE = "6.4"


def render(report: Report) -> str:
    """The page. What the report holds is text, whatever it looks like: nothing in it becomes markup, script or link."""
    environment = _environment()
    style = Markup(environment.get_template("report.css").render(light=LIGHT, dark=DARK))  # noqa: S704 - our own file
    scripts = [_vega(), _source("report.js")]
    pictures = {name: _clean(themed(spec)) for name, spec in _specs(report).items()}
    return environment.get_template("report.html").render(
        report=report,
        proposal=report.proposal,
        summary=phrases.summary(report.proposal, report.budget),
        specs=pictures,
        svgs={name: _svg(spec) for name, spec in pictures.items()},
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
        actions=ACTIONS,
    )


def write(report: Report, path: Path | str) -> None:
    """Writes the page; the file is either the old one or the whole new one, never a part."""
    path = Path(path)
    page = render(report)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(page)
            part.chmod(0o644)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path}: the report cannot be written ({error.strerror}); give another path") from error


def _specs(report: Report) -> dict[str, Spec]:
    """The pictures that the report has data for, by name."""
    proposal = report.proposal
    next_list = proposal.next_keywords.texts
    specs: dict[str, Spec] = {}
    if any(reason.expected_posts for reason in proposal.reasons):
        specs["expected"] = expected(proposal.reasons, proposal.expected_posts, report.budget.max_posts)
    if report.current_topics and report.proposed_topics:
        specs["current"] = topics(report.current_topics, report.proposed_topics, side="current")
        specs["proposed"] = topics(report.proposed_topics, report.current_topics, side="proposed")
    if report.words:
        specs["words"] = words(report.words)
    if report.activity:
        actions = {reason.keyword.text: reason.action for reason in proposal.reasons}
        forecast = {
            reason.keyword.text: reason.expected_posts.mean
            for reason in proposal.reasons
            if reason.expected_posts is not None and reason.action in ("keep", "add")
        }
        specs["evolution"] = evolution(report.activity, actions, forecast)
    if any(row.collected for row in report.activity):
        specs["collected"] = collected(report.activity)
    if len(proposal.frontier) > 1:
        specs["frontier"] = frontier(proposal.frontier, next_list)
    return specs


def _svg(spec: Spec) -> Markup:
    """The picture as SVG, in which Vega has escaped every text."""

    def draw(text: str) -> str:
        svg: str = vl_convert.vegalite_to_svg(text, vl_version=VEGA_LITE, allowed_base_urls=[])
        return svg

    text = json.dumps(spec | {"width": STATIC_WIDTH}, ensure_ascii=False)
    try:
        return Markup(draw(text))  # noqa: S704
    except ValueError:
        # Vega may shorten a label between the two halves of an emoji, and then cannot measure it.
        return Markup(draw(re.sub("[\U00010000-\U0010ffff]", "□", text)))  # noqa: S704


@cache
def _vega() -> Markup:
    """Vega, Vega-Lite and vega-embed as one script."""
    return Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE))  # noqa: S704


@cache
def _source(name: str) -> Markup:
    environment = _environment()
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704 - our own file


def _hash(source: str) -> str:
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


def _clean(node: Any) -> Any:
    """Plain data with every text fit to be shown."""
    if isinstance(node, dict):
        return {key: _clean(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_clean(value) for value in node]
    return phrases.shown(node) if isinstance(node, str) else node


def _finalize(value: Any) -> Any:
    """Every text that a template prints passes here, so that none is forgotten."""
    return phrases.shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("klda.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {
        "count": phrases.count,
        "percent": phrases.percent,
        "between": phrases.between,
        "decimal": phrases.decimal,
        "marked": phrases.marked,
        "date": full_date,
    }
    return environment
