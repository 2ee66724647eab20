"""Table 6 over all cases: means with intervals, differences between policies, and the paper's claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from klda.arrays import Floats
from klda.evaluation.backtest_summary import mean, plain
from klda.evaluation.intervals import Grid, interval
from klda.evaluation.paper_tables import RANDOM, Cell, Table, random_scores
from klda.evaluation.result_cache import Plain
from klda.types import Estimate

LITERAL, VIRAL = PAPERS = ("klda-paper", "viral")
"""The paper's two methods."""
MEASURES = ("accuracy", "coverage")
RATIOS = {(2, VIRAL): "1.74", (3, VIRAL): "1.61", (2, RANDOM): "about 3", (3, RANDOM): "about 3"}
"""The paper's ratio of the accuracy of KLDA to that of another method, by size of lists."""
COVERAGES = {2: "-0.27 (0.36 against 0.63)", 3: "-0.14 (0.41 against 0.55)"}
"""The coverage of KLDA less that of `viral` in the paper's Table 6, by size of lists."""


@dataclass(frozen=True)
class Performance:
    """Accuracy and coverage of each policy in each case, by the paper's reading of the truth."""

    grid: Grid
    policies: tuple[str, ...]
    tops: tuple[int, ...]
    n_cases: int
    seed: int

    @classmethod
    def of(cls, cases: Sequence[Plain], tops: Sequence[int], seed: int = 0) -> Performance:
        """The scores of the policies that answered, and of the paper's random set."""
        names = dict.fromkeys(name for case in cases for name, a in case["answers"].items() if a.get("scores"))
        rows = []
        for case in cases:
            measured: dict[str, float] = {}
            for top in tops:
                scores = {name: case["answers"].get(name, {}).get("scores", {}).get(f"raw/{top}", {}) for name in names}
                scores[RANDOM] = random_scores(case, top, PAPERS, seed=seed)
                for name, found in scores.items():
                    values = {m: found.get(m) for m in MEASURES}
                    measured |= {_key(name, m, top): np.nan if v is None else v for m, v in values.items()}
            rows.append((case["subject"], case["week"], measured))
        return cls(Grid.of(rows), (*names, RANDOM), tuple(tops), len(cases), seed)

    def table(self) -> Table:
        """Each policy's means with their intervals."""
        rows: list[tuple[Cell, ...]] = [
            (name, *(plain(mean(self.grid, _key(name, m, top), self.seed)) for top in self.tops for m in MEASURES))
            for name in self.policies
        ]
        columns = ("policy", *(f"{measure}, top {top}" for top in self.tops for measure in MEASURES))
        cases = f"{self.n_cases} case{'s' if self.n_cases != 1 else ''}"
        return Table(f"Table 6. Performance, mean of {cases} with 95 % intervals", columns, tuple(rows))

    def differences(self) -> Table:
        """The literal recipe less each other policy, on the cases that both answered."""
        rows: list[tuple[Cell, ...]] = [
            (name, *(plain(self.difference(name, m, top)) for top in self.tops for m in MEASURES))
            for name in self.policies
            if name != LITERAL and LITERAL in self.policies
        ]
        columns = ("policy", *(f"{measure}, top {top}" for top in self.tops for measure in MEASURES))
        return Table(f"Table 6. {LITERAL} less each other policy, with 95 % intervals", columns, tuple(rows))

    def difference(self, other: str, measure: str, top: int) -> Estimate:
        """The literal recipe less another policy."""
        return self._compared(other, measure, top, np.subtract)

    def ratio(self, other: str, measure: str, top: int) -> Estimate:
        """The ratio of the literal recipe's mean to that of another policy."""
        return self._compared(other, measure, top, np.divide)

    def _compared(self, other: str, measure: str, top: int, compare: np.ufunc) -> Estimate:
        one, two = _key(LITERAL, measure, top), _key(other, measure, top)
        if one not in self.grid.measures or two not in self.grid.measures:
            return Estimate(float("nan"), float("nan"), float("nan"))
        both = self.grid.together(one, two)

        def statistic(means: Mapping[str, Floats]) -> Floats:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = compare(means[one], means[two])
            return np.where(np.isfinite(found), found, np.nan)

        return interval(both, statistic, generator=np.random.default_rng(self.seed))


def claims(
    performance: Performance, perplexity: Table | None, cases: Sequence[Plain], tops: Sequence[int], seed: int
) -> Table:
    """The claims of the paper, with its number and the number found here."""
    rows: list[tuple[Cell, ...]] = []
    for (top, other), printed in RATIOS.items():
        if top in tops:
            claim = f"accuracy of {LITERAL} ÷ that of {other}, top {top}"
            rows.append((claim, printed, plain(performance.ratio(other, "accuracy", top))))
    for top, printed in COVERAGES.items():
        if top in tops:
            claim = f"coverage of {LITERAL} less that of {VIRAL}, top {top}"
            rows.append((claim, printed, plain(performance.difference(VIRAL, "coverage", top))))
    if perplexity is not None:
        claim = "share of the way from no training to LDA of the same week, as printed"
        rows.append((claim, "0.53, 0.61, 0.40", perplexity.rows[-1][-1]))
    shares = [
        (
            case["subject"],
            case["week"],
            {f"{name}/{top}": share for name, of_top in found.items() for top, share in of_top.items()},
        )
        for case in cases
        for found in case["overlap"].values()
    ]
    for top in tops if shares else ():
        grid = Grid.of(
            [
                (
                    subject,
                    week,
                    {"others": _mean_of(found, top, chance=False), "chance": _mean_of(found, top, chance=True)},
                )
                for subject, week, found in shares
            ]
        )
        claim = f"words in common with KL's lists under other divergences, top {top}"
        chance = mean(grid, "chance", seed).mean
        rows.append((claim, "largely similar", plain(mean(grid, "others", seed))))
        rows.append((f"the same for random orders, top {top}", None, None if np.isnan(chance) else round(chance, 4)))
    return Table("Claims of the paper, and what is found here", ("claim", "paper", "here"), tuple(rows))


def _mean_of(found: Mapping[str, float | None], top: int, *, chance: bool) -> float:
    """The mean share of the divergences other than KL, or that of random orders."""
    wanted = [
        share
        for name, share in found.items()
        if name.endswith(f"/{top}") and name.startswith("chance/") == chance and share is not None
    ]
    return float(np.mean(wanted)) if wanted else np.nan


def _key(name: str, measure: str, top: int) -> str:
    return f"{name}/{measure}/{top}"
