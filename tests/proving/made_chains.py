"""Claims made up for chains to prove, and whether they do."""

import sympy

from dpcheck.bounds.language.claim import Claim, Effort, Kind, Source, Verdict
from dpcheck.bounds.proving.chains import Premise

v = sympy.Symbol("v", nonnegative=True)
fact = Premise("known")


def claim(states, assumes=(), kind=Kind.UTILITY, number=0, **more):
    return Claim(f"zhang17.made{number}", Source("zhang17", "made up"), kind, "", states, assumes, **more)


def run(chain, about):
    return chain.run(about, Effort())


def proves(chain, about):
    return run(chain, about).verdict is Verdict.PROVED
