"""The documents' own data sets, from OpenML through scikit-learn's client: by name, with the stated preprocessing.

Rows are scaled to norm 1, each by itself, which makes the documents' losses 1-Lipschitz. Categories become binary
features. What a document does not state is left undone.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import urllib.request
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bounds.errors import DpcheckError, InvalidInput, MissingDependency, UnknownName
from dpcheck.datasets import Dataset
from dpcheck.losses import Array

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
    complete: bool = False  # records with missing values are left out
    scale_columns: bool = False  # each divided by its largest size before the rows are scaled


@dataclass(frozen=True)
class Source:
    """A data set of OpenML. Labels in `positive` become 1, others -1; `limits` of a real label become -1 and 1.

    With neither, labels are the numbers of their classes.
    """

    number: int
    title: str
    used: Mapping[str, Used] = field(default_factory=lambda: {"": Used()})
    positive: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None


# The first document of each is the default. Sections: dwang20 3.1.5, 3.2 and 4.1, 4.3; wangxu19 experiments; zhang17
# Table 2; lwang21 4.7, 5.4 and 6.6; lssgd20 MNIST.
SOURCES: dict[str, Source] = {
    "covertype": Source(
        1596, "covertype", {"dwang20": Used(500_000), "wangxu19": Used(200_000)}, positive=("2",)
    ),
    "ijcnn1": Source(1575, "ijcnn", {"dwang20": Used(50_000), "lwang21": Used(49_990, 91_701)}, positive=("1", "1.0")),
    "adult": Source(
        1590, "adult",
        {
            "dwang20": Used(28_000, 2_000),
            "zhang17": Used(32_561),
            "lwang21": Used(30_000, complete=True, scale_columns=True),
        },
        positive=(">50K", ">50K."),
    ),
    "bank": Source(1461, "bank-marketing", {"zhang17": Used()}, positive=("2", "yes")),
    "credit_card": Source(42477, "default-of-credit-card-clients", {"zhang17": Used()}, positive=("1",)),
    "wine_quality": Source(287, "wine_quality", {"zhang17": Used()}, limits=(0, 10)),
    "bike": Source(42712, "Bike_Sharing_Demand", {"zhang17": Used()}, limits=(0, 1000)),
    "a9a": Source(1430, "a9a", {"lwang21": Used(32_561, 16_281)}, positive=("1", "1.0")),
    "mnist": Source(554, "mnist_784", {"lssgd20": Used(50_000, 10_000), "lwang21": Used(50_000, 10_000)}),
    "kddcup99": Source(
        1113, "KDDCup99", {"lwang21": Used(50_000, 20_000, scale_columns=True)},
        positive=("back", "land", "neptune", "pod", "smurf", "teardrop"),
    ),
}  # fmt: skip


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

    Training and test rows are drawn by `seed`. Downloads once into scikit-learn's `data_home`. Raises UnknownName,
    and DataUnavailable where the data are not in the cache and OpenML does not answer within `timeout` seconds.
    """
    if name not in SOURCES:
        raise UnknownName("data set", name, f"one of {', '.join(SOURCES)}", "Check the spelling.")
    source = SOURCES[name]
    document = document or next(iter(source.used))
    if document not in source.used:
        raise UnknownName("document", document, f"one of {', '.join(source.used)}", f"They use {name}.")
    if part not in ("train", "test", "all"):
        raise InvalidInput("part", part, '"train", "test" or "all"', "Leave it out for the training rows.")
    use = source.used[document]
    raw = fetched(name, source, data_home, timeout)
    X, y, missing = features(raw), labels(raw, source), missing_in(raw)
    if use.complete:
        X, y = X[~missing], y[~missing]
    chosen = rows_of(len(X), use, part, seed)
    if use.scale_columns:
        X = X / np.maximum(np.abs(X).max(axis=0), np.finfo(float).tiny)
    return Dataset(name, unit_rows(X[chosen]), y[chosen])


def fetched(name: str, source: Source, data_home: Any, timeout: float) -> Any:
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
    except OSError as cause:  # URLError, HTTPError and time-outs
        raise DataUnavailable(name, source.number, cause, folder) from cause
    finally:
        socket.setdefaulttimeout(before)
    title = str(raw.details["name"])
    if title.lower() != source.title.lower():
        raise InvalidInput(f"OpenML data set {source.number}", title, source.title, "Report this: the number is wrong.")
    return raw


def arff_parser() -> str:
    """The fast one where pandas is installed."""
    return "auto" if importlib.util.find_spec("pandas") else "liac-arff"


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
    """One column for each category that occurs, in order of their names, whichever parser read the file."""
    if column.dtype == object:  # the categories themselves
        names = np.array(["" if value is None or value != value else str(value) for value in column])
    else:  # their places
        known = np.array([*map(str, categories), ""])
        names = known[np.where(np.isnan(column), len(categories), column).astype(int)]
    seen = [name for name in np.unique(names) if name]
    return (names[:, None] == np.array(seen, dtype=str)).astype(float)


def missing_in(raw: Any) -> np.ndarray:
    """Which records lack a value."""
    data = raw.data.toarray() if hasattr(raw.data, "toarray") else raw.data
    if data.dtype == object:
        return np.array([any(value is None or value != value for value in row) for row in data])
    return np.isnan(data).any(axis=1)


def labels(raw: Any, source: Source) -> Array:
    """-1 and 1, or numbers in [-1, 1], or the numbers of the classes."""
    if source.limits is not None:
        low, high = source.limits
        return np.clip(2 * (raw.target.astype(float) - low) / (high - low) - 1, -1, 1)
    names = np.array([str(value).strip() for value in raw.target])
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
