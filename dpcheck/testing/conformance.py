"""Conformance: what every solver must do, whatever its data. `check_solver` tries one promise after the other.

Each is a function of promises_of_runs.py, promises_of_privacy.py or promises_of_utility.py; the first line of its
docstring says what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.guarantees import ApproxDP, Guarantee, PureDP
from dpcheck.progress import Meter
from dpcheck.solver import Solver
from dpcheck.testing import promises_of_privacy as privacy
from dpcheck.testing import promises_of_runs as runs
from dpcheck.testing import promises_of_utility as utility
from dpcheck.testing.assertions import ALPHA
from dpcheck.testing.movement import Broken
from dpcheck.testing.subjects import NotConforming, Subject, Untried

__all__ = ["Conformance", "NotConforming", "check_solver"]

TRIALS = 6000  # of an audit, on each dataset
PROMISES: dict[str, Callable[[Subject], None]] = {
    promise.__name__: promise
    for promise in (
        runs.same_seed_same_bits,
        runs.other_seeds_differ,
        runs.trials_are_independent,
        runs.blocks_run_anywhere,
        runs.refuses_bad_settings,
        runs.refuses_bad_calls,
        runs.rests_on_names_what_is_assumed,
        runs.results_pickle,
        privacy.every_step_is_counted,
        privacy.plans_are_public,
        privacy.output_is_made_of_the_answers,
        privacy.worst_pair_is_one,
        privacy.sensitivity_is_kept_and_reached,
        privacy.sensitivity_is_kept_by_others,
        privacy.stated_noise_is_the_claims,
        privacy.certified_noise_is_the_accounts,
        privacy.certified_noise_is_private,
        privacy.certified_noise_is_private_on_others,
        privacy.planted_bug_is_flagged,
        privacy.density_is_exact,
        utility.outputs_stay_in_the_set,
        utility.error_is_within_its_certified_bound,
    )
}


@dataclass(frozen=True)
class Conformance:
    """Of a solver that broke no promise: those it kept, and those that could not be tried, with the reason."""

    solver: str
    kept: tuple[str, ...]
    untried: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        rows = [f"  kept     {promise}" for promise in self.kept]
        rows += [f"  untried  {promise}: {why}" for promise, why in self.untried]
        return "\n".join([f"{self.solver} conforms.", *rows])


def check_solver(
    solver: Solver | type[Solver],
    *,
    data: Any = None,
    guarantee: Guarantee | None = None,
    seed: int = 0,
    alpha: float = ALPHA,
    trials: int = TRIALS,
    bug: float | None = None,
    promises: Sequence[str] | None = None,
) -> Conformance:
    """Try what every solver must do, and raise NotConforming at the first promise that it breaks.

    A solver with its settings, or a class, which is tried with the settings of its `example()`. `data` and `guarantee`
    are those of the example unless given; the worst pair is the solver's own. Each statistical test fails a solver
    that keeps its promise with probability at most `alpha`; audits take `trials` runs, and must flag the same solver
    with its noise times `bug`, by default the example's. `promises` names some, by default all are tried. The result
    says which could not be.

    >>> from dpcheck.solvers.mechanisms.laplace import LaplaceMechanism
    >>> print(check_solver(LaplaceMechanism(), promises=["same_seed_same_bits"]))
    laplace conforms.
      kept     the same seed gives the same bits, traced or not
    """
    subject = subject_of(solver, data, guarantee, seed, alpha, trials, bug)
    kept, untried = [], []
    names = list(PROMISES if promises is None else promises)
    with Meter(f"checking {subject.solver.name}", "promises", len(names)) as meter:
        for done, name in enumerate(names):
            if name not in PROMISES:
                raise InvalidInput("promises", name, f"among {', '.join(PROMISES)}", "Leave it out to try all.")
            words = in_words(name)
            meter.update(done, note=words)
            try:
                PROMISES[name](subject)
            except Untried as reason:
                untried.append((words, str(reason)))
            except Broken as broken:
                raise NotConforming(type(subject.solver).__name__, words, str(broken)) from None
            except Exception as failed:
                seen = f"{type(failed).__name__}: {failed}"
                raise NotConforming(type(subject.solver).__name__, words, seen) from failed
            else:
                kept.append(words)
    return Conformance(subject.solver.name, tuple(kept), tuple(untried))


def in_words(name: str) -> str:
    """A promise as a sentence: the first line of its function's docstring."""
    line = (PROMISES[name].__doc__ or name).splitlines()[0].rstrip(".")
    return line[0].lower() + line[1:]


def subject_of(
    solver: Solver | type[Solver],
    data: Any,
    guarantee: Guarantee | None,
    seed: int,
    alpha: float,
    trials: int,
    bug: float | None,
) -> Subject:
    """What is tried, with all that was not said filled in."""
    kind = solver if isinstance(solver, type) else type(solver)
    if not issubclass(kind, Solver):
        raise InvalidInput("solver", solver, "a Solver or a class of them", "Pass dp.solvers.DPGD, for example.")
    example = kind.example()
    if isinstance(solver, Solver):
        example = replace(example, solver=solver)
    pair = example.solver.worst_pair()
    data = example.data if data is None else data
    data = pair[0] if data is None else data
    promised = guarantee or example.guarantee or accepted(example.solver, pair[0])
    factor = example.bug if bug is None else bug
    return Subject(
        example.solver, data, pair, promised, example.neighbour, example.reaches, seed, alpha, trials, factor
    )


def accepted(solver: Solver, data: Any) -> Guarantee:
    """A guarantee that the solver can be calibrated to: approximate DP or, failing that, pure."""
    relation = solver.relations[0]
    refusals = []
    for tried in (ApproxDP(1.0, 1e-2, relation=relation), PureDP(1.0, relation=relation)):
        try:
            solver.calibrated(data, tried)
        except InvalidInput as refused:
            refusals.append(refused)
        else:
            return tried
    raise refusals[0]
