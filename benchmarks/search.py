"""Does the pair search find a pair that violates, when few random pairs do? Releases whose epsilon is known exactly.

Run: python -m benchmarks.search [--seeds 20] [--first-seed 0] [--trials 100000] [--only parity] [--tuning]
    [--executor processes:2]
Each row: the share of random pairs (independent records, one of them changed) whose epsilon is at least 1.5 for a
claim of 1, in how many seeds the pair that the audit chose violates, the true epsilon of these pairs (median), and in
how many the audit says so. The search's constants were chosen on the cases of TUNING alone, on seeds from 1000.
"""

from __future__ import annotations

import argparse
import hashlib
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.executors import add_executor
from benchmarks.pages import write_section
from dpcheck.audits import Neighbours, add_remove, audit, replace_one
from dpcheck.audits.pairs.domains import key
from dpcheck.audits.trials.spreading import in_order, opened
from dpcheck.bounds.language.guarantees import ADD_REMOVE, PureDP

CLAIMED, MEANT = 1.0, 1.5
RANDOM_PAIRS = 2000
HEAD = """\
## Pairs found by search

Releases whose epsilon is known exactly and of which few random pairs violate a claim of 1: the share of random pairs
with an epsilon of 1.5 or more, in how many audits the chosen pair violates, its epsilon (median), and how many audits
say so. {trials} trials, alpha = 0.05, seeds {first} to {last}.

Rerun: `python -m benchmarks.search`

"""
Law = Callable[[tuple[Any, ...]], np.ndarray]


@dataclass(frozen=True)
class Release:
    """One of a few outputs, by a law that depends on the records; `secure` draws without the given rng."""

    law: Law
    near: Neighbours
    secure: bool = False

    def __call__(self, data: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        if self.secure:
            rng = np.random.default_rng(secrets.randbits(128))
        weights = self.law(key(data))
        return np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(trials), side="right")

    def epsilon(self, pair: tuple[Any, Any]) -> float:
        """The largest log-ratio of the two laws, by enumeration of the outputs."""
        first, second = (self.law(key(data)) for data in pair)
        return float(np.abs(np.log(first / first.sum()) - np.log(second / second.sum())).max())

    def share(self, rng: np.random.Generator) -> float:
        """Random pairs that violate by as much as is meant."""
        pairs = [random_pair(self.near, rng) for _ in range(RANDOM_PAIRS)]
        return float(np.mean([self.epsilon(pair) >= MEANT - 1e-9 for pair in pairs]))


