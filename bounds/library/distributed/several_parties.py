"""Several owners of data learn together (lwang21, chapter 6): the chapter's symbols, and what its claims share.

m parties hold n₁, ..., n_m records; the smallest holds n₍₁₎. Each loss is convex, G-Lipschitz and L-smooth, each
party's objective λ-strongly convex. What a protocol shows to whom: dpcheck/parties/.
"""

from sympy import Le, exp

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source, convex, lipschitz, smooth, strongly_convex
from dpcheck.bounds.language.symbols import MEAN, quantity
from dpcheck.bounds.library.convex.variance_reduction import G, L_s
from dpcheck.bounds.library.mechanisms.zcdp import rho
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step

parties = quantity("parties", "number of parties", box=(1, 1e4), integer=True, printed="m", latex="m")
n_least = quantity(
    "n_least", "records of the smallest party", box=(1, 1e6), integer=True, printed="n₍₁₎", latex="n_{(1)}"
)
lam = quantity(
    "lam_parties", "strong convexity of each loss with its regulariser", loss=1, parameter=-2, printed="λ",
    latex=r"\lambda",
)
population_excess = quantity(
    "population_excess", "excess population risk of what parties learn, in the mean over the noise", loss=1,
    printed="E J̃(θ) - min J̃", latex=r"\mathbb{E}\tilde J(\theta)-\min\tilde J", holds=f"{MEAN}, with probability 1-γ",
)

# Losses are G-Lipschitz and L-smooth at records of the unit ball: a step to which G or L leads rests on it.
unit_ball = Setting("every record lies in the unit ball")
local_losses = [convex(), lipschitz(G), strongly_convex(lam), unit_ball]
smooth_losses = [*local_losses, smooth(L_s)]

# Section 6.2 ---------------------------------------------------------------------------------------
loss_tail = quantity("loss_tail", "P[Z > lambda + rho]", printed="P[Z > λ+ρ]", latex=r"P[Z>\lambda+\rho]")
beyond = quantity("beyond", "how far the privacy loss exceeds rho", printed="λ", latex=r"\lambda")
moment_z = quantity("moment_z", "E exp((alpha-1) Z) at alpha = 1 + lambda/(2 rho)", printed="E exp((α-1)Z)")
tilt = beyond / (2 * rho)  # α-1

section2_tail = Claim(
    id="lwang21.section6.2.tail", kind=Kind.PRIVACY,
    source=Source("lwang21", "after (6.2.2)", line=10656),
    says="The loss Z of a ρ-zCDP mechanism exceeds λ+ρ with probability at most exp(-λ²/(4ρ)).",
    assumes=[Le(moment_z, exp(tilt * (1 + tilt) * rho))],
    states=Le(loss_tail, exp(-(beyond**2) / (4 * rho))),
    checks=[
        Chain(
            loss_tail,
            Step(
                "<=", moment_z * exp(-tilt * (beyond + rho)),
                because=Premise("Markov's inequality for exp((α-1)Z), at α = 1 + λ/(2ρ)"),
            ),
            Step("<=", STATEMENT),
        )
    ],
)
