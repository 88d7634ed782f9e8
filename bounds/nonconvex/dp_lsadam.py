"""DP-LSAdam (lwang21, section 5.4.2; lssgd20, section 4.2): Adam on smoothed noisy gradients.

No theorem is stated. Its privacy is DP-LSSGD's, by post-processing; experiments are on convolutional networks, for
which softmax regression stands in here. Solver: dpcheck/solvers/nonconvex/dp_lsadam.py.
"""

from sympy import Eq, Integer, Le

from bounds.claim import Cites, Claim, Kind, Setting, Source
from bounds.convex.dp_svrg_minibatch import batch
from bounds.derivations import Implied
from bounds.guarantees import ApproxDP
from bounds.nonconvex.dp_lssgd import lipschitz_losses, noise, nu, order_v0, theorem1_corrected
from bounds.nonconvex.laplacian_smoothing import both
from bounds.proofs import Quoted
from bounds.symbols import T, delta, eps, n, ratio


def same_budget(document: str, place: str, name: str) -> Claim:
    """The same noise gives the same privacy."""
    return Claim(
        id=f"{document}.{name}.privacy",
        source=Source(document, place),
        kind=Kind.PRIVACY,
        says="The budget grows at exactly the same speed for DP-SGD, DP-LSSGD, DP-Adam and DP-LSAdam: DP-SGD's noise "
        "is enough for all, here that of Theorem 1 of lssgd20 where it is.",
        assumes=[
            *lipschitz_losses,
            order_v0,
            eps <= 1,
            eps <= T * batch**2 / n**2,
            Setting("the iterates are a function of the noisy gradients alone"),
        ],
        states=Eq(nu, noise(Integer(8))),
        guarantee=ApproxDP(eps, delta),
        checks=[Implied(theorem1_corrected, "post-processing: whatever is made of the noisy gradients")],
        cites=[Cites("lssgd20.theorem1.corrected")],
    )


privacy = same_budget("lwang21", "section 5.4.2, Figure 5.5", "section5.4.2")
privacy_v0 = same_budget("lssgd20", "section 4.2, Figure 5", "section4.2")

helps, helps_v0 = both(
    "section5.4.2.adam",
    "section4.2.adam",
    kind=Kind.EXPERIMENT,
    says="Smoothing improves the accuracy of DP-Adam: here in softmax regression on digits.",
    assumes=[Setting("digits for MNIST, the noise of n = 50000 records and 150 steps")],
    states=Le(ratio, 1),
)

networks, networks_v0 = both(
    "section5.4.2.networks",
    "section4.2.networks",
    kind=Kind.EXPERIMENT,
    says="On networks for MNIST smoothing adds 3.2% of accuracy at ε = 0.4 and 5.0% at 0.2, each at its best settings.",
    states=Le(ratio, 1),
    checks=[Quoted("from runs on convolutional networks, which are not trained here")],
)
