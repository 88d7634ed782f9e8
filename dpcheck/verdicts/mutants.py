"""Statements falsified on purpose, and whether their checks notice: a verdict that survives has no teeth.

A mutant is kept only if it is false as far as is known: changed in the direction that falsifies, and below (above)
what the claim's own checks and its corrected versions establish. A hypothesis is dropped or weakened only where a
search then finds a counterexample. What an accountant then certifies on a whole box, with another figure than before,
it has read and found true: such a mutant is counted as true, not as a survivor.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.claim import Check, Claim, Effort, Evidence, Kind, Rate, Verdict, judge, lambdified, pretty
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.language.symbols import NONE, TABLE, T
from dpcheck.bounds.privacy.numeric_checks import CompositionAccountant
from dpcheck.bounds.proving.chains import Chain
from dpcheck.bounds.proving.implications import relations
from dpcheck.bounds.proving.inequalities import counterexample, equations
from dpcheck.bounds.proving.proofs import AtMost, Equals, Sharper
from dpcheck.progress import Meter
from dpcheck.verdicts.catalogue import catalogue, current
from dpcheck.verdicts.verify import entry_of, one_of_many, recorded
from dpcheck.verdicts.written import cache_folder, write_whole

STRONG = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.LOOSE)
DECIDING = ("symbolic", "accountant", "worst-case")  # the kinds whose checks may say one of these
HUGE, MODEST, CLEARLY, RATE_CLEARLY = 1000, sympy.Rational(3, 2), 1.4, 5.0
POINTS = 4000
LATE, TRUE = "out of time", "true after all"
RECORD = Path(__file__).with_name("mutants.json")  # the count that the verdicts page shows


@dataclass(frozen=True)
class Mutant:
    """A false statement made from a claim, and how."""

    how: str
    claim: Claim


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: its verdict if it keeps a strong one, or noticed, true after all, out of time."""

    id: str
    how: str
    statement: str
    verdict: str
    why: str
    seconds: float

    @property
    def survived(self) -> bool:
        return self.verdict in STRONG


@dataclass
class Survey:
    """All outcomes of a run, and how many mutants it did not come to."""

    outcomes: list[Outcome] = field(default_factory=list)
    left: int = 0

    @property
    def survivors(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.survived]

    @property
    def late(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.verdict == LATE]

    def counts(self) -> dict[str, dict[str, int]]:
        """Per document: mutants made, noticed, survivors, true after all, out of time."""
        found: dict[str, Counter[str]] = {}
        for o in self.outcomes:
            kind = "survivors" if o.survived else o.verdict if o.verdict in (LATE, TRUE) else "noticed"
            found.setdefault(o.id.split(".")[0], Counter()).update(["mutants", kind])
        return {document: dict(count) for document, count in found.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts(),
            "not run": self.left,
            "survivors": [asdict(o) for o in self.survivors],
            "out of time": [asdict(o) for o in self.late],
        }


# Making them ---------------------------------------------------------------------------------------
def mutants_of(
    claim: Claim, checks: Sequence[Check], better: Sequence[Claim] = (), found: Sequence[Evidence] = ()
) -> Iterator[Mutant]:
    """The statement falsified in every way that is known to make it false; `found` is what its checks say of it."""
    held = [e for check in checks for e in established(check, claim) if e.free_symbols <= TABLE.keys()]
    held += [b.formula for b in better if b.subject == claim.subject and b.relation == claim.relation]
    held += [claim.formula * room(claim, piece) for piece in found if piece.verdict in STRONG and piece.margin]
    tight = tightness(checks)
    for how, formula, factor in changed(claim):
        if factor is not None and isinstance(claim.states, Rate):
            continue  # a constant is no part of a rate
        if factor is MODEST and not (claim.relation == "=" and claim.kind is not Kind.PRIVACY) and not (held or tight):
            continue  # it may be loose by as much
        if falsifies(claim, formula) and not implied(held, claim, formula):
            yield from made(claim, how, formula=formula)
    if claim.relation in ("<=", ">=", "<", ">") and not any(equates(check) for check in checks):
        yield from made(claim, "direction flipped", flip=True)
    of_the_losses = relations([h for h in claim.assumes if not isinstance(h, sympy.Basic)])
    for condition in claim.conditions:
        if condition not in of_the_losses:  # dropped or not, strongly convex and smooth losses have it
            yield from without(claim, condition, held)


