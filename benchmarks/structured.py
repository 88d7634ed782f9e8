"""What an audit finds in outputs that are no arrays: dictionaries, text, tables, sets, long tuples, against an oracle.

Run: python -m benchmarks.structured [--seeds 5]
The table goes into docs/strength.md.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime as dt
import decimal
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
from scipy import stats

from benchmarks.pages import write_section
from dpcheck.audits import audit, per_run
from dpcheck.audits.statistics.ratio import ratio_bound
from dpcheck.bounds.language.guarantees import PureDP

TRIALS = 20_000
ALPHA = 0.05
SCALE = 0.05  # of Laplace noise on a count that moves by one: true epsilon 20
Answer = collections.namedtuple("Answer", "n count")
DAY = dt.datetime(2020, 1, 1)


@dataclasses.dataclass
class Release:
    count: float
    note: str


FORMS: dict[str, Callable[[float], Any]] = {
    "dict": lambda x: {"count": x},
    "nested dicts": lambda x: {"a": {"b": [1, {"c": x}]}},
    "dict of arrays": lambda x: {"w": np.array([1.0, x])},
    "dataclass": lambda x: Release(x, "ok"),
    "named tuple": lambda x: Answer(3, x),
    "JSON": lambda x: json.dumps({"n": 10, "count": x}),
    "formatted string": lambda x: f"about {x:.6f} people",
    "bytes": lambda x: str(x).encode(),
    "packed bytes": lambda x: struct.pack("<d", x),
    "Decimal": decimal.Decimal,
    "datetime": lambda x: DAY + dt.timedelta(seconds=x),
    "pandas Series": lambda x: pandas.Series({"a": 1.0, "b": x}),
    "pandas DataFrame": lambda x: pandas.DataFrame({"x": [1.0, x], "y": ["u", "v"]}),
    "tuple, position 70": lambda x: (*[0.0] * 70, x, 1.0),
    "tuple of text, position 81": lambda x: (*["x"] * 81, x, None),
}


@dataclasses.dataclass(frozen=True)
class Noisy:
    """A count with Laplace noise, in some form."""

    form: Callable[[float], Any]

    def __call__(self, data: float, rng: np.random.Generator) -> Any:
        return self.form(data + rng.laplace(scale=SCALE))


def zero_inside(data: float, rng: np.random.Generator) -> frozenset[int]:
    """Contains 0 on one dataset only."""
    return frozenset([*([0] if data else []), *rng.integers(1, 9, size=3).tolist()])


def oracle(p: float, q: float, seeds: int) -> float:
    """The median bound of an audit that is told the event and spends every trial on it."""
    counts = np.random.default_rng(0).binomial(TRIALS, [[p, q]] * max(seeds, 101)).tolist()
    return float(np.median([ratio_bound(k, j, TRIALS, delta=0.0, alpha=ALPHA) for k, j in counts]))


def section(seeds: range) -> str:
    """The table as Markdown."""
    half = stats.laplace.sf(0.5, loc=1.0, scale=SCALE), stats.laplace.sf(0.5, scale=SCALE)
    cases = {name: (Noisy(form), 20.0, half) for name, form in FORMS.items()}
    rows = [
        "## Outputs that are no arrays",
        "",
        f"{TRIALS} trials, a claimed epsilon of 1; the oracle is told the event. Median of {len(seeds)} audits.",
        "Rerun: `python -m benchmarks.structured`",
        "",
        "| output | true epsilon | found | oracle | found / oracle | event of the first audit |",
        "|---|---|---|---|---|---|",
    ]
    for name, (release, true, rates) in {**cases, "frozenset": (zero_inside, np.inf, (1.0, 0.0))}.items():
        asked: dict[str, Any] = {"pair": (0.0, 1.0), "guarantee": PureDP(1.0), "max_trials": TRIALS, "alpha": ALPHA}
        found = [audit(per_run(release), seed=seed, **asked) for seed in seeds]
        middle, best = float(np.median([result.epsilon_lower for result in found])), oracle(*rates, len(seeds))
        event = str(found[0].event).replace("|", "\\|")
        rows.append(f"| {name} | {true:g} | {middle:.3f} | {best:.3f} | {middle / best:.2f} | `{event}` |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    given = parser.parse_args()
    write_section("strength.md", "structured outputs", section(range(given.first_seed, given.first_seed + given.seeds)))
