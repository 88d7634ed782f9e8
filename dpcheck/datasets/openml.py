"""The documents' own data sets, from OpenML through scikit-learn's client: by name, with the stated preprocessing.

Rows are scaled to norm 1, each by itself, which makes the documents' losses 1-Lipschitz. Categories become binary
features, one each; a category of 0 and 1 is a number already. What a document does not state is left undone: where
its number of features (zhang17, Table 2) comes from categories that OpenML has as numbers, ours is smaller.

Nothing was downloaded to write this file: numbers and names are as public code and documentation have them, read in
stored copies in November 2026, and `load` refuses a data set of another name. What was found of each:

- 1596 covertype: 581012 rows of 54, `class` 1 to 7, of which 2 against the rest is usual. Many codes, and a table of
  a benchmark that links to openml.org/d/1596.
- 1590 adult: `class` >50K. Many codes; the 16281 test rows come first (AIF360, aif360/sklearn/datasets).
- 1461 bank-marketing: 45211 rows, `Class` 2 is yes. Many codes.
- 42477 default-of-credit-card-clients: 30000 rows, `y` 1 is default. Many codes.
- 287 wine_quality: 6497 rows of 11; red and white are not told apart. Many codes.
- 42712 Bike_Sharing_Demand, version 2: 17379 rows, `count`. scikit-learn's examples, by name and version.
- 554 mnist_784, version 1: 70000 rows of 784, training images first. scikit-learn's examples, by name and version.
- 1113 KDDCup99: 494020 rows of 41, the tenth part that UCI offers. CapyMOA's documentation, with a link.
- 1430 a9a: 48842 rows of 123, labels -1 and 1. Intel's scikit-learn benchmarks, by name, with a link; the order of
  the rows was not found, so training and test rows are drawn.
- 1575 ijcnn: 22 features, labels -1 and 1. Intel's benchmarks, by name: 191681 rows, which is LIBSVM's test file once
  and its training file twice. So each record is taken once; that this is the reason is a guess.

KDDCup98 and CIFAR-10 (lwang21), rcv1, SUSY, Buzz and Year (dwang20) are not here.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import socket
import urllib.request
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dpcheck.bounds.language.errors import DpcheckError, InvalidInput, MissingDependency, UnknownName
from dpcheck.datasets.embedded import Dataset
from dpcheck.kernels.blocks import seed_of
from dpcheck.problems.losses import Array, must_be_positive

Part = Literal["train", "test", "all"]
SITE = "https://www.openml.org/api/v1/json/data/"
TIMEOUT = 20.0  # seconds without an answer


class DataUnavailable(DpcheckError, OSError):
    """A data set that is neither in the cache nor to be had from OpenML now."""

    def __init__(self, name: str, number: int, cause: object, folder: Path) -> None:
        self.name, self.number = name, number
        super().__init__(
            f"data set {name!r} (OpenML {number}) is not in {folder} and could not be downloaded: {cause}. "
            f"Load it once with a connection, or copy that folder from a machine that has it and pass data_home=."
        )


@dataclass(frozen=True)
class Used:
    """How a document uses a data set: sizes of its training and test part, drawn at random; None is all or the rest."""

    train: int | None = None
    test: int | None = None
    among: tuple[int | None, int | None] = (None, None)  # of the rows as OpenML has them: from, up to
    complete: bool = False  # records with missing values are left out
    scale_columns: bool = False  # each divided by its largest size before the rows are scaled


@dataclass(frozen=True)
class OpenMLSource:
    """A data set of OpenML. Labels in `positive` become 1, others -1; `limits` of a real label become -1 and 1.

    With neither, labels are the numbers of their classes.
    """

    number: int
    title: str
    used: Mapping[str, Used] = field(default_factory=lambda: {"": Used()})
    positive: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    once: bool = False  # records that occur again are left out


# The first document of each is the default. Sections: dwang20 3.1.5, 3.2 and 4.1, 4.3; wangxu19 experiments; zhang17
# Table 2; lwang21 4.7, 5.4 and 6.6; lssgd20 MNIST.
SOURCES: dict[str, OpenMLSource] = {
    "covertype": OpenMLSource(
        1596, "covertype", {"dwang20": Used(500_000), "wangxu19": Used(200_000)}, positive=("2",)
    ),
    "ijcnn1": OpenMLSource(
        1575, "ijcnn", {"dwang20": Used(50_000), "lwang21": Used(49_990, 91_701)}, positive=("1", "1.0"), once=True
    ),
    "adult": OpenMLSource(
        1590,
        "adult",
        {
            "dwang20": Used(28_000, 2_000),
            "zhang17": Used(among=(16_281, None)),
            "lwang21": Used(30_000, complete=True, scale_columns=True),
        },
        positive=(">50K",),
    ),
    "bank": OpenMLSource(1461, "bank-marketing", {"zhang17": Used()}, positive=("2", "yes")),
    "credit_card": OpenMLSource(42477, "default-of-credit-card-clients", {"zhang17": Used()}, positive=("1",)),
    "wine_quality": OpenMLSource(287, "wine_quality", {"zhang17": Used()}, limits=(0, 10)),
    "bike": OpenMLSource(42712, "Bike_Sharing_Demand", {"zhang17": Used()}, limits=(0, 1000)),
    "a9a": OpenMLSource(1430, "a9a", {"lwang21": Used(32_561, 16_281)}, positive=("1", "1.0")),
    "mnist": OpenMLSource(
        554, "mnist_784", {document: Used(50_000, 10_000, among=(None, 60_000)) for document in ("lssgd20", "lwang21")}
    ),
    "kddcup99": OpenMLSource(
        1113,
        "KDDCup99",
        {"lwang21": Used(50_000, 20_000, scale_columns=True)},
        positive=("back", "land", "neptune", "pod", "smurf", "teardrop"),
    ),
}


def load(
    name: str,
    *,
    document: str | None = None,
    part: Part = "train",
    seed: int = 0,
    data_home: str | os.PathLike[str] | None = None,
    timeout: float = TIMEOUT,
) -> Dataset:
    """A data set by name ("covertype", "ijcnn1", "adult", "bank", "mnist", ...), as a document uses it.

    `document` is its key ("dwang20", "zhang17", ...), by default the first of SOURCES[name].used. Training and test
    rows are drawn by `seed`; "all" are all that the document uses. Columns that a document scales by their largest
    size (lwang21) are read off the data, which no guarantee covers. Downloads once into scikit-learn's `data_home`.
    Raises UnknownName, and DataUnavailable where the data are not in the cache and OpenML does not answer within
    `timeout` seconds.
    """
    if not isinstance(name, str) or name not in SOURCES:
        raise UnknownName("data set", name, f"one of {', '.join(SOURCES)}", "Check the spelling.")
    source = SOURCES[name]
    document = document or next(iter(source.used))
    if document not in source.used:
        raise UnknownName("document", document, f"one of {', '.join(source.used)}", f"They use {name}.")
    if part not in ("train", "test", "all"):
        raise InvalidInput("part", part, '"train", "test" or "all"', "Leave it out for the training rows.")
    must_be_positive("timeout", timeout)
    seed_of(seed)  # refuses a bad one before the download
    use = source.used[document]
    raw = fetched(name, source, data_home, timeout)
    rows = slice(*use.among)
    X, y, missing = features(raw)[rows], labels(raw, source)[rows], missing_in(raw)[rows]
    if use.complete:
        X, y = X[~missing], y[~missing]
    if len(X) == 0:
        limit = f"with rows in {rows}, as {document} uses it"
        raise InvalidInput(f"OpenML data set {source.number}", "too short", limit, "Report this.")
    if source.once:
        first = np.sort(np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1])
        X, y = X[first], y[first]
    chosen = rows_of(len(X), use, part, seed)
    if use.scale_columns:
        X = X / np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
    return Dataset(name, unit_rows(X[chosen]), y[chosen])


def fetched(name: str, source: OpenMLSource, data_home: Any, timeout: float) -> Any:
    """What OpenML has under this number, if it is what we think it is."""
    try:
        from sklearn.datasets import fetch_openml, get_data_home
    except ImportError as cause:
        raise MissingDependency("scikit-learn", "the OpenML client", "verify") from cause
    folder = Path(get_data_home(data_home)) / "openml"
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(timeout)
    try:
        if not (folder / "openml.org" / "api/v1/json/data" / f"{source.number}.gz").exists():
            # The client would try this four times over.
            urllib.request.urlopen(f"{SITE}{source.number}", timeout=timeout).close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its retries
            raw = fetch_openml(
                data_id=source.number, data_home=data_home, as_frame=False, parser=arff_parser(), n_retries=1, delay=0.1
            )
    # URLError, HTTPError, time-outs; answers cut short; a login page, an unknown number or a false checksum.
    except (OSError, HTTPException, EOFError, zlib.error, ValueError) as cause:
        raise DataUnavailable(name, source.number, cause, folder) from cause
    finally:
        socket.setdefaulttimeout(before)
    title = str(raw.details["name"])
    if title.lower() != source.title.lower():
        raise InvalidInput(f"OpenML data set {source.number}", title, source.title, "Report this: the number is wrong.")
    return raw


def arff_parser() -> str:
    """The fast one where pandas is installed and reads categories as text, the slow one otherwise.

    Newer pandas make numbers of categories such as 0 to 9, at which scikit-learn 1.9 fails, and deletes its cache.
    """
    if importlib.util.find_spec("pandas") is None:
        return "liac-arff"
    pandas = importlib.import_module("pandas")
    categories = pandas.read_csv(io.StringIO("0\n"), header=None, dtype="category")[0].cat.categories
    return "auto" if isinstance(categories[0], str) else "liac-arff"


def features(raw: Any) -> Array:
    """Numbers as they are, categories as one binary feature each; a missing value is 0 in all of them."""
    data = raw.data.toarray() if hasattr(raw.data, "toarray") else raw.data
    columns = []
    for j, name in enumerate(raw.feature_names):
        categories = (raw.categories or {}).get(name)
        if categories is None:
            columns.append(np.nan_to_num(data[:, j].astype(float))[:, None])
        else:
            columns.append(one_hot(data[:, j], categories))
    return np.hstack(columns)


def one_hot(column: np.ndarray, categories: list[Any]) -> Array:
    """One column for each category that occurs, in order of their names, whichever parser read the file.

    Categories 0 and 1 are one column: covertype has 54 features so, as the documents count them.
    """
    if column.dtype == object:  # the categories themselves
        names = np.array(["" if value is None or value != value else str(value) for value in column])
    else:  # their places
        known = np.array([*map(str, categories), ""])
        names = known[np.where(np.isnan(column), len(categories), column).astype(int)]
    if set(map(str, categories)) <= {"0", "1"}:
        return (names == "1").astype(float)[:, None]
    seen = [name for name in np.unique(names) if name]
    return (names[:, None] == np.array(seen, dtype=str)).astype(float)


def missing_in(raw: Any) -> np.ndarray:
    """Which records lack a value."""
    data = raw.data.toarray() if hasattr(raw.data, "toarray") else raw.data
    if data.dtype == object:
        return np.array([any(value is None or value != value for value in row) for row in data])
    return np.isnan(data).any(axis=1)


def labels(raw: Any, source: OpenMLSource) -> Array:
    """-1 and 1, or numbers in [-1, 1], or the numbers of the classes."""
    if source.limits is not None:
        low, high = source.limits
        return np.clip(2 * (raw.target.astype(float) - low) / (high - low) - 1, -1, 1)
    names = np.array([str(value).strip().removesuffix(".") for value in raw.target])
    if not source.positive:
        return np.unique(names, return_inverse=True)[1].astype(float)
    y = np.where(np.isin(names, source.positive), 1.0, -1.0)
    if len(np.unique(y)) < 2:
        limit = f"labels of which some are in {source.positive} and some not"
        raise InvalidInput(f"OpenML data set {source.number}", sorted(set(names))[:5], limit, "Report this.")
    return y


def rows_of(n: int, use: Used, part: Part, seed: int) -> np.ndarray:
    """Which rows: a random order, cut in training and test part; smaller data sets give what they have."""
    order = np.random.default_rng(seed).permutation(n)
    train = n if use.train is None else min(n, use.train)
    if part == "all":
        return np.arange(n)
    if part == "train":
        return order[:train]
    test = order[train:] if use.test is None else order[train : train + use.test]
    if len(test) == 0:
        raise InvalidInput("part", "test", '"train" or "all"', "No test rows are set apart.")
    return test


def unit_rows(X: Array) -> Array:
    """Each row scaled to norm 1; a row of zeros stays."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)