def changed(claim: Claim) -> Iterator[tuple[str, sympy.Expr, Any]]:
    """(how, formula, factor or None): constants, exponents, logarithms, symbols that could be mistaken."""
    formula = claim.formula
    for factor in (sympy.Integer(HUGE), MODEST):
        yield f"times {factor}", formula * factor, factor
        yield f"over {factor}", formula / factor, factor
    symbols = sorted(formula.free_symbols - {*claim.hidden}, key=str)
    for base in unit_free(sorted(claim.symbols - {claim.subject, *claim.hidden}, key=str), symbols):
        for power in (sympy.Rational(1, 2), sympy.Rational(-1, 2)):
            yield f"times ({pretty(base)})^({power})", formula * base**power, None
    for log in sorted(formula.atoms(sympy.log), key=str):
        if log.free_symbols:
            yield f"{pretty(log)} dropped", formula.subs(log, 1), None
    for one, other in combinations(symbols, 2):
        if alike(one, other):
            swap = {one: other, other: one}
            yield f"{pretty(one)} and {pretty(other)} swapped", formula.subs(swap, simultaneous=True), None


def unit_free(symbols: Sequence[sympy.Symbol], wanted: Sequence[sympy.Symbol]) -> Iterator[sympy.Expr]:
    """Symbols without a unit, and quotients and products of two that have none: a slip in units is refused anyway."""
    for symbol in symbols:
        if TABLE[symbol].unit == NONE and symbol in wanted:
            yield symbol
    for one, other in combinations([s for s in symbols if TABLE[s].unit != NONE], 2):
        if one in wanted or other in wanted:
            if TABLE[one].unit == TABLE[other].unit:
                yield one / other
            elif all(a == -b for a, b in zip(TABLE[one].unit, TABLE[other].unit, strict=True)):
                yield one * other


def alike(one: sympy.Symbol, other: sympy.Symbol) -> bool:
    """Whether two symbols could be mistaken for each other: same unit, same domain."""
    a, b = TABLE[one], TABLE[other]
    return (a.unit, a.integer, a.below) == (b.unit, b.integer, b.below)


def falsifies(claim: Claim, formula: sympy.Expr) -> bool:
    """Whether the change goes the wrong way somewhere in the hypotheses, by more than a constant could hide."""
    points = sample(claim, formula)
    old, new = at(claim.formula, points), at(formula, points)
    usable = np.isfinite(old) & np.isfinite(new) & (old != 0)
    if not np.any(usable):
        return False
    ratio = new[usable] / old[usable]
    clearly = RATE_CLEARLY if isinstance(claim.states, Rate) else CLEARLY
    if claim.relation == "=" and claim.kind is not Kind.PRIVACY:
        return bool(np.any(np.abs(ratio - 1) > 1e-6))
    return bool(np.any(ratio > clearly if claim.relation in (">=", ">") else ratio < 1 / clearly))


def implied(held: Sequence[sympy.Expr], claim: Claim, formula: sympy.Expr) -> bool:
    """Whether one of what is established shows the mutant to be true, or all of it together: the best at each point."""
    if any(implies(e, claim, formula) for e in held):
        return True
    best = sympy.Max if claim.relation in (">=", ">") else sympy.Min
    return len(held) > 1 and implies(best(*held, evaluate=False), claim, formula)


def implies(known: sympy.Expr, claim: Claim, formula: sympy.Expr) -> bool:
    """Whether what is established shows the mutant to be true: at every point tried; of a rate, up to a constant."""
    if claim.relation == "=" and claim.kind is not Kind.PRIVACY:
        return False
    points = sample(claim, formula, known)
    held, old, new = (at(e, points) for e in (known, claim.formula, formula))
    usable = np.isfinite(held) & np.isfinite(old) & np.isfinite(new) & (new != 0) & (old != 0)
    if not np.any(usable):
        return False
    upward = claim.relation not in (">=", ">")
    with np.errstate(all="ignore"):
        share, before = (held / e if upward else e / held for e in (new, old))
    room = RATE_CLEARLY * float(np.max(before[usable])) if isinstance(claim.states, Rate) else 1 + 1e-9
    return bool(np.all(share[usable] <= room))


