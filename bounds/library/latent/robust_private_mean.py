"""The private robust mean again (dwang20, section 7.2.3, (7.53) to (7.60)): section 3.2.4 word for word, τ for v.

Claims and solver: heavy_tail/ht_robust_mean.py. In Lemma 7.2.2 the moment, τ in Lemma 7.2.1, is printed v.
"""

from dataclasses import replace

from dpcheck.bounds.language.claim import Cites, Claim, Provenance
from dpcheck.bounds.language.printed_twice import again
from dpcheck.bounds.library.heavy_tail import ht_dpsco_robust_gd as descent
from dpcheck.bounds.library.heavy_tail import ht_robust_mean as means
from dpcheck.bounds.library.mechanisms import zcdp
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Step


def word_for_word(first: Claim, claim_id: str, place: str, line: int) -> Claim:
    """The same statement once more, which the first proves."""
    sign = "=" if first.relation == "=" else "<="
    chain = Chain(first.subject, Step(sign, because=Cites(first.id)), Step(sign, STATEMENT))
    return replace(again(first, claim_id, place, line), checks=[chain], cites=[])


bounded = again(means.bounded, "dwang20.equation7.54", "(7.54), “a key property”", 9571)
closed_form = word_for_word(means.closed_form, "dwang20.equation7.57", "(7.57), T₁ to T₅; for a > 0, as φ is odd", 9585)
lemma1 = again(means.lemma3, "dwang20.lemma7.2.1", "Lemma 7.2.1, (7.58)", 9601)
sensitivity = again(means.sensitivity, "dwang20.equation7.59.sensitivity", "before (7.59)", 9607)
privacy = again(means.privacy, "dwang20.equation7.59", "(7.59)", 9609)
lemma2 = again(means.theorem6, "dwang20.lemma7.2.2", "Lemma 7.2.2, (7.60)", 9613)
estimate = word_for_word(descent.estimate, "dwang20.equation7.61", "(7.61), a record's term, for ∇_jq > 0", 9637)
lemma18 = word_for_word(zcdp.lemma10, "dwang20.lemma7.2.18", "Lemma 7.2.18, quoted from [52]", 9968)
lemma19 = replace(
    again(zcdp.lemma9_corrected, "dwang20.lemma7.2.19", "Lemma 7.2.19", 9974), provenance=Provenance.PRINTED
)
