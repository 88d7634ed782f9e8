"""Dawid and Skene's iteration for answers of users of unknown ability (dwang20, section 7.1.3, (7.4) to (7.8)).

It maximises F(p, y) of (7.4) over the abilities p and the soft labels y in turn. In F the weight of the second sum is
1 - y_j (printed 1 - y_i). Code: dpcheck/families/truth_inference.py.
"""

from sympy import Eq, log

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Minimiser, Step

tasks = quantity("tasks", "number of tasks", box=(10, 1e8), integer=True, printed="m", latex="m")
agreed = quantity("agreed", "sum over j of (1-X_ij)(1-y_j) + X_ij y_j", printed="Σ(1-X)(1-y)+Xy")
ability = quantity("ability", "p_i that maximises F(p, y)", below=1.0, box=(1e-3, 1 - 1e-3), printed="p_i")
if_one = quantity("if_one", "chance of a task's answers if its truth is 1", printed="∏p^X(1-p)^(1-X)")
if_zero = quantity("if_zero", "chance of a task's answers if its truth is 0", printed="∏p^(1-X)(1-p)^X")
soft_label = quantity("soft_label", "y_j that maximises F(p, y)", below=1.0, box=(1e-3, 1 - 1e-3), printed="y_j")

answered = Setting("X in {0,1}^(n×m), every user answers every task")
alternating = Setting("p⁽ᵗ⁾ = argmax F(p, y⁽ᵗ⁻¹⁾) and y⁽ᵗ⁾ = argmax F(p⁽ᵗ⁾, y)")

equation6 = Claim(
    id="dwang20.equation7.6", kind=Kind.IDENTITY,
    source=Source("dwang20", "(7.6)", line=9043),
    says="The abilities that maximise F are how often each user agrees with the labels.",
    assumes=[answered, alternating, agreed < tasks],
    states=Eq(ability, agreed / tasks),
    checks=[
        Chain(
            ability,
            Step("=", STATEMENT, because=Minimiser(of=-agreed * log(ability) - (tasks - agreed) * log(1 - ability))),
        )
    ],
)

entropy = -soft_label * log(soft_label) - (1 - soft_label) * log(1 - soft_label)
equation7 = Claim(
    id="dwang20.equation7.7", kind=Kind.IDENTITY,
    source=Source("dwang20", "(7.7) with (7.8)", line=9045),
    says="The label that maximises F is the posterior chance of 1 under a uniform prior.",
    assumes=[answered, alternating],
    states=Eq(soft_label, if_one / (if_one + if_zero)),
    checks=[
        Chain(
            soft_label,
            Step("=", STATEMENT, because=Minimiser(
                of=-soft_label * log(if_one) - (1 - soft_label) * log(if_zero) - entropy)),
        )
    ],
)