def without(claim: Claim, condition: sympy.Basic, held: Sequence[sympy.Expr]) -> Iterator[Mutant]:
    """The condition dropped, and weakened a thousandfold, where what is established then breaks the statement."""
    rest = [c for c in claim.conditions if c != condition]
    tries: list[tuple[str, list[sympy.Basic]]] = [(f"{pretty(condition)} dropped", rest)]
    sides = isinstance(condition, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt)
    if sides and condition.lts.is_positive and condition.gts.is_positive:
        wider = sympy.Le(condition.lts, HUGE * condition.gts)
        if wider not in (sympy.true, sympy.false):
            tries.append((f"{pretty(condition)} weakened to {pretty(wider)}", [*rest, wider]))
    down = claim.relation in (">=", ">")
    for how, conditions in tries:
        for known in held:
            low, high = (claim.formula, known) if down else (known, claim.formula)
            if isinstance(claim.states, Rate) or counterexample(low, high, conditions=conditions) is None:
                continue
            yield from made(claim, how, conditions=conditions)
            break


def made(
    claim: Claim,
    how: str,
    *,
    formula: sympy.Expr | None = None,
    flip: bool = False,
    conditions: Sequence[sympy.Basic] | None = None,
) -> Iterator[Mutant]:
    """The mutated claim, unless it is no claim at all."""
    new, states = claim.formula if formula is None else formula, claim.states
    turned = {sympy.Le: sympy.Ge, sympy.Ge: sympy.Le, sympy.Lt: sympy.Gt, sympy.Gt: sympy.Lt}
    words = [h for h in claim.assumes if not isinstance(h, sympy.Basic)]
    try:
        if isinstance(states, Rate):
            changed_states: Any = replace(states, of=new, below=states.below != flip)
        else:
            changed_states = (turned[type(states)] if flip else type(states))(claim.subject, new)
        assumes = claim.assumes if conditions is None else [*words, *conditions]
        added = claim.added if conditions is None else [h for h in claim.added if h in assumes]
        found = replace(claim, states=changed_states, assumes=assumes, added=added)
        if found.unit_gap is None or claim.unit_gap is not None:  # the registry refuses a new gap in units
            yield Mutant(how, found)
    except DpcheckError:
        return


# What is known -------------------------------------------------------------------------------------
def established(check: Check, claim: Claim) -> list[sympy.Expr]:
    """What a check shows of the subject before it looks at the statement."""
    if isinstance(check, Chain):
        found = check.known(claim)
        return [] if found is None else [found]
    if isinstance(check, AtMost) and check.against is None:
        return [check.value]
    if isinstance(check, Sharper):
        return [check.bound]
    if isinstance(check, Equals):
        return [check.derived]
    if isinstance(check, CompositionAccountant):
        return [T * check.each]  # losses add up
    return []


def room(claim: Claim, piece: Evidence) -> sympy.Expr:
    """The factor by which the statement may be sharpened and stays true, as its check found."""
    factor = sympy.Rational(repr(1 + max(0.0, float(piece.margin or 0.0))))
    return factor if claim.relation in (">=", ">") else 1 / factor


def equates(check: Check) -> bool:
    """Whether it shows subject and formula to be equal: then the opposite bound is as true."""
    return isinstance(check, Equals) or (isinstance(check, Chain) and check.relation == "=")


def tightness(checks: Sequence[Check]) -> bool:
    """Whether a check compares the statement with an exact value, so that a modest factor shows."""
    return any(getattr(c, "exact", False) is True and getattr(c, "against", None) is None for c in checks)


