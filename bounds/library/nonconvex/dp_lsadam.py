"""DP-LSAdam (lwang21, section 5.4.2; lssgd20, section 4.2): Adam on smoothed noisy gradients.

No theorem is stated. Its privacy is DP-LSSGD's, by post-processing; experiments are on convolutional networks, for
which softmax regression stands in here. Solver: dpcheck/solvers/nonconvex/dp_lsadam.py.
"""

from sympy import Eq, Integer, Le

from dpcheck.bounds.language.claim import Cites, Claim, Kind, Setting, Source
from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.bounds.language.symbols import T, delta, eps, n, ratio
from dpcheck.bounds.library.convex.dp_svrg_minibatch import batch
from dpcheck.bounds.library.nonconvex.dp_lssgd import lipschitz_losses, noise, nu, order_v0, theorem1_corrected
from dpcheck.bounds.library.nonconvex.laplacian_smoothing import both
from dpcheck.bounds.proving.derivations import Implied
from dpcheck.bounds.proving.proofs import Quoted


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


privacy = same_budget("lwang21", "section 5.4.2, Figure 5.5", "figure5.5")
privacy_v0 = same_budget("lssgd20", "section 4.2, Figure 5", "figure5")

INSTEAD = Setting("softmax regression on digits for the network, the noise of n = 50000 records and 150 steps")
helps, helps_v0 = both(
    "figure5.5.adam",
    "figure5.adam",
    kind=Kind.EXPERIMENT,
    says="DP-LSAdam improves the accuracy on top of DP-Adam.",
    assumes=[INSTEAD],
    states=Le(ratio, 1),
)

ahead, ahead_v0 = both(
    "figure5.5.order",
    "figure5.order",
    kind=Kind.EXPERIMENT,
    says="DP-Adam outperforms DP-LSSGD under strong noise: ε = 0.1.",
    assumes=[INSTEAD],
    states=Le(ratio, 1),
)

NETWORKS = Quoted("from runs on convolutional networks, which are not trained here")
networks, networks_v0 = both(
    "figure5.7.networks",
    "figure6.networks",
    kind=Kind.EXPERIMENT,
    says="Right: on networks for MNIST smoothing adds 3.2% of accuracy at ε = 0.4 and 5.0% at 0.2, each at its best "
    "settings, and DP-LSAdam more.",
    states=Le(ratio, 1),
    checks=[NETWORKS],
)

images, images_v0 = both(
    "figure5.6.networks",
    "figure7.networks",
    kind=Kind.EXPERIMENT,
    says="On networks for CIFAR10 smoothing significantly improves the accuracy of DP-SGD and of DP-Adam.",
    states=Le(ratio, 1),
    checks=[NETWORKS],
)
