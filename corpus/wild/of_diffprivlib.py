"""diffprivlib: mechanisms, models and tools.

Which datasets are neighbours the library does not say. Where one relation is kept and the other is not, the one that is
kept is asked for; a finding breaks every relation under which the function could be meant, unless it says otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib import mechanisms as kinds
from diffprivlib import models, tools

from corpus.wild.subject import Subject
from dpcheck.adapters import diffprivlib
from dpcheck.audits import add_remove, replace_one
from dpcheck.bounds.language.guarantees import ADD_REMOVE, LOCAL, ApproxDP, PureDP

EPS = 1.0
PURE, ADDED, LOCALLY = PureDP(EPS), PureDP(EPS, relation=ADD_REMOVE), PureDP(EPS, relation=LOCAL)
APART, WHOLE = (0.0, 1.0), (0, 1)
PROMISE = "README: a trained model 'is differentially private'; `epsilon` is its 'privacy parameter'"
BOUNDED = "`bounds`: 'bounds of the data'; only leaving them out is said to leak"
FEW = 1_000  # runs of a model, which takes milliseconds


def mechanism(name: str, pair: Any = APART, claim: Any = PURE, **parameters: Any) -> Subject:
    kind = getattr(kinds, name)
    asked = {"epsilon": EPS, **parameters} if name != "Uniform" else parameters
    return Subject(name, lambda: diffprivlib.mechanism(kind, **asked), claim, pair)


def model(name: str, kind: type, released: Any, pair: Any, **more: Any) -> Subject:
    """`more` is about the subject where it has such a field, and else a parameter of the model."""
    about = {key: more.pop(key) for key in [*more] if key in Subject.__dataclass_fields__}
    asked = {"epsilon": EPS, **more}
    about.setdefault("promise", PROMISE if about.get("finding") else "")
    claim = about.pop("claim", PureDP(asked["epsilon"]))
    trials = about.pop("trials", FEW)
    return Subject(name, lambda: diffprivlib.model(kind, released, **asked), claim, pair, trials=trials, **about)


def tool(name: str, function: Any, **more: Any) -> Subject:
    about = {key: more.pop(key) for key in [*more] if key in Subject.__dataclass_fields__}
    claim, trials = about.pop("claim", PURE), about.pop("trials", FEW)
    return Subject(name, lambda: diffprivlib.tool(function, **{"epsilon": EPS, **more}), claim, trials=trials, **about)


def counts(data: Any) -> dict[str, Any]:
    """How often 0, 1 and 2 occur, for mechanisms that choose the most frequent."""
    return {"utility": [int(np.sum(data == item)) for item in range(3)]}


def chooser(name: str, **parameters: Any) -> Subject:
    kind = getattr(kinds, name)
    make = lambda: diffprivlib.mechanism(kind, of_data=counts, epsilon=EPS, sensitivity=1, **parameters)  # noqa: E731
    return Subject(name, make, PURE, (np.array([0, 0, 1]), np.array([1, 0, 1])))


TIGHT = {"epsilon": 0.5, "delta": 1e-3, "sensitivity": 1.0}
MECHANISMS = (
    mechanism("Binary", ("no", "yes"), value0="no", value1="yes"),
    mechanism("Laplace", sensitivity=1.0),
    mechanism("LaplaceTruncated", sensitivity=1.0, lower=0.0, upper=1.0),
    mechanism("LaplaceFolded", sensitivity=1.0, lower=0.0, upper=1.0),
    mechanism("LaplaceBoundedDomain", sensitivity=1.0, lower=0.0, upper=1.0),
    mechanism("LaplaceBoundedNoise", claim=ApproxDP(EPS, 0.1), delta=0.1, sensitivity=1.0),
    mechanism("Gaussian", claim=ApproxDP(0.5, 1e-3), **TIGHT),
    mechanism("GaussianAnalytic", claim=ApproxDP(0.5, 1e-3), **TIGHT),
    mechanism("GaussianDiscrete", (0, 1), ApproxDP(0.5, 1e-3), epsilon=0.5, delta=1e-3, sensitivity=1),
    mechanism("Geometric", (0, 1), sensitivity=1),
    mechanism("GeometricTruncated", (0, 1), sensitivity=1, lower=0, upper=2),
    mechanism("GeometricFolded", (0, 1), sensitivity=1, lower=0, upper=2),
    mechanism("Snapping", sensitivity=1.0, lower=0.0, upper=1.0),
    mechanism("Staircase", sensitivity=1.0),
    mechanism("Uniform", claim=ApproxDP(0.0, 0.1), delta=0.1, sensitivity=1.0),
    chooser("Exponential"),
    chooser("PermuteAndFlip"),
    mechanism(
        "ExponentialCategorical", ("a", "b"), LOCALLY, utility_list=[["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]
    ),
    mechanism("ExponentialHierarchical", ("a", "b"), LOCALLY, hierarchy=[["a", "b"], ["c", "d"]]),
    mechanism("Bingham", (np.diag([1.0, 0.0]), np.diag([0.0, 1.0])), sensitivity=1.0),
)

ONE, OTHER = np.array([[0.01], [0.0]]), np.array([[0.01], [1.0]])
TWO, THREE = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
CORNERS = np.array([[0.0], [0.0], [1.0], [1.0]])
FLIPPED = np.array([[1.0], [0.0], [1.0], [1.0]])
HALVES, MOVED = np.repeat([0, 1], 4), np.array([1, 0, 0, 0, 1, 1, 1, 1])
SAME, FAR = np.zeros((6, 1)), np.array([[1.0], *[[0.0]] * 5])
PLANE, TURNED = np.array([[0.6, 0.0]] * 4), np.array([[0.0, 0.6], *[[0.6, 0.0]] * 3])
REGRESSION = {"bounds_y": (0, 1), "fit_intercept": False}
LINE = np.zeros((20, 1))
# Twenty records for ten trees, two each: without the first, every tree has one record of its neighbour.
PAIRED = np.repeat([0, 1] * 5, 2)


def votes(forest: Any) -> Any:
    """What each tree of a forest says of the point that all records are at."""
    return [tree.predict([[0.0]])[0] for tree in forest.estimators_]


def of_the_last(fitted: Any) -> Any:
    """What is left of the inertia after the share of records at 0: a function of what the fitted model shows."""
    return fitted.inertia_ - len(SAME) * np.min(fitted.cluster_centers_**2)


MODELS = (
    model("LinearRegression", models.LinearRegression, ("coef_",), ((ONE, np.zeros(2)), (OTHER, np.zeros(2))),
          bounds_X=(-1, 1), **REGRESSION),
    model("LinearRegression, bounds (0, 1)", models.LinearRegression, ("coef_",),
          ((ONE, np.zeros(2)), (OTHER, np.zeros(2))), bounds_X=(0, 1), **REGRESSION,
          thread="IBM/differential-privacy-library#105", promise=BOUNDED,
          finding="The sum of squares of a feature gets noise for its lower bound squared, here none."),
    model("LogisticRegression", models.LogisticRegression, ("coef_",), ((CORNERS, TWO), (FLIPPED, TWO)),
          data_norm=1.0),
    model("LogisticRegression, a class of one", models.LogisticRegression, ("coef_",),
          ((CORNERS, TWO), (CORNERS, THREE)), data_norm=1.0, trials=400,
          thread="IBM/differential-privacy-library#106",
          finding="Classes are those that occur among the labels, and there is one row of coefficients for each."),
    model("GaussianNB", models.GaussianNB, ("class_count_", "theta_", "var_"), ((CORNERS, TWO), (FLIPPED, TWO)),
          bounds=WHOLE),
    model("GaussianNB, a class of one", models.GaussianNB, ("class_count_",), ((CORNERS, TWO), (CORNERS, THREE)),
          bounds=WHOLE, trials=400, thread="IBM/differential-privacy-library#106",
          finding="Classes are those that occur among the labels, and there is one count for each."),
    model("GaussianNB, bounds (100, 101)", models.GaussianNB, ("class_count_", "theta_"),
          ((np.full((8, 1), 100.5), HALVES), (np.full((8, 1), 100.5), MOVED)), bounds=(100, 101), trials=4_000,
          promise=BOUNDED,
          finding="The sum of a class gets noise for upper - lower = 1, but a record that changes its class moves it "
                  "by as much as its value, 100."),
    model("KMeans", models.KMeans, ("cluster_centers_",), (SAME, SAME + 0.5), n_clusters=1, bounds=WHOLE),
    model("KMeans, two clusters", models.KMeans, ("cluster_centers_",), (SAME, FAR), n_clusters=2, bounds=WHOLE,
          trials=800),
    model("KMeans, bounds (100, 101)", models.KMeans, ("cluster_centers_",), (SAME + 100, FAR + 100), n_clusters=2,
          bounds=(100, 101), promise=BOUNDED,
          finding="The sum of a cluster gets noise for upper - lower = 1, but a record that changes its cluster moves "
                  "it by as much as its value, 100."),
    model("KMeans.inertia_", models.KMeans, of_the_last, (SAME, FAR), n_clusters=2, bounds=WHOLE, trials=400,
          promise="`inertia_` is listed among the attributes of the model, without a word of warning",
          finding="The sum of squared distances is computed from the records, and no noise is added."),
    model("PCA", models.PCA, ("components_", "explained_variance_"), (PLANE, TURNED), n_components=1, data_norm=1.0,
          bounds=WHOLE),
    model("PCA, centred", models.PCA, ("components_", "explained_variance_"), (PLANE, TURNED), n_components=1,
          data_norm=1.0, centered=True),
    model("StandardScaler", models.StandardScaler, ("mean_", "var_"), (CORNERS, FLIPPED), bounds=WHOLE),
    model("DecisionTreeClassifier", models.DecisionTreeClassifier, lambda tree: tree.predict([[0.0]]),
          ((np.zeros((3, 1)), np.array([0, 0, 1])), (np.zeros((2, 1)), np.array([0, 1]))), max_depth=1,
          bounds=WHOLE, classes=[0, 1], claim=ADDED),
    model("RandomForestClassifier, a record replaced", models.RandomForestClassifier, votes,
          ((LINE, PAIRED), (LINE, np.array([1, 1, *PAIRED[2:]]))), max_depth=1, bounds=WHOLE, classes=[0, 1]),
    model("RandomForestClassifier, a record removed", models.RandomForestClassifier, votes,
          ((LINE, PAIRED), (LINE[1:], PAIRED[1:])), max_depth=1, bounds=WHOLE, classes=[0, 1], claim=ADDED,
          promise="'each datapoint is used to train exactly one tree'",
          finding="Which record trains which tree depends on their number: without the first one, nine more change "
                  "trees. (Replacing one may change two votes of a leaf, of which each costs epsilon.)"),
)  # fmt: skip

TEN = replace_one(low=0, high=1, n=10)
NAN = np.array([0.0, *[np.nan] * 9])
NANS = (NAN, np.array([1.0, *[np.nan] * 9]))
BINNED: dict[str, Any] = {"bins": 2, "range": (0, 1)}
TOOLS = (
    tool("mean", tools.mean, bounds=WHOLE, neighbours=TEN),
    tool("var", tools.var, bounds=WHOLE, neighbours=TEN),
    tool("std", tools.std, bounds=WHOLE, neighbours=TEN),
    tool("sum", tools.sum, bounds=WHOLE, neighbours=TEN),
    tool("sum, bounds (100, 101)", tools.sum, bounds=(100, 101), neighbours=replace_one(low=100, high=101, n=10)),
    tool("count_nonzero", tools.count_nonzero, neighbours=TEN),
    tool("median", tools.median, bounds=WHOLE, neighbours=TEN),
    tool("quantile", tools.quantile, quant=0.9, bounds=WHOLE, neighbours=TEN),
    tool("percentile", tools.percentile, percent=25, bounds=WHOLE, neighbours=TEN),
    tool("nanmean", tools.nanmean, bounds=WHOLE, neighbours=TEN),
    tool("nansum", tools.nansum, bounds=WHOLE, pair=NANS),
    tool("histogram", tools.histogram, **BINNED, claim=ADDED, neighbours=add_remove(low=0, high=1, n=5)),
    tool("histogramdd", tools.histogramdd, bins=2, range=[(0, 1)], claim=ADDED,
         pair=(np.zeros((3, 1)), np.zeros((2, 1)))),
    tool("nanmean with NaN", tools.nanmean, bounds=WHOLE, pair=NANS,
         promise="'ignoring NaNs'; of open thread 80, on NaN, nanmean, nanvar and nanstd are excepted",
         finding="The mean is over the values that are no NaN, here one; its noise is for a mean over all ten."),
    tool("nanvar with NaN", tools.nanvar, bounds=WHOLE, promise="as of nanmean",
         pair=(np.array([0.0, 0.0, *[np.nan] * 18]), np.array([0.0, 1.0, *[np.nan] * 18])),
         finding="The variance is over the values that are no NaN, here two; its noise is for one over all twenty."),
    tool("mean with NaN", tools.mean, bounds=WHOLE, pair=(np.zeros(4), np.array([np.nan, 0, 0, 0])), trials=400,
         thread="IBM/differential-privacy-library#80", limit="open thread 80: NaN gives NaN, and no noise"),
    tool("histogram with weights of 10", tools.histogram, **BINNED, weights=np.full(5, 10.0),
         pair=(np.zeros(5), np.array([1.0, 0, 0, 0, 0])),
         promise="`weights`: 'each value in a only contributes its associated weight'; no word on privacy",
         finding="Counts of records that weigh 10 each get noise for records that weigh 1."),
    tool("histogram, bins 'auto'", tools.histogram, bins="auto", range=(0, 1), trials=400,
         pair=(np.linspace(0, 0.1, 20), np.array([*np.linspace(0, 0.1, 19), 1.0])),
         promise="`bins` may be the name of a method 'used to calculate the optimal bin width'; only leaving out "
                 "`range` is said to leak",
         finding="The number of bins is computed from the records, and shown by how many counts there are."),
)  # fmt: skip

SUBJECTS = (*MECHANISMS, *MODELS, *TOOLS)
