"""Our own solvers, each with every mistake that fits it: who notices? Written to docs/solver-mutants.md.

    python -m corpus.solver_mutants [--write] [--only STEM ...] [--sample N] [--workers N] [--journal FILE]

`dp.check_solver`, which the suite runs over all solvers, and audits of the worst pair, of output and transcript, look
at each mutant. One whose honest account still keeps the promise is harmless, and not counted as missed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from corpus.mistakes import MISTAKES, Mistake, moved_less, with_noise_of
from dpcheck.audits.trials.spreading import spread
from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.privacy.release import Composed, Released
from dpcheck.progress import Meter
from dpcheck.solver import Solver
from dpcheck.solvers.finding import solvers
from dpcheck.testing.conformance import check_solver, subject_of
from dpcheck.testing.planting import flagged
from dpcheck.testing.subjects import NotConforming, Subject

PAGE = Path(__file__).parents[1] / "docs" / "solver-mutants.md"
BY_NAME = {mistake.name: mistake for mistake in MISTAKES}
TRIALS = 20_000  # of an audit, on each dataset
Named = tuple[str, str]  # a solver's stem and the name of a mistake


@dataclass(frozen=True)
class Looked:
    """What was said of one mutant: the promise that it breaks (empty if none), and whether an audit flags it."""

    stem: str
    mistake: str
    harmless: bool
    promise: str
    audited: bool

    @property
    def noticed(self) -> bool:
        return bool(self.promise) or self.audited


# Making them --------------------------------------------------------------------------------------------
@cache
def class_of(stem: str, mistake: str) -> type[Solver]:
    """A solver's class with the mistake in it."""
    kind = solvers()[stem]

    def rebuilt(self: Solver) -> tuple[Any, ...]:  # a class made here pickles by its names
        return made_again, (stem, mistake, {f.name: getattr(self, f.name) for f in fields(self)})

    own = {**BY_NAME[mistake].overrides(kind), "__reduce__": rebuilt, "__module__": kind.__module__}
    return type(kind.__name__, (kind,), own)


def made_again(stem: str, mistake: str, settings: dict[str, Any]) -> Solver:
    """The mutant with these settings."""
    return class_of(stem, mistake)(**settings)


def mutant_of(stem: str, mistake: str) -> Solver:
    """With the settings on which the solver is tried."""
    solver = solvers()[stem].example().solver
    return made_again(stem, mistake, {f.name: getattr(solver, f.name) for f in fields(solver)})


def subject(solver: Solver) -> Subject:
    return subject_of(solver, None, None, 0, 1e-6, TRIALS, None)


def fitting(stems: Iterable[str]) -> list[Named]:
    """Every mutant there is of these solvers."""
    found = []
    for stem in stems:
        tried = subject(solvers()[stem].example().solver)
        found += [(stem, mistake.name) for mistake in MISTAKES if mistake.fits(tried)]
    return found


# Looking at them ----------------------------------------------------------------------------------------
def look(named: Named) -> Looked:
    """What the suite and an audit say of a mutant."""
    stem, mistake = named[0], BY_NAME[named[1]]
    with mistake.made():
        solver = mutant_of(*named)
        tried = subject(replace_class(solver, stem))
        return Looked(*named, harmless(solver, tried, mistake), broken_promise(solver), caught(solver, tried))


def replace_class(solver: Solver, stem: str) -> Solver:
    """The same settings without the mistake."""
    return solvers()[stem](**{f.name: getattr(solver, f.name) for f in fields(solver)})


def broken_promise(solver: Solver) -> str:
    """The first promise of conformance that it breaks."""
    try:
        check_solver(solver)
    except NotConforming as noticed:
        return noticed.promise
    except DpcheckError as refused:
        return f"refuses: {refused}"
    return ""


def caught(solver: Solver, tried: Subject) -> bool:
    """Whether an audit of the output or of the transcript calls it a violation."""
    for transcript in (False, True):
        try:
            mechanism = solver.mechanism(tried.guarantee, transcript=transcript)
            if flagged(mechanism, tried.pair, tried.guarantee, trials=TRIALS):
                return True
        except DpcheckError:
            continue  # no density of such a transcript, or a refusal: nothing was let out
    return False


def harmless(solver: Solver, tried: Subject, mistake: Mistake) -> bool:
    """Whether the honest release, with the noise that the mutant has, keeps the promise."""
    if not mistake.accounted:
        return False
    data, promised = tried.pair[0], tried.guarantee
    try:
        noisy = solver.calibrated(data, promised)
    except DpcheckError:
        return True  # it refuses, and lets out nothing
    honest = tried.solver.release(data, noisy.plan)
    runs = stretched(with_noise_of(honest, noisy.released), mistake.stretched)
    if isinstance(promised, ApproxDP) and promised.delta > 0:
        with contextlib.suppress(DpcheckError):  # no account of such a release but its calibration
            return float(runs.epsilon(promised.delta).high) <= promised.eps
    due = honest.calibrated(promised)
    pairs = zip(runs.parts, due.parts, strict=True)
    return all(float(a.ratio) <= float(b.ratio) * (1 + 1e-9) for a, b in pairs)


