"""The solvers as scikit-learn estimators: fit, predict, and the guarantee they come with.

>>> from dpcheck.estimators import PrivateLogisticRegression
>>> model = PrivateLogisticRegression(epsilon=2.0, classes=(0, 1))
>>> model.fit([[0.6, 0.1], [-0.5, 0.2]] * 200, [1, 0] * 200).predict([[1.0, 0.0], [-1.0, 0.0]])
array([1, 0])
>>> print(model.guarantee_, *model.rests_on_, sep=chr(10))
ApproxDP(eps=2, delta=1e-05; replace-one)
dwang20.section3.1.5.dp_gd
account: exact composition of Gaussian noise
"""

from __future__ import annotations

from dpcheck.bounds.language.errors import MissingDependency

try:
    import sklearn  # noqa: F401
except ImportError as missing:
    raise MissingDependency("scikit-learn", "the estimators", "verify") from missing

from dpcheck.estimators.base import PrivacyLeakWarning
from dpcheck.estimators.covariances import PrivateCovariance, PrivatePCA
from dpcheck.estimators.gaussian_mixture import PrivateGaussianMixture
from dpcheck.estimators.local_components import LocalPCA
from dpcheck.estimators.models import (
    PrivateHuber,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSparseLogisticRegression,
    PrivateSparseRegression,
)
from dpcheck.estimators.precision import PrivateGraphicalLasso
from dpcheck.estimators.private_labels import LabelPrivateSparseRegression
from dpcheck.solver import SeededNoiseWarning

__all__ = [
    "LabelPrivateSparseRegression",
    "LocalPCA",
    "PrivacyLeakWarning",
    "PrivateCovariance",
    "PrivateGaussianMixture",
    "PrivateGraphicalLasso",
    "PrivateHuber",
    "PrivateLogisticRegression",
    "PrivatePCA",
    "PrivateRidge",
    "PrivateSparseLogisticRegression",
    "PrivateSparseRegression",
    "SeededNoiseWarning",
]
