"""The local Bernstein mechanism with O(log log n) bits of each user (dwang20, Algorithm 5.1.37, Theorem 5.1.12).

Everybody sees T draws y_t ~ Laplace(1/ε) for each user; she keeps each with probability ½·f_v(y_t)/f_0(y_t), where v in
[0, 1] is her loss at the grid point of her group, and sends the place of one that she kept, of any if she kept none.
Solver, which takes the first that is kept in a random order: dpcheck/solvers/local/local_bernstein_genprot.py.
"""

from sympy import Eq, Le, Rational, exp, log, sqrt

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Provenance, Rate, Setting, Source
from dpcheck.bounds.language.guarantees import LOCAL, PureDP
from dpcheck.bounds.language.symbols import d, eps, eps_out, likely_excess_risk, n, quantity, sigma, x_tail
from dpcheck.bounds.library.local.local_bernstein import (
    D_h,
    all_orders,
    all_points,
    basis_sum,
    bias_and_noise,
    both_risks,
    corollary2,
    enough_at_any_x,
    enough_for_both,
    enough_tail,
    grid_error,
    h,
    k,
    many_users,
    some_D_p,
    two_cells,
)
from dpcheck.bounds.privacy.laws import Coins, Interaction, Selected
from dpcheck.bounds.privacy.release import Release
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.proofs import AtMost, Equals

v = quantity("user_loss", "loss of every user of a group", box=(1e-3, 1.0), printed="v", latex="v")
draws = quantity("genprot_T", "public numbers of a user", box=(1, 100), integer=True, printed="T", latex="T")
server_value = quantity("server_value", "mean of the server's value where all losses are v", printed="E v_ℓ")

public_draws = Setting("y_1, ..., y_T ~ Laplace(1/ε) are public, T ≥ 1")

# Privacy -------------------------------------------------------------------------------------------
theorem12_privacy = Claim(
    id="dwang20.theorem5.1.12.privacy", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.12, first sentence", line=5557),
    says="The place that a user sends is 10ε-private for ε at most 1/4.",
    assumes=[eps <= Rational(1, 4), public_draws],
    states=Le(eps_out, 10 * eps),
    guarantee=PureDP(eps_out, relation=LOCAL),
    checks=[
        Chain(
            eps_out,
            Step("<=", eps * (1 + (2 * exp(eps) - 1) * exp(eps) / (2 - exp(eps))), because=Premise(
                "a chance p_t to be kept lies in [e^-ε/2, e^ε/2] and moves with v by a factor e^±ε at most, so that the"
                " chance A + B of a place g, A = p_g∫Π(1-p_s u)du over u in [0, 1] and s ≠ g, B = Π(1-p_t)/T, moves by"
                " ε(2A + Π(1-p_s)((1-p_g)ρ-p_g)), ρ = max p/(1-p), and A ≥ p_gΠ(1-p_s)"), uses=[public_draws]),
            Step("<=", STATEMENT, box={eps: (1e-3, 0.69)}),
        )
    ],
)

# The first kept in a random order, with chances that the largest of them is divided by: rejection sampling of
# v + Laplace(σ) as long as some y ≥ v. The scores |y|-|y-v| move by 1.
released = Release(
    1, Selected(sigma, "exponential"), steps=n, relation=LOCAL, interaction=Interaction.SEQUENTIAL, coins=Coins.PUBLIC
)

flips = Claim(
    id="dwang20.theorem5.1.12.flips", kind=Kind.PRIVACY,
    source=Source("dwang20", "Theorem 5.1.12"),
    says="The first y ~ Laplace(2/ε) that is kept, in a random order, has an ε-private place, for any ε.",
    states=Eq(sigma, 2 / eps),
    guarantee=PureDP(eps, relation=LOCAL),
    provenance=Provenance.CONSEQUENCE,
    ignores_units=True,
    checks=[
        AtMost(
            2 / sigma,
            "permute and flip: scores that move by 1, over noise of scale σ, move a chance by e^(2/σ) at most",
            against=eps,
            exact=False,
        )
    ],
)

same_loss = Setting("all losses of the group are v")
numbers_summed = Setting("the mean of y_g over the group is taken")

# The server ----------------------------------------------------------------------------------------
server = Claim(
    id="dwang20.algorithm5.1.37.server", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.37, lines 17 and 18", line=5581),
    says="n/|I| times the sum of the places g that a group sends stands for its mean loss.",
    assumes=[same_loss],
    states=Eq(server_value, v),
    provenance=Provenance.READING,
    misprint_of="dwang20.algorithm5.1.37.server.corrected",
    checks=[Equals(n * (draws + 1) / 2, "the public numbers come in no order: g is uniform on 1..T, whatever v is")],
)

server_corrected = Claim(
    id="dwang20.algorithm5.1.37.server.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Algorithm 5.1.32, line 14, which sums the numbers that are kept", line=4945),
    says="The mean of the numbers y_g at these places does, but for 2^(1-T) of it.",
    assumes=[same_loss, numbers_summed],
    states=Eq(server_value, v * (1 - 2 ** (1 - draws))),
    corrects="dwang20.algorithm5.1.37.server",
    checks=[
        Equals(
            (1 - Rational(1, 2) ** draws) * v - Rational(1, 2) ** draws * v,
            "y_g is v + Laplace if one is kept; else, with chance 2^-T, its density is 2f_0 - f_v and its mean -v",
            uses=[same_loss, numbers_summed],
        )
    ],
)

# Utility -------------------------------------------------------------------------------------------
enough_draws, full_groups = Setting("T ≥ log₂(n/β)"), Setting("n ≥ 8(k+1)^p log(4(k+1)^p/β)")
group_log = log(4 * all_points) + x_tail  # two events of each group share β = e^-x

theorem12 = Claim(
    id="dwang20.theorem5.1.12", kind=Kind.UTILITY,
    source=Source("dwang20", "Theorem 5.1.12, second sentence", line=5557),
    says="The excess risk of Corollary 5.1.2, from a place of each user; D_h is D_p here, and √log k is what Õ hides.",
    assumes=[*all_orders, eps <= Rational(1, 4), enough_draws],
    added=[*(h for h in corollary2.added if h != many_users), full_groups, numbers_summed],
    states=Rate(likely_excess_risk, corollary2.formula),
    ignores_units=True,
    checks=[
        Chain(
            likely_excess_risk,
            Step("<=", 2 * (2 * D_h / k**d + basis_sum * grid_error), because=Premise("as for Corollary 5.1.2"),
                 uses=[*all_orders, some_D_p]),
            Step("<=", because=Cites("dwang20.theorem5.1.2.basis", {h: d})),
            Step("<=", 4 * D_h / k**d + Rational(38, 5) * (2**d - 1) ** d * sqrt(all_points * group_log / n) / eps,
                 because=Premise(
                     "every user keeps a number but for the chance n 2^-T ≤ β, so lemma5.1.1.corrected holds for the"
                     " n/(2(k+1)^p) users of a group, and Hoeffding for who they are"),
                 uses=[enough_draws, full_groups, numbers_summed, eps <= Rational(1, 4)]),
            Step("<=", bias_and_noise, because=Premise(
                "(k+1)^(p/2) ≤ (2k)^p, 2^p-1 ≤ 2^p, log(4(k+1)^p) + x ≤ 6.7 p x log k"),
                uses=[two_cells, enough_tail]),
            Step("<=", both_risks, because=enough_for_both),
            Step("<=", 70 * STATEMENT, because=enough_at_any_x),
        )
    ],
)
