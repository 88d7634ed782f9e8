"""The documents' data sets: loaded from a small local copy of OpenML's format; no test goes online."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

import dpcheck
from bounds.errors import InvalidInput, UnknownName
from dpcheck import openml
from dpcheck.losses import Huber, Logistic

ADULT = """@RELATION adult
@ATTRIBUTE age NUMERIC
@ATTRIBUTE workclass {Private, State-gov, Never}
@ATTRIBUTE hours NUMERIC
@ATTRIBUTE class {'<=50K', '>50K'}
@DATA
39, State-gov, 40, '<=50K'
50, Private, 13, '>50K'
38, ?, 40, '<=50K'
53, Private, 40, '>50K'
0, ?, 0, '<=50K'
28, Private, 40, '<=50K'
"""
IJCNN = """@RELATION ijcnn
@ATTRIBUTE a NUMERIC
@ATTRIBUTE b NUMERIC
@ATTRIBUTE Y {-1, 1}
@DATA
{0 3.0, 1 4.0, 2 1}
{1 -2.0, 2 -1}
{0 1.0, 2 -1}
"""
WINE = """@RELATION wine
@ATTRIBUTE acid NUMERIC
@ATTRIBUTE quality NUMERIC
@DATA
7.4, 5
6.2, 10
5.0, 0
"""


def shelve(home: Path, number: int, name: str, arff: str, target: str, sparse: bool = False) -> Path:
    """Puts a data set in scikit-learn's cache as a download would."""
    root = home / "openml" / "openml.org"
    lines = [line.split(None, 2)[1:] for line in arff.splitlines() if line.startswith("@ATTRIBUTE")]
    features = [
        {
            "index": str(i), "name": column, "data_type": "numeric" if kind == "NUMERIC" else "nominal",
            "is_target": str(column == target).lower(), "is_ignore": "false", "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for i, (column, kind) in enumerate(lines)
    ]  # fmt: skip
    url = f"https://www.openml.org/data/v1/download/{number}/{name}.arff"
    about = {
        "id": str(number), "file_id": str(number),
        "name": name, "version": "1", "format": "Sparse_ARFF" if sparse else "ARFF", "url": url,
        "status": "active", "description": "a few rows", "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }  # fmt: skip
    rows = len(arff.split("@DATA\n")[1].splitlines())
    contents = {
        f"api/v1/json/data/{number}": json.dumps({"data_set_description": about}),
        f"api/v1/json/data/features/{number}": json.dumps({"data_features": {"feature": features}}),
        f"api/v1/json/data/qualities/{number}": json.dumps(
            {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(rows)}]}}
        ),
        f"data/v1/download/{number}/{name}.arff": arff,
        f"data/v1/download/{number}": arff,  # where older scikit-learns look
    }
    for path, text in contents.items():
        file = root / f"{path}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()))
    return home


@pytest.fixture(params=["auto", "liac-arff"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With pandas, where it is installed, and without."""
    if request.param == "auto":
        pytest.importorskip("pandas")
    monkeypatch.setattr(openml, "arff_parser", lambda: request.param)
    return str(request.param)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise URLError("no connection")

    monkeypatch.setattr(urllib.request, "urlopen", refused)


def test_categories_become_features_and_rows_have_norm_one(tmp_path: Path, parser: str) -> None:
    shelve(tmp_path, 1590, "adult", ADULT, "class")
    found = dpcheck.datasets.load("adult", part="all", data_home=tmp_path)
    assert found.X.shape == (6, 4)  # 'Never' never occurs
    assert np.allclose(np.linalg.norm(found.X, axis=1), [1, 1, 1, 1, 0, 1])
    assert np.allclose(found.X[1], np.array([50, 1, 0, 13]) / np.linalg.norm([50, 1, 13]))
    assert np.allclose(found.X[2], np.array([38, 0, 0, 40]) / np.hypot(38, 40))  # the missing category is none
    assert found.y.tolist() == [-1, 1, -1, 1, -1, -1]
    assert found.problem(Logistic(), l2=0.1).n == 6


def test_a_document_may_leave_out_records_and_scale_columns(tmp_path: Path, parser: str) -> None:
    shelve(tmp_path, 1590, "adult", ADULT, "class")
    found = openml.load("adult", document="lwang21", part="all", data_home=tmp_path)
    assert len(found.X) == 4
    assert np.allclose(found.X[1], np.array([50 / 53, 1, 0, 13 / 40]) / np.linalg.norm([50 / 53, 1, 13 / 40]))


def test_sparse_files_and_real_labels(tmp_path: Path) -> None:
    shelve(tmp_path, 1575, "ijcnn", IJCNN, "Y", sparse=True)
    shelve(tmp_path, 287, "wine_quality", WINE, "quality")
    signs = openml.load("ijcnn1", part="all", data_home=tmp_path)
    assert np.allclose(signs.X, [[0.6, 0.8], [0, -1], [1, 0]])
    assert signs.y.tolist() == [1, -1, -1]
    wine = openml.load("wine_quality", part="all", data_home=tmp_path)
    assert wine.y.tolist() == [0, 1, -1]
    assert wine.problem(Huber(0.5)).n == 3


def test_training_and_test_rows_are_drawn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelve(tmp_path, 1590, "adult", ADULT, "class")
    use = {"dwang20": openml.Used(4, 1)}
    source = openml.Source(1590, "adult", use, positive=(">50K",))
    monkeypatch.setitem(openml.SOURCES, "adult", source)
    train, test, all_ = (openml.load("adult", part=p, seed=3, data_home=tmp_path) for p in ("train", "test", "all"))
    assert (len(train.X), len(test.X)) == (4, 1)
    places = [[int(np.flatnonzero((row == all_.X).all(axis=1))[0]) for row in part.X] for part in (train, test)]
    assert not set(places[0]) & set(places[1])
    again = openml.load("adult", part="train", seed=3, data_home=tmp_path)
    assert np.array_equal(train.X, again.X)


def test_offline_is_one_typed_error_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(openml.DataUnavailable, match=r"'mnist' \(OpenML 554\).*no connection.*data_home") as caught:
        dpcheck.datasets.load("mnist", data_home=tmp_path)
    assert isinstance(caught.value, dpcheck.DpcheckError)
    assert isinstance(caught.value, OSError)
    assert socket.getdefaulttimeout() is None


@pytest.fixture
def silent() -> Iterator[int]:
    """A server that takes the call and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_server_that_never_answers_is_given_up(tmp_path: Path, silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(openml, "SITE", f"http://127.0.0.1:{silent}/")
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(openml.DataUnavailable, match="timed out"):
        openml.load("covertype", data_home=tmp_path, timeout=0.2)


def test_another_data_set_under_the_number_is_refused(tmp_path: Path) -> None:
    shelve(tmp_path, 1590, "iris", ADULT, "class")
    with pytest.raises(InvalidInput, match="iris"):
        openml.load("adult", data_home=tmp_path)


def test_labels_that_are_all_the_same_are_refused(tmp_path: Path) -> None:
    shelve(tmp_path, 1461, "bank-marketing", ADULT, "class")
    with pytest.raises(InvalidInput, match="50K"):
        openml.load("bank", data_home=tmp_path)


@pytest.mark.parametrize(
    ("name", "settings", "word"),
    [("adlt", {}, "adult"), ("adult", {"document": "wangxu19"}, "zhang17"), ("adult", {"part": "half"}, "train")],
)
def test_bad_arguments_name_what_there_is(name: str, settings: dict[str, Any], word: str) -> None:
    with pytest.raises((UnknownName, InvalidInput), match=word):
        openml.load(name, **settings)
