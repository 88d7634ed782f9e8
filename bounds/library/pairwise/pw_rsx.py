"""RS-x: a buffer of s uniform draws from a stream (dwang20, section 3.3.2, Algorithm 3.3.11).

Lines 3 and 6 write into TMP; that a buffer which is not full takes the record is meant. What is
done: dpcheck/families/stream_buffers.py.
"""

from sympy import Eq

from dpcheck.bounds.language.claim import Claim, Kind, Provenance, Source
from dpcheck.bounds.language.symbols import quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Induction, Step

capacity = quantity("buffer_size", "places of the buffer", box=(1, 1e3), integer=True, printed="s")
after_full = quantity("after_full", "records since the buffer was drawn", integer=True, printed="t-s-1", latex="t-s-1")
chance_held = quantity("chance_held", "that a place holds a given one of the records so far", printed="P(z_i)")

uniform = Claim(
    id="dwang20.algorithm3.3.11", kind=Kind.IDENTITY,
    source=Source("dwang20", "Algorithm 3.3.11, lines 5 to 9", line=2187),
    says="From time s+1 on each place holds each of the t records so far with probability 1/t.",
    states=Eq(chance_held, 1 / (capacity + 1 + after_full)),
    provenance=Provenance.CONSEQUENCE,
    checks=[
        Chain(
            chance_held,
            Step("=", STATEMENT, because=Induction(
                after_full, start=1 / (capacity + 1), step=lambda p: p * (1 - 1 / (capacity + 2 + after_full)),
                given="line 7 draws from s+1; line 9 leaves a place alone with probability 1-1/t, and else takes z_t")),
        )
    ],
)
