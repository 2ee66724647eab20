"""What `benchmarks.quality` measured, as the part of `docs/history/benchmarks.md` between its marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.markdown import closed_loop, next_lists, open_loop, text

Plain = dict[str, Any]
BEGIN, END = "<!-- quality: begin -->", "<!-- quality: end -->"
FIGURES = (
    "next_list_f1",
    "next_list_ratio",
    "next_list_subject_ratio",
    "next_list_least_ratio",
    "next_list_lead",
    "next_list_f1_without_vectors",
    "next_list_ratio_without_vectors",
    "next_list_subject_ratio_without_vectors",
    "next_list_least_ratio_without_vectors",
    "next_list_lead_without_vectors",
    "skill",
    "skill_vs_counting",
    "skill_vs_counting_scored",
    "accuracy_vs_viral",
    "coverage_vs_viral",
    "corrected_skill",
    "gap_closed",
    "ahead_of_last_lda",
    "closed_loop_f1",
    "closed_loop_f1_without_vectors",
    "closed_loop_gap",
    "closed_loop_gap_singly",
    "shock_recall",
)


def rewrite(page: Path, archives: dict[str, Plain]) -> None:
    """Puts the tables between the marks of a page; what is around them stays."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{tables(archives)}{END}{after}", encoding="utf-8")


def tables(archives: dict[str, Plain]) -> str:
    """Figures, main tables, ablation and losses of every archive."""
    parts = []
    for name, found in archives.items():
        parts.append(f"### `{name}`\n\n{_figures(found)}")
        if "labelled" in found:
            parts.append(f"Next lists by labels, all earlier posts known:\n\n{next_lists(found['labelled'])}")
            parts.append(_subjects(found["labelled"]))
        if "open_loop" in found:
            parts.append("Open loop, every post of a candidate known (history `full`):")
            parts += _open_parts(found["open_loop"])
        if "list_only" in found:
            figures = _figures(found["list_only"])
            parts.append(f"Open loop, only the list's own posts known (history `static`):\n\n{figures}")
            parts += _open_parts(found["list_only"]["open_loop"])
        if "fit" in found:
            parts.append(_fit(found))
        if "closed_loop" in found:
            parts += _closed_parts("Closed loop", found["closed_loop"])
        if "with_sample" in found:
            figures = _figures(found["with_sample"])
            parts.append(f"With a sample of the stream to look at beside the list:\n\n{figures}")
            parts += _closed_parts("Closed loop, with a sample", found["with_sample"]["closed_loop"])
    return "\n" + "\n".join(part.rstrip() + "\n" for part in parts) + "\n"


def _open_parts(summary: Plain) -> list[str]:
    """Main tables, comparisons, ablation and losses of an open loop."""
    return [
        open_loop(summary, lambda policy: "~" not in policy),
        _paired(summary),
        f"`klda` with a part of it off:\n\n{_ablation(summary)}",
        _losses(summary),
    ]


def _closed_parts(title: str, summary: Plain) -> list[str]:
    """Main table, comparisons and subjects of a closed loop."""
    return [f"{title}:\n\n{closed_loop(summary)}", _paired_loops(summary), _subjects(summary)]


def _figures(found: Plain) -> str:
    known = [name for name in FIGURES if found.get(name) is not None]
    return "\n".join([f"- `{name}`: {found[name]:.3g}" for name in known]) + "\n"


def _ablation(summary: Plain) -> str:
    tops = list(summary["ceiling"])
    lines = [
        "| variant | " + " | ".join(f"accuracy, top {t}, raw / corrected" for t in tops) + " |",
        "|---" * (len(tops) + 1) + "|",
    ]
    for name in summary["policies"]:
        if name.partition("~")[0] == "klda":
            cells = [
                " / ".join(
                    f"{part['policies'][name]['accuracy'][t]['mean']:.3f}" for part in (summary, summary["corrected"])
                )
                for t in tops
            ]
            lines.append(f"| {name.partition('~')[2] or '`klda`, everything on'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _paired(summary: Plain) -> str:
    """How far the default is ahead of every other policy in accuracy, case by case."""
    tops = list(summary["ceiling"])
    columns = [f"top {t}, {reading}" for t in tops for reading in ("raw", "corrected")]
    lines = ["| ahead of | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in summary["paired"].get("klda", {}):
        if "~" not in name:
            cells = [text(part["paired"]["klda"][name][t]) for t in tops for part in (summary, summary["corrected"])]
            lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    comparisons = f"{summary['n_comparisons']} comparisons in all"
    return f"Accuracy of `klda` less that of others, paired ({comparisons}):\n\n" + "\n".join(lines)


def _paired_loops(summary: Plain) -> str:
    """How far every policy is ahead of the first list, week by week."""
    lines = ["| less `static` | F1 | recall |", "|---|---|---|"]
    for name, found in summary["paired"].items():
        lines.append(f"| `{name}` | {text(found['static']['f1'], 3)} | {text(found['static']['recall'], 3)} |")
    return "Paired differences:\n\n" + "\n".join(lines)


def _losses(summary: Plain) -> str:
    """Every policy that is ahead of the default somewhere, named."""
    lines = []
    for reading, part in (("raw", summary), ("corrected", summary["corrected"])):
        own = part["policies"].get("klda")
        for name, entry in part["policies"].items():
            ahead = [t for t in part["ceiling"] if own and entry["accuracy"][t]["mean"] > own["accuracy"][t]["mean"]]
            if ahead and "~" not in name:
                lines.append(f"- `{name}` is ahead of `klda` in accuracy, {reading} truth, top {' and '.join(ahead)}.")
    return "Losses:\n\n" + ("\n".join(lines) or "- none in accuracy.")


def _fit(found: Plain) -> str:
    lines = ["| model | log-likelihood | completion |", "|---|---|---|"]
    lines += [f"| {m} | {s['log_likelihood']:.3f} | {s['completion']:.3f} |" for m, s in found["fit"].items()]
    return f"Next week's words, nats a token, mean of {found['fit_cases']} cases:\n\n" + "\n".join(lines)


def _subjects(summary: Plain) -> str:
    names = list(summary["policies"])
    lines = [
        "F1 by subject:",
        "",
        "| subject | " + " | ".join(f"`{n}`" for n in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for subject, entry in summary["subjects"].items():
        cells = [f"{entry[n]['f1']:.3f}" if n in entry and entry[n]["f1"] is not None else "–" for n in names]
        lines.append(f"| {subject} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