def random_pair(near: Neighbours, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Independent records, of which one anywhere is changed or removed."""
    values = np.array(near.domain.values)
    first = rng.choice(values, near.n)
    i = int(rng.integers(near.n))
    if near.relation.name == ADD_REMOVE.name:
        return first, np.delete(first, i)
    second = first.copy()
    second[i] = rng.choice(values[values != first[i]])
    return first, second


def digest(*things: Any) -> np.random.Generator:
    """Randomness that depends on these things alone."""
    return np.random.default_rng(int.from_bytes(hashlib.blake2b(repr(things).encode(), digest_size=8).digest()))


def randomised(truth: int, outputs: int, epsilon: float) -> np.ndarray:
    """Randomised response: the truth is likelier than any other output by e^epsilon."""
    return np.where(np.arange(outputs) == truth, np.exp(epsilon), 1.0)


def tabled(name: str, outputs: int, spread: float) -> Law:
    """A law of its own for each multiset of records: log-weights are normal."""
    return lambda data: np.exp(spread * digest(name, sorted(data)).standard_normal(outputs))


def needles(name: str, outputs: int, share: float, mild: float, rare: float = 0.15) -> Law:
    """Most datasets have mild laws within the claim; a few that are mixed favour a rare output. Order matters."""

    def law(data: tuple[Any, ...]) -> np.ndarray:
        rng = digest(name, data)
        weights = np.exp(mild * rng.uniform(-0.5, 0.5, outputs))
        likely = rare * np.exp(1.55 if rng.random() < share and len({*data}) > 2 else mild * rng.uniform(-0.15, 0.15))
        return np.array([likely, *(1 - likely) * weights[1:] / weights[1:].sum()])

    return law


def sum_reaches(threshold: int) -> Law:
    """Whether the sum reaches a threshold, said too loudly; the last digit of the sum, softly."""

    def law(data: tuple[Any, ...]) -> np.ndarray:
        return np.outer(randomised(int(sum(data) >= threshold), 2, 1.6), randomised(sum(data) % 2, 2, 0.3)).ravel()

    return law


def mixed_only(data: tuple[Any, ...]) -> np.ndarray:
    """The first record's parity, loudly where the others are mixed evenly; otherwise within the claim."""
    counts = Counter(data[1:])
    loud = len(counts) >= 4 and max(counts.values()) <= 3
    return randomised(data[0] % 2, 2, 1.7 if loud else 0.6)


def parity(data: tuple[Any, ...]) -> np.ndarray:
    """The parity of how many records are 0, loudly only where there are as many 1s as 2s."""
    count = Counter(data)
    return randomised(count[0] % 2, 2, 1.6 if count[1] == count[2] else 0.7)


def exclusive_or(data: tuple[Any, ...]) -> np.ndarray:
    """The exclusive or of two bits of two records far from the front."""
    return randomised((data[3] // 2) ^ (data[7] % 2), 3, 1.6)


def jumping_median(data: tuple[Any, ...]) -> np.ndarray:
    """A median on a grid with noise for its sensitivity at this very dataset, which may jump."""
    ranked, k = sorted(data), len(data) // 2
    scale = max(ranked[k + 1] - ranked[k], ranked[k] - ranked[k - 1], 1.0)
    return np.exp(-np.abs(np.arange(10) - ranked[k]) / scale)


def rare_output(data: tuple[Any, ...]) -> np.ndarray:
    """An output of at most one run in ten tells whether two kinds of records have but one member each."""
    alone = sum(count == 1 for count in Counter(data).values())
    return np.array([0.1 if alone >= 2 else 0.1 * np.exp(-1.6), 0.5, 0.4])


def runs_of_equals(data: tuple[Any, ...]) -> np.ndarray:
    """The longest run of equal records, exactly where it is long."""
    longest = now = 1
    for one, two in pairwise(data):
        now = now + 1 if one == two else 1
        longest = max(longest, now)
    return randomised(min(longest, 4), 5, 1.6 if longest >= 3 else 0.6)


def categories(data: tuple[Any, ...]) -> np.ndarray:
    """The commonest category, by a report that is too loud only for a tie."""
    counts = [data.count(value) for value in "abcde"]
    ties = counts.count(max(counts))
    return randomised(int(np.argmax(counts)), 5, 1.7 if ties >= 2 else 0.8)


TUNING: dict[str, Release] = {
    "table of 6 outputs": Release(tabled("tuning", 6, 0.47), replace_one(values=range(5), n=6)),
    "needles of 4 outputs": Release(needles("tuning", 4, 0.03, 0.7), replace_one(values=range(6), n=6)),
    "sum reaches": Release(sum_reaches(25), replace_one(values=range(6), n=7)),
    "mixed only": Release(mixed_only, replace_one(values=range(6), n=9)),
    "needles, secure": Release(needles("tuning", 4, 0.03, 0.7), replace_one(values=range(6), n=6), secure=True),
}
REPORTED: dict[str, Release] = {
    "table of 4 outputs": Release(tabled("four", 4, 0.53), replace_one(values=range(4), n=8)),
    "table of 12 outputs": Release(tabled("twelve", 12, 0.4), replace_one(values=range(3), n=(4, 12))),
    "needles of 3 outputs": Release(needles("three", 3, 0.04, 0.9, 0.12), replace_one(values=range(8), n=5)),
    "needles, add or remove": Release(needles("added", 5, 0.035, 0.6), add_remove(values=range(4), n=9)),
    "needles, secure": Release(needles("secure", 3, 0.04, 0.8), replace_one(values=range(5), n=7), secure=True),
    "parity of a count": Release(parity, replace_one(values=range(4), n=5)),
    "exclusive or": Release(exclusive_or, replace_one(values=range(4), n=10)),
    "jumping median": Release(jumping_median, replace_one(values=range(10), n=7)),
    "rare output": Release(rare_output, replace_one(values=range(4), n=12)),
    "runs of equals": Release(runs_of_equals, replace_one(values=range(3), n=9)),
    "categories": Release(categories, replace_one(values="abcde", n=6)),
}


def one(name: str, trials: int, seed: int) -> tuple[float, bool]:
    """The true epsilon of the pair that an audit chose, and whether it cried violation."""
    release = {**TUNING, **REPORTED}[name]
    claim = PureDP(CLAIMED, relation=release.near.relation)
    result = audit(release, neighbours=release.near, guarantee=claim, max_trials=trials, seed=seed, executor=1)
    return release.epsilon(result.pair), result.violated


def measured(name: str, release: Release, seeds: range, trials: int, executor: Any) -> str:
    """One row of the table."""
    results = in_order(partial(one, name, trials), seeds, executor)
    true = np.array([epsilon for epsilon, _ in results])
    found, said = np.count_nonzero(true > CLAIMED + 1e-9), sum(violated for _, violated in results)
    share = release.share(np.random.default_rng(0))
    return f"| {name} | {share:.1%} | {found} of {len(seeds)} | {np.median(true):.2f} | {said} of {len(seeds)} |"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--only")
    parser.add_argument("--tuning", action="store_true", help="the cases that the search was tuned on")
    add_executor(parser)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    rows = ["| release | random pairs >= 1.5 | chosen pair violates | its epsilon | flagged |", "|---|---|---|---|---|"]
    with opened(given.executor) as executor:
        for name, release in (TUNING if given.tuning else REPORTED).items():
            if given.only in (None, name):
                rows.append(measured(name, release, seeds, given.trials, executor))
                print(rows[-1], flush=True)
    if given.only is None and not given.tuning:
        head = HEAD.format(trials=given.trials, first=seeds[0], last=seeds[-1])
        write_section("strength.md", "search", head + "\n".join(rows))


if __name__ == "__main__":
    main()