def sample(claim: Claim, *exprs: sympy.Expr) -> dict[sympy.Symbol, np.ndarray]:
    """Points of the symbols' boxes that meet the claim's hypotheses; all of them if too few do."""
    fixed = equations(claim.conditions)
    names = sorted(claim.symbols.union(*(e.free_symbols for e in exprs)) - fixed.keys(), key=str)
    boxes = [TABLE[s].box if s in TABLE else (1e-2, 1e2) for s in names]
    logs = np.log(np.array(boxes).reshape(-1, 2))
    rng = np.random.default_rng(zlib.crc32(claim.id.encode()))
    unit = rng.random((POINTS, len(names)))
    unit[: POINTS // 4] = np.round(unit[: POINTS // 4])
    values = np.exp(logs[:, 0] + unit * (logs[:, 1] - logs[:, 0])).T
    points = {s: np.maximum(1, np.round(x)) if s.is_integer else x for s, x in zip(names, values, strict=True)}
    points |= {s: at(e, points) for s, e in fixed.items()}
    inside = np.ones(POINTS, bool)
    for condition in claim.conditions:
        if not isinstance(condition, sympy.Eq) and condition.free_symbols <= points.keys():
            used = sorted(condition.free_symbols, key=str)
            with np.errstate(all="ignore"):
                inside &= np.broadcast_to(sympy.lambdify(used, condition, "numpy")(*(points[s] for s in used)), POINTS)
    return {s: x[inside] for s, x in points.items()} if inside.sum() >= 10 else points


def at(expr: sympy.Expr, points: dict[sympy.Symbol, np.ndarray]) -> np.ndarray:
    """The expression at all points."""
    size = len(next(iter(points.values()))) if points else 1
    with np.errstate(all="ignore"):
        try:
            found = lambdified(expr)(*(points[s] for s in sorted(expr.free_symbols, key=str)))
        except (TypeError, ValueError, NameError, KeyError):
            return np.full(size, np.nan)
    return np.broadcast_to(found, size).astype(float)


# Running them --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Basis:
    """A claim with its checks, those that decide first, and what they say of the statement as it is printed."""

    claim: Claim
    checks: tuple[Check, ...]
    found: tuple[Evidence, ...]

    @property
    def strong(self) -> bool:
        """Whether there is a verdict to lose."""
        return judge(self.found, self.claim.kind) in STRONG

    def mutants(self) -> list[Mutant]:
        """The statement falsified, where a corrected version does not show the mutant to be true."""
        from dpcheck.bounds.registry import library

        known = recorded()
        better = [
            library[row.id]
            for row in catalogue().values()
            if row.corrects == self.claim.id and known.get(row.id, {}).get("verdict") in STRONG
        ]
        return list(mutants_of(self.claim, self.checks, better, self.found))


def basis(claim_id: str, effort: Effort) -> Basis:
    """The claim judged as it is printed, by the checks that decide."""
    from dpcheck.verdicts.attached import checks_of

    entry = entry_of(claim_id)
    checks = tuple(sorted(checks_of(entry), key=lambda c: c.kind not in DECIDING))
    found = tuple(c.run(entry.claim, effort) for c in checks if c.kind in DECIDING)
    return Basis(entry.claim, checks, found)


def judged(about: Basis, mutant: Mutant, effort: Effort, seconds: float) -> Outcome:
    """Run the claim's checks on the mutant, those that decide first. A check that refuses it has noticed."""
    started = time.perf_counter()
    found: list[Evidence] = []
    verdict, why = "noticed", ""
    try:
        with TimeLimit(seconds):
            for check in about.checks:
                if check.kind not in DECIDING and judge(found, mutant.claim.kind) not in STRONG:
                    break
                found.append(check.run(mutant.claim, effort))
            verdict = str(judge(found, mutant.claim.kind))
            telling = next((e for e in found if e.verdict == verdict), None)
            why = f"{telling.check}: {telling.figure}" if telling else ""
            if verdict in STRONG and telling is not None and reread(telling, about.found):
                verdict = TRUE
    except OutOfTime:
        verdict = LATE
    except (DpcheckError, ArithmeticError, ValueError, TypeError, KeyError, NotImplementedError) as error:
        verdict, why = "noticed", f"refused: {type(error).__name__}"
    taken = round(time.perf_counter() - started, 2)
    return Outcome(about.claim.id, mutant.how, mutant.claim.text(), verdict, why, taken)


def reread(piece: Evidence, before: Sequence[Evidence]) -> bool:
    """Whether an accountant covered the whole box again and came to other numbers: it has read the mutant."""
    whole = piece.check == "accountant" and not piece.part
    return whole and piece.figure not in {e.figure for e in before}


def survey(
    ids: Iterable[str],
    *,
    sample_size: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    each: float = 60.0,
    total: float = float("inf"),
) -> Survey:
    """The mutants of the claims that are PROVED, CERTIFIED or LOOSE: all, or a random share of so many.

    `each` limits a mutant's seconds, `total` those of the whole run. Finished claims are kept until a file changes
    that they depend on, so a run that was stopped goes on where it was.
    """
    ids = list(ids)
    found, deadline = Survey(), time.monotonic() + total
    if sample_size is not None:
        with Meter("falsifying", "claims", sample_size) as meter:
            for about, mutant in islice(drawn(ids, seed), sample_size):
                if time.monotonic() > deadline:
                    found.left += 1
                    break
                found.outcomes.append(judged(about, mutant, Effort(seed=seed), each))
                meter.update(len(found.outcomes), note=about.claim.id)
        return found
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, initializer=one_of_many) as pool:
        waiting = {pool.submit(judge_all, claim_id, seed, each, deadline): claim_id for claim_id in ids}
        with Meter("falsifying", "claims", len(ids)) as meter:
            for done, future in enumerate(as_completed(waiting), 1):
                outcomes, left = future.result()
                found.outcomes += outcomes
                found.left += left
                meter.update(done, note=waiting[future])
    found.outcomes.sort(key=lambda o: (ids.index(o.id), o.how))
    return found


