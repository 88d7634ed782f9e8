"""The documents' data sets: loaded from a small local copy of OpenML's format; no test goes online."""

from __future__ import annotations

import gzip
import hashlib
import http.client
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
from dpcheck.bounds.language.errors import InvalidInput, UnknownName
from dpcheck.datasets import openml
from dpcheck.problems.losses import Huber, Logistic

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
{0 3.0, 1 4.0, 2 1}
"""
COVERTYPE = """@RELATION covertype
@ATTRIBUTE elevation NUMERIC
@ATTRIBUTE soil1 {0, 1}
@ATTRIBUTE soil2 {0,1}
@ATTRIBUTE class {1, 2, 3}
@DATA
0, 1, 0, 2
1, 0, 1, 3
2, 0, 0, 2
"""
MNIST = """@RELATION mnist_784
@ATTRIBUTE pixel1 NUMERIC
@ATTRIBUTE pixel2 NUMERIC
@ATTRIBUTE class {0, 1, 2}
@DATA
255, 0, 2
0, 128, 0
3, 4, 1
0, 0, 1
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
            "index": str(i),
            "name": column,
            "data_type": "numeric" if kind == "NUMERIC" else "nominal",
            "is_target": str(column == target).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for i, (column, kind) in enumerate(lines)
    ]
    url = f"https://www.openml.org/data/v1/download/{number}/{name}.arff"
    about = {
        "id": str(number),
        "file_id": str(number),
        "name": name,
        "version": "1",
        "format": "Sparse_ARFF" if sparse else "ARFF",
        "url": url,
        "status": "active",
        "description": "a few rows",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
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


@pytest.fixture(params=["chosen", "liac-arff"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one for this pandas, and that without."""
    if request.param != "chosen":
        monkeypatch.setattr(openml, "arff_parser", lambda: request.param)
    return openml.arff_parser()


def test_the_parser_suits_the_pandas_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """scikit-learn takes the quotes off categories, so they must be text."""
    pandas = pytest.importorskip("pandas")
    for categories, parser in ((["0"], "auto"), ([0], "liac-arff")):
        frame = pandas.DataFrame({0: pandas.Categorical(categories)})
        monkeypatch.setattr(pandas, "read_csv", lambda *_, frame=frame, **__: frame)
        assert openml.arff_parser() == parser


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
    assert signs.y.tolist() == [1, -1, -1]  # the record that occurs twice is taken once
    wine = openml.load("wine_quality", part="all", data_home=tmp_path)
    assert wine.y.tolist() == [0, 1, -1]
    assert wine.problem(Huber(0.5)).n == 3


def test_categories_of_0_and_1_are_one_feature(tmp_path: Path, parser: str) -> None:
    """So covertype has the 54 features that the documents count."""
    shelve(tmp_path, 1596, "covertype", COVERTYPE, "class")
    found = openml.load("covertype", part="all", data_home=tmp_path)
    assert np.allclose(found.X, [[0, 1, 0], [0.5**0.5, 0, 0.5**0.5], [1, 0, 0]])
    assert found.y.tolist() == [1, -1, 1]


def test_classes_of_digits_are_numbers_for_softmax(tmp_path: Path, parser: str) -> None:
    shelve(tmp_path, 554, "mnist_784", MNIST, "class")
    found = openml.load("mnist", part="all", data_home=tmp_path)
    assert found.y.tolist() == [2, 0, 1, 1]
    problem = found.problem(dpcheck.Softmax(3), l2=1e-4)
    assert (problem.n, problem.d) == (4, 6)


def test_a_document_may_use_the_rows_of_a_published_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adult's training rows follow its test rows, mnist's come first; of these training and test rows are drawn."""
    assert openml.SOURCES["adult"].used["zhang17"].among == (16_281, None)
    assert openml.SOURCES["mnist"].used["lssgd20"].among == (None, 60_000)
    shelve(tmp_path, 1590, "adult", ADULT, "class")
    with pytest.raises(InvalidInput, match="too short"):
        openml.load("adult", document="zhang17", data_home=tmp_path)
    used = {"last": openml.Used(among=(2, None)), "first": openml.Used(2, 1, among=(None, 3))}
    monkeypatch.setitem(openml.SOURCES, "adult", openml.OpenMLSource(1590, "adult", used, positive=(">50K",)))
    everything = openml.load("adult", document="last", part="all", data_home=tmp_path)
    assert everything.y.tolist() == [-1, 1, -1, -1]
    assert len(openml.load("adult", document="last", data_home=tmp_path).X) == 4
    parts = [openml.load("adult", document="first", part=p, data_home=tmp_path) for p in ("train", "test")]
    assert [len(part.X) for part in parts] == [2, 1]
    assert sorted([*parts[0].y, *parts[1].y]) == [-1, -1, 1]


def test_training_and_test_rows_are_drawn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelve(tmp_path, 1590, "adult", ADULT, "class")
    use = {"dwang20": openml.Used(4, 1)}
    source = openml.OpenMLSource(1590, "adult", use, positive=(">50K",))
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


@pytest.mark.parametrize(
    "fault",
    [
        TimeoutError("timed out"),
        http.client.IncompleteRead(b"half"),
        EOFError("cut short"),
        json.JSONDecodeError("Expecting value", "<html>log in</html>", 0),
        ValueError("md5 checksum does not match"),
    ],
)
def test_half_a_download_is_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    import sklearn.datasets

    def broken(**_: Any) -> Any:
        raise fault

    shelve(tmp_path, 1590, "adult", ADULT, "class")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", broken)
    with pytest.raises(openml.DataUnavailable, match=r"'adult'.*could not be downloaded") as caught:
        openml.load("adult", data_home=tmp_path)
    assert caught.value.__cause__ is fault
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
    [
        ("adlt", {}, "adult"),
        (["adult"], {}, "one of covertype"),
        ("adult", {"document": "wangxu19"}, "zhang17"),
        ("adult", {"part": "half"}, "train"),
        ("adult", {"timeout": -1.0}, "timeout is -1.0"),
        ("adult", {"seed": -1}, "seed is -1"),
    ],
)
def test_bad_arguments_name_what_there_is(name: Any, settings: dict[str, Any], word: str) -> None:
    with pytest.raises((UnknownName, InvalidInput), match=word):
        openml.load(name, **settings)