def stretched(released: Released, factor: float) -> Released:
    if isinstance(released, Composed):
        return replace(released, parts=tuple(moved_less(part, factor) for part in released.parts))
    return moved_less(released, factor)


# Counting -----------------------------------------------------------------------------------------------
def looked_at(mutants: Sequence[Named], executor: Any = 1, journal: Path | None = None) -> list[Looked]:
    """All of them, in their order; what a journal has is not looked at again, and each new one is added to it."""
    found = {(one.stem, one.mistake): one for one in written(journal)}
    left = [named for named in mutants if named not in found]
    with Meter("mutants of our solvers", "mutants", len(left)) as meter:
        for done, (_, said) in enumerate(spread(look, left, executor)):
            found[said.stem, said.mistake] = said
            if journal is not None:
                with journal.open("a", encoding="utf-8") as lines:
                    lines.write("\n" + json.dumps(asdict(said)))  # after a line that was cut off, too
            meter.update(done + 1, note=f"{said.stem}: {said.mistake}")
    return [found[named] for named in mutants]


def written(journal: Path | None) -> list[Looked]:
    """What an earlier run found; a line that it did not finish is left out."""
    found = []
    for line in journal.read_text(encoding="utf-8").splitlines() if journal is not None and journal.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):
            found.append(Looked(**json.loads(line)))
    return found


def drawn(mutants: Sequence[Named], count: int, seed: int) -> list[Named]:
    """A random share, in the order of the whole."""
    places = np.random.default_rng(seed).choice(len(mutants), min(count, len(mutants)), replace=False)
    return [mutants[place] for place in sorted(places)]


def page(found: Sequence[Looked], there_are: int, seed: int = 0) -> str:
    """The page: counts by mistake, and every mutant that nobody noticed."""
    counts = {name: Counter[str]() for name in BY_NAME}
    for one in found:
        row = counts[one.mistake]
        row["made"] += 1
        row["harmless"] += one.harmless
        if not one.harmless:
            row["suite"] += bool(one.promise)
            row["audit"] += one.audited
            row["either"] += one.noticed
    total = sum(counts.values(), Counter())
    lines = ["| mistake | kind | mutants | harmless | suite | audits | either |", "|---|---|---|---|---|---|---|"]
    for name, row in [*counts.items(), ("**all**", total)]:
        if not row["made"]:
            continue
        kind = BY_NAME[name].kind if name in BY_NAME else ""
        due = row["made"] - row["harmless"]
        shares = (f"{row[who]} of {due}" for who in ("suite", "audit", "either"))
        lines.append(f"| {name} | {kind} | {row['made']} | {row['harmless']} | {' | '.join(shares)} |")
    due = total["made"] - total["harmless"]
    summary = ", ".join(f"{who} {total[key] / due:.1%}" for who, key in WHO.items()) if due else "nothing to notice"
    missed = [f"- `{one.stem}`: {one.mistake}" for one in found if not one.noticed and not one.harmless]
    stems = {one.stem for one in found}
    of = f"of {len(stems)} of {len(solvers())} solvers"
    share = "" if len(found) == there_are else f" Looked at: {len(found)} of {there_are}, {of}, drawn with seed {seed}."
    if len(stems) < len(solvers()) and not share:
        share = f" Looked at: all mutants {of} ({', '.join(sorted(stems))})."
    return (
        HEAD.format(summary=summary, share=share)
        + "\n".join(lines)
        + "\n\n## Missed\n\n"
        + ("\n".join(missed) or "None.")
        + "\n"
    )


WHO = {"the suite": "suite", "audits alone": "audit", "either": "either"}
HEAD = """# Mutants of our own solvers

Every solver with every mistake that fits it, made on purpose (`corpus/mistakes.py`); written by
`python -m corpus.solver_mutants --write`. The suite is `dp.check_solver`, which the tests run over all solvers; audits
count 20,000 runs of each dataset of the solver's worst pair, its output and its transcript, at a false-alarm rate of
1e-6. Harmless mutants keep the promise after all: by the honest account of what runs. Noise after the projection is
post-processing: it breaks no privacy, so that audits rightly say nothing, but the output may leave the set, and is no
longer what the same steps make of the same answers, which the suite asks of every solver.

Noticed: {summary}.{share}

"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus.solver_mutants", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--only", nargs="+", default=sorted(solvers()), metavar="STEM", help="mutants of these solvers")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--sample", type=int, metavar="N", help="a random share of N of them")
    parser.add_argument("--seed", type=int, default=0, help="the share's (0)")
    parser.add_argument("--journal", type=Path, help="a file to go on from: delete it when the code has changed")
    asked = parser.parse_args()
    mutants = fitting(asked.only)
    share = drawn(mutants, asked.sample, asked.seed) if asked.sample else mutants
    text = page(looked_at(share, asked.workers, asked.journal), len(mutants), asked.seed)
    if asked.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
