"""Accountants of other libraries against the laws of corpus/accountant_laws.py, and against our bounds from below.

Run where they are installed: `pip install dp-accounting autodp prv_accountant` in one environment, opacus in another.
What is asked is the same for all: Gaussian noise, Poisson batches, add/remove-one neighbours. A law is broken if it is
by more than the accountant's own stated accuracy; an answer below our sound bound from below promises too much.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

import dpcheck as dp
from corpus.accountant_laws import LAWS, Account, Bounds, Drawn, Question, drawn_at
from corpus.wild.page import found_of
from dpcheck.bounds.language.guarantees import ADD_REMOVE
from dpcheck.progress import Meter

TRIED = 8  # settings for each law
ACCURACY = 0.01  # asked of accountants that take one; of the others, what is forgiven of laws between two answers
SOUND = "no answer lies below a sound bound from below"
WORDS = (
    f"Accountants of the Gaussian mechanism on Poisson batches, each at {TRIED} settings drawn for each law (noise,"
    " rate, steps and delta log-uniform; `corpus/accountant_laws.py`). Broken means: by more than the accuracy that"
    f" the accountant is asked for or states, {ACCURACY:g} relative and absolute. The last law compares with"
    " `dp.account`: a smaller answer than its bound from below promises more privacy than there is.",
    "A law that an accountant does not answer, as it raises, counts as broken. Rényi divergences bound epsilon from"
    " above and do not attain it: the closed form is no law for them, and says how far above they lie.",
    "Opacus's `gdp` warns as it is made that it 'can underestimate privacy expenditure'; it is shown for comparison.",
)


@dataclass(frozen=True)
class Theirs:
    """An accountant of a library; `several` says whether it takes releases of different kinds together."""

    name: str
    package: str
    account: Account
    several: bool = True


def ours(question: Question) -> Bounds:
    releases = [dp.NoisyRelease(noise=part.noise, rate=part.rate, steps=part.steps) for part in question.parts]
    (spent,) = dp.account(*releases, delta=question.delta, relation=ADD_REMOVE).spent
    return spent.low, spent.high


def twice(value: float) -> Bounds:
    return float(value), float(value)


def of_dp_accounting(kind: str) -> Account:
    event = importlib.import_module("dp_accounting.dp_event")
    if kind == "PLD":
        room = importlib.import_module("dp_accounting.pld.pld_privacy_accountant")
        fresh = functools.partial(room.PLDAccountant, value_discretization_interval=1e-3)
    else:
        fresh = importlib.import_module("dp_accounting.rdp.rdp_privacy_accountant").RdpAccountant

    def account(question: Question) -> Bounds:
        made = fresh()
        for part in question.parts:
            made.compose(event.PoissonSampledDpEvent(part.rate, event.GaussianDpEvent(part.noise)), part.steps)
        return twice(made.get_epsilon(question.delta))

    return account


def of_autodp(question: Question) -> Bounds:
    zoo = importlib.import_module("autodp.mechanism_zoo")
    composed = importlib.import_module("autodp.transformer_zoo").Composition()
    made = [
        zoo.SubsampleGaussianMechanism({"prob": part.rate, "sigma": part.noise, "coeff": part.steps})
        for part in question.parts
    ]
    whole = made[0] if len(made) == 1 else composed(made, [1] * len(made))
    return twice(whole.get_approxDP(question.delta))


def of_prv(question: Question) -> Bounds:
    prv = importlib.import_module("prv_accountant")
    made = prv.PRVAccountant(
        prvs=[
            prv.PoissonSubsampledGaussianMechanism(noise_multiplier=part.noise, sampling_probability=part.rate)
            for part in question.parts
        ],
        max_self_compositions=[part.steps for part in question.parts],
        eps_error=ACCURACY,
        delta_error=question.delta / 1000,
    )
    low, _, high = made.compute_epsilon(question.delta, [part.steps for part in question.parts])
    return float(low), float(high)


def of_opacus(kind: str) -> Account:
    create = importlib.import_module("opacus.accountants").create_accountant

    def account(question: Question) -> Bounds:
        made = create(kind)
        made.history = [(part.noise, part.rate, part.steps) for part in question.parts]
        more = {"eps_error": ACCURACY} if kind == "prv" else {}
        return twice(made.get_epsilon(question.delta, **more))

    return account


def accountants() -> list[Theirs]:
    """Those that are installed here."""
    made: dict[str, Callable[[], list[Theirs]]] = {
        "dp_accounting": lambda: [
            Theirs("dp-accounting, PLD", "dp-accounting", of_dp_accounting("PLD")),
            Theirs("dp-accounting, RDP", "dp-accounting", of_dp_accounting("RDP")),
        ],
        "autodp": lambda: [Theirs("autodp, RDP", "autodp", of_autodp)],
        "prv_accountant": lambda: [Theirs("prv_accountant", "prv_accountant", of_prv)],
        "opacus": lambda: [
            Theirs("Opacus, prv", "opacus", of_opacus("prv")),
            Theirs("Opacus, rdp", "opacus", of_opacus("rdp")),
            Theirs("Opacus, gdp", "opacus", of_opacus("gdp"), several=False),
        ],
    }
    return list(itertools.chain.from_iterable(find() for name, find in made.items() if find_spec(name)))


def found() -> dict[str, Any]:
    """What each law says of each, with what other environments found before."""
    before = (found_of("accountants") or {"rows": []})["rows"]
    here = accountants()
    rows = [row for row in before if row["accountant"] not in {one.name for one in here}]
    with Meter("laws", "accountants", len(here)) as meter, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, one in enumerate(here, 1):
            rows += [row_of(one, law.name, broken_law(one, law)) for law in LAWS]
            rows.append(row_of(one, SOUND, lambda drawn, one=one: promises_too_much(one, drawn)))
            meter.update(number)
    return {"words": list(WORDS), "rows": sorted(rows, key=lambda row: str(row["accountant"]))}


def broken_law(one: Theirs, law: Any) -> Callable[[Drawn], str | None]:
    def broken(drawn: Drawn) -> str | None:
        asked = [question for question in (law.less(drawn), law.more(drawn)) if isinstance(question, Question)]
        if not one.several and any(len(question.parts) > 1 for question in asked):
            return None
        return str(law.broken(one.account, drawn, ACCURACY, ACCURACY))

    return broken


def promises_too_much(one: Theirs, drawn: Drawn) -> str:
    theirs, low = one.account(drawn.asked)[1], ours(drawn.asked)[0]
    return f"{theirs:.6g} where epsilon is at least {low:.6g}" if theirs < low * (1 - 1e-6) else ""


def row_of(one: Theirs, law: str, broken: Callable[[Drawn], str | None]) -> dict[str, Any]:
    """How often it is broken, and the first time in words; the same settings for all."""
    rng = np.random.default_rng(0)
    tried, said = 0, []
    for _ in range(TRIED):
        drawn = drawn_at(rng)
        try:
            words = broken(drawn)
        except Exception as error:  # of theirs: a refusal is no answer, and is told as one
            words = f"raised {type(error).__name__}: {str(error)[:80]}"
        if words is None:
            continue
        tried += 1
        if words:
            part = drawn.one
            at = f"noise {part.noise:.3g}, rate {part.rate:.3g}, {part.steps} steps, delta {drawn.delta:.2g}"
            said.append(f"{words} ({at})".replace("|", "/").replace("\n", " "))
    version = importlib.metadata.version(one.package)
    first = said[0] if said else ""
    return {"accountant": one.name, "version": version, "law": law, "tried": tried, "broken": len(said), "worst": first}
