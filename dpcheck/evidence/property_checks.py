"""A bound that code must keep in every case: hypothesis searches for one in which it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dpcheck.bounds.language.claim import Claim, Effort, Evidence, Verdict
from dpcheck.bounds.language.errors import MissingDependency
from dpcheck.evidence.false_alarms import exceeds


@dataclass(frozen=True)
class Property:
    """A bound that an implementation must keep in every case; hypothesis searches for one that does not.

    `measure(case)` gives (measured, bound); `cases` gives each name a range, whole numbers or reals.
    """

    measure: Callable[[Mapping[str, Any]], tuple[float, float]]
    cases: Mapping[str, tuple[float, float]]
    because: str
    examples: int = 100
    kind: ClassVar[str] = "property"

    def run(self, claim: Claim, effort: Effort) -> Evidence:
        given, seed, settings, st, health = hypothesis_parts()
        shares: list[float] = []
        failed: list[Mapping[str, Any]] = []

        @settings(
            max_examples=self.examples * (10 if effort.thorough else 1),
            database=None,
            deadline=None,
            print_blob=False,
            suppress_health_check=list(health),
        )
        @seed(effort.seed)
        @given(st.fixed_dictionaries({k: number(st, *ends) for k, ends in self.cases.items()}))
        def holds(case: Mapping[str, Any]) -> None:
            measured, bound = self.measure(case)
            shares.append(measured / bound if bound else 0.0)
            if exceeds(measured, bound):
                failed.append(case)
                raise AssertionError

        try:
            holds()
        except AssertionError:
            return self.replay(claim, failed[-1])  # the last failure is the shrunk one
        figure = f"at most {max(shares):.3g} of the bound in {len(shares)} cases"
        margin = 1 / max(shares) - 1 if max(shares) > 0 else None
        return Evidence(self.kind, Verdict.SUPPORTED, figure, self.because, margin, seed=effort.seed)

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence:
        measured, bound = self.measure(point)
        verdict = Verdict.REFUTED if exceeds(measured, bound) else Verdict.UNCHECKED
        figure = f"measured {measured:.6g}, bound {bound:.6g}"
        margin = measured / bound - 1 if bound else None
        return Evidence(self.kind, verdict, figure, self.because, margin, counterexample=dict(point))


def number(st: Any, low: float, high: float) -> Any:
    """Whole numbers for whole ends, reals otherwise."""
    if isinstance(low, int) and isinstance(high, int):
        return st.integers(low, high)
    return st.floats(low, high, allow_nan=False)


def hypothesis_parts() -> tuple[Any, Any, Any, Any, Any]:
    """What is needed of hypothesis; all its health checks are to be off, as a claim's case may be slow to measure."""
    try:
        from hypothesis import HealthCheck, given, seed, settings  # late: its import takes longer than most checks
        from hypothesis import strategies as st
    except ImportError as error:
        raise MissingDependency("hypothesis", "the property check", "verify") from error
    return given, seed, settings, st, HealthCheck
