"""MPC Out P: the average of local minimisers, with one draw of noise inside the computation (lwang21, section 6.3.1).

The sensitivity is in l2, the noise, Lap(β) of density exp(-‖η‖₁/β) (Lemma 6.5.1; section 6.7 draws it coordinate by
coordinate), hides l1. Solver: dpcheck/solvers/distributed/mpc_out_p.py. Run by parties: dpcheck/parties/. What the
average is worth: averaged_minimisers.py.
"""

from sympy import Eq, Le, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Source, strongly_convex
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.bounds.language.symbols import Delta, d, eps, quantity, sigma
from dpcheck.bounds.library.convex.variance_reduction import G
from dpcheck.bounds.library.distributed.several_parties import (
    lam,
    local_losses,
    n_least,
    parties,
    unit_ball,
)
from dpcheck.bounds.privacy.laws import L2Laplace, Laplace
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost

moved = quantity(
    "minimisers_apart", "distance of two minimisers", parameter=1, printed="‖θ₁-θ₂‖",
    latex=r"\|\theta_1-\theta_2\|",
)
g_1 = quantity("g_1", "largest gradient of g", loss=1, parameter=-1, printed="g₁", latex="g_1")
g_there = quantity(
    "g_there", "gradient of g at the second minimiser", loss=1, parameter=-1, printed="‖∇g(θ₂)‖",
    latex=r"\|\nabla g(\theta_2)\|",
)
G_2 = quantity("G_2", "least curvature of G", loss=1, parameter=-2, printed="G₂", latex="G_2")

# Privacy -------------------------------------------------------------------------------------------
moves = 2 * G / (parties * n_least * lam)  # the average, in l2
released = Release(moves, L2Laplace(sigma))  # noise of density exp(-‖η‖₂/σ)
released_by_coordinates = Release(sqrt(d) * moves, Laplace(sigma))  # equal entries: √d times as long in l1
released_by_each = Release(2 * G / (n_least * lam), L2Laplace(sigma))  # every party's own minimiser, noisy, seen

lemma6_5_2 = Claim(
    id="lwang21.lemma6.5.2", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "Lemma 6.5.2", line=11493),
    says="Adding a differentiable g to G moves the minimiser by at most g₁/G₂.",
    assumes=[strongly_convex(G_2), g_there <= g_1],
    states=Le(moved, g_1 / G_2),
    checks=[
        Chain(
            moved,
            Step(
                "<=", g_there / G_2,
                because=Premise("∇G(θ₁) = 0, ∇G(θ₂) = -∇g(θ₂), and ∇G grows by G₂ a unit of length (strongly convex)"),
            ),
            Step("<=", STATEMENT),
        )
    ],
)

lost_record = {g_1: 2 * G / n_least, g_there: 2 * G / n_least, G_2: lam}  # g: the new loss less the old, over n_j

sensitivity = Claim(
    id="lwang21.theorem6.3.1.sensitivity", kind=Kind.SENSITIVITY,
    source=Source("lwang21", "proof of Theorem 6.3.1", line=10880),
    says="One record moves the average of the local minimisers by at most 2G/(m n₍₁₎ λ), in l2.",
    assumes=local_losses,
    states=Le(Delta, moves),
    checks=[
        Chain(
            Delta,
            Step("<=", moved / parties, because=Premise("one party's minimiser moves, and the average divides by m")),
            Step("<=", because=Cites("lwang21.lemma6.5.2", lost_record), uses=[unit_ball]),
            Step("<=", STATEMENT),
        )
    ],
)

theorem1 = Claim(
    id="lwang21.theorem6.3.1", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 6.3.1, Lap as in Lemma 6.5.1 and section 6.7", line=10808),
    says="Laplace noise of scale 2G/(m n₍₁₎ λ ε) on each coordinate makes the average of local minimisers ε-private.",
    assumes=local_losses,
    states=Eq(sigma, moves / eps),
    guarantee=PureDP(eps),
    checks=[
        AtMost(
            released_by_coordinates.sensitivity / sigma,
            "linear losses, and a record that turns round along (1, ..., 1)/√d: the average moves by √d times its "
            "length in l1, and the log density of independent entries by that over σ",
            against=eps,
        )
    ],
    cites=[Cites("lwang21.theorem6.3.1.sensitivity")],
)

theorem1_corrected = Claim(
    id="lwang21.theorem6.3.1.corrected", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 6.3.1", line=10808),
    says="Noise of the same scale and density exp(-‖η‖₂/β), which the proof computes with, is enough.",
    assumes=local_losses,
    states=Eq(sigma, moves / eps),
    guarantee=PureDP(eps),
    corrects="lwang21.theorem6.3.1",
    checks=[
        Chain(
            Cites("zhang17.algorithm1.pure"),
            Step("<=", because=Cites("lwang21.theorem6.3.1.sensitivity")),
            Step("=", STATEMENT),
        )
    ],
)

theorem1_coordinates = Claim(
    id="lwang21.theorem6.3.1.coordinates", kind=Kind.PRIVACY,
    source=Source("lwang21", "Theorem 6.3.1", line=10808),
    says="Noise drawn coordinate by coordinate, as in section 6.7, takes √d times the scale.",
    assumes=local_losses,
    states=Eq(sigma, sqrt(d) * moves / eps),
    guarantee=PureDP(eps),
    corrects="lwang21.theorem6.3.1",
    checks=[
        Chain(
            Cites("dwang20.definition2.1.2"),
            Step("<=", sqrt(d) * Delta / eps, because=Premise("Δ₁ ≤ √d·Δ (Cauchy and Schwarz)")),
            Step("<=", because=Cites("lwang21.theorem6.3.1.sensitivity")),
            Step("=", STATEMENT),
        )
    ],
)
