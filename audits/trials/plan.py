"""AuditPlan: the checked arguments of an audit, what it may test, and where its trials run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpcheck.audits.outputs.encoding import encoding_of
from dpcheck.audits.pairs.neighbours import Neighbours, Pair, as_neighbours
from dpcheck.audits.pairs.query_answers import ANSWERS
from dpcheck.audits.result import Progress
from dpcheck.audits.scores.attacks import checked_attack
from dpcheck.audits.statistics.event_choice import Target, targets
from dpcheck.audits.statistics.intervals import checked_level
from dpcheck.audits.trials.executor import Chunk, Place, Runner
from dpcheck.audits.trials.fingerprints import content
from dpcheck.audits.trials.journal import Journal
from dpcheck.bounds.language.errors import InvalidInput, MixedRelations
from dpcheck.bounds.language.guarantees import LABEL_ONLY, OF_ONE_USER, REPLACE_ONE, STEPS, Guarantee, checked_delta

PILOT, TEST, PROBE, SEARCH = 0, 1, 2, 3  # stages: each has seeds of its own; searches count on from the last
TWINS = 2**20  # the pilot of assume="gdp", after which the other pilot may still be needed; no search counts so far
FEWEST_TRIALS = 20
PROBED_RUNS = 16  # with which a checkpoint sees whether the mechanism is still a function of its seed
BY_HAND = 0.01  # share of alpha that pays for a bound after Ctrl-C, whose time may depend on what was seen


@dataclass(frozen=True)
class AuditPlan:
    """What the caller asked for. Refuses, with a remedy, what cannot be done."""

    mechanism: Any
    guarantee: Any
    max_trials: int
    alpha: float
    seed: int
    attack: Any = "auto"
    delta: float | None = None
    neighbours: Neighbours | None = None
    place: Place = field(default_factory=Place)
    progress: Progress | None = None
    journal: Journal | None = None
    key: str | None = None
    counted: Counter[str] = field(default_factory=Counter, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.mechanism):
            remedy = "Pass the function itself; per_run(f) wraps one of a single run."
            raise InvalidInput("mechanism", self.mechanism, "callable as mechanism(data, rng, trials)", remedy)
        if not isinstance(self.max_trials, int | np.integer) or self.max_trials < FEWEST_TRIALS:
            limit = f"an integer >= {FEWEST_TRIALS}"
            raise InvalidInput("max_trials", self.max_trials, limit, "Use 100_000 for a quick audit.")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InvalidInput("seed", self.seed, "an integer >= 0", "Use seed=0.")
        if self.guarantee is not None and not isinstance(self.guarantee, Guarantee):
            remedy = "Use PureDP(1.0), ApproxDP(1.0, 1e-5), ..., or None to measure."
            raise InvalidInput("guarantee", self.guarantee, "a Guarantee or None", remedy)
        if self.key is not None and not (isinstance(self.key, str) and self.key):
            remedy = "Pass key='laplace, scale 2, census' for example, and another one when either changes."
            raise InvalidInput("key", self.key, "a name for the mechanism and its data, or None", remedy)
        checked_level(self.alpha)
        if self.delta is not None:
            checked_delta(self.delta)
        checked_attack(self.attack)
        if self.neighbours is not None:
            relation = REPLACE_ONE if self.guarantee is None else self.guarantee.relation
            object.__setattr__(self, "neighbours", as_neighbours(self.neighbours, relation))
        if self.guarantee is not None and self.neighbours is not None:
            object.__setattr__(self, "guarantee", claim_for(self.guarantee, self.neighbours))
        object.__setattr__(self, "max_trials", int(self.max_trials))
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "seed", int(self.seed))

    @cached_property
    def goals(self) -> list[Target]:
        """What may be tested; refused when the guarantee claims nothing there."""
        found = targets(self.guarantee, self.delta)
        if not found or not all(np.isfinite(goal.epsilon) for goal in found):
            limit = f"one at which {self.guarantee} claims a finite epsilon"
            raise InvalidInput("delta", self.delta, limit, "Use 1e-5 for example.")
        return found

    def runner(self, pair: Pair) -> Runner:
        """The mechanism on this pair."""
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInput("pair", pair, "two datasets", "Pass pair=(data, neighbour).")
        runner = Runner(self.mechanism, (pair[0], pair[1]), self.seed, self.place, self.journal, ran=self.tell)
        if self.journal is not None:
            self.journal.check(self.mechanism, lambda: _digest(runner.outputs(Chunk(PROBE, 1, 0, PROBED_RUNS, 0))))
        return runner

    def tell(self, chunk: Chunk) -> None:
        """A callback with a method `stage` hears of the runs before the test; those of the test come with a bound."""
        told = getattr(self.progress, "stage", None)
        if chunk.stage == TEST or chunk.side == 0 or not callable(told):
            return
        self.counted["runs"] += chunk.trials
        told("pilot" if chunk.stage in (PILOT, TWINS) else "search", self.counted["runs"], self.max_trials)

    def tell_pace(self, runs: int, seconds: float) -> None:
        """A callback with a method `pace` hears how fast the first runs on one dataset were."""
        told = getattr(self.progress, "pace", None)
        if callable(told):
            told(runs, seconds)

    def checked_pair(self, pair: Pair) -> Pair:
        """The pair itself, if the relation (where one is given) admits it."""
        two = isinstance(pair, tuple | list) and len(pair) == 2
        if self.neighbours is not None and not (two and self.neighbours.is_pair(*pair)):
            limit = f"neighbours ({self.neighbours})"
            raise InvalidInput("pair", pair, limit, "Change one record only, and stay inside the domain.")
        return pair


def _digest(outputs: Any) -> bytes:
    return bytes.fromhex(content(encoding_of(outputs)(outputs)))


def claim_for(guarantee: Guarantee, neighbours: Neighbours) -> Guarantee:
    """The guarantee under the relation of the neighbours; replace-one covers a label and what a single user has.

    Query answers are neighbours by their sensitivity, whatever the relation it was stated for.
    """
    own, theirs = guarantee.relation, neighbours.relation
    covered = own.name == REPLACE_ONE.name and theirs.name in (LABEL_ONLY.name, *OF_ONE_USER)
    if covered or (theirs.name == ANSWERS.name and own.name != ANSWERS.name):
        return replace(guarantee.to_relation(replace(own, size=theirs.size)), relation=theirs)
    if own.name != theirs.name and (own.name, theirs.name) not in STEPS:
        remedy = f"State the guarantee for it: {type(guarantee).__name__}(..., relation=neighbours.relation)."
        raise MixedRelations("the guarantee's relation", str(own), f"that of the neighbours ({theirs})", remedy)
    return guarantee.to_relation(theirs)