def drawn(ids: Sequence[str], seed: int) -> Iterator[tuple[Basis, Mutant]]:
    """One random mutant of each claim, the claims in random order."""
    for claim_id in np.random.default_rng(seed).permutation(ids):
        about = basis(str(claim_id), Effort(seed=seed))
        made_ = about.mutants() if about.strong else []
        if made_:
            rng = np.random.default_rng([seed, zlib.crc32(str(claim_id).encode())])
            yield about, made_[int(rng.integers(len(made_)))]


def judge_all(claim_id: str, seed: int, each: float, deadline: float) -> tuple[list[Outcome], int]:
    """All mutants of one claim, as far as time goes; those of an earlier run if nothing has changed since."""
    kept = Kept(claim_id, seed, each)
    found = kept.read()
    if found is not None:
        return found, 0
    found, about = [], basis(claim_id, Effort(seed=seed))
    mutants = about.mutants() if about.strong else []
    for i, mutant in enumerate(mutants):
        if time.monotonic() > deadline:
            return found, len(mutants) - i
        found.append(judged(about, mutant, Effort(seed=seed), each))
    kept.write(found)
    return found, 0


@dataclass(frozen=True)
class Kept:
    """The outcomes of one claim in the user's cache, with the content they were made from."""

    claim_id: str
    seed: int
    each: float

    @property
    def path(self) -> Path:
        return cache_folder() / "mutants" / f"{self.claim_id}.json"

    @property
    def content(self) -> str:
        return f"{current().contents[self.claim_id]} {how_made()} {self.seed} {self.each:g}"

    def read(self) -> list[Outcome] | None:
        try:
            raw = json.loads(self.path.read_text(encoding="utf-8"))
            return [Outcome(**o) for o in raw["outcomes"]] if raw["content"] == self.content else None
        except (OSError, ValueError, TypeError, KeyError):
            return None  # none yet, or damaged: it costs the time to make it

    def write(self, found: Sequence[Outcome]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps({"content": self.content, "outcomes": [asdict(o) for o in found]}))
        except OSError:
            return  # a read-only home costs the resume, not the run


def how_made() -> str:
    """This file in short: how mutants are made is part of what an outcome depends on."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


def seed_of_tree() -> int:
    """One number for all that verdicts depend on: a share drawn with it is the same as long as no file changes."""
    whole = "".join(content for _, content in sorted(current().contents.items()))
    return zlib.crc32(whole.encode())


class OutOfTime(BaseException):
    """Raised in a check that takes too long; nothing in between may catch it."""


class TimeLimit:
    """Ends what runs inside after so many seconds; where signals are not to be had it does nothing."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        if hasattr(signal, "SIGALRM"):
            self.before = signal.signal(signal.SIGALRM, self.end)
            signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def end(self, *_: object) -> None:
        raise OutOfTime

    def __exit__(self, *_: object) -> None:
        if hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
