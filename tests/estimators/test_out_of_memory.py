"""Fits of data that do not fit into memory: files mapped to it, read in blocks, and Dask arrays, of which partitions
send sums alone. Same result, same guarantee, same refusals as in memory.
"""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from generated_blocks import Generated
from sklearn.base import clone

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.estimators import (
    PrivateHuber,
    PrivateLogisticRegression,
    PrivateRidge,
    PrivateSparseLogisticRegression,
    PrivateSparseRegression,
)
from dpcheck.estimators.base import as_rows, bounded
from dpcheck.kernels import single_precision
from dpcheck.problems.parted_rows import PartedRows
from dpcheck.problems.rows import BoundedRows, GivenRows, in_a_file
from dpcheck.solvers.finding import solvers

N, D = 3000, 6
SEEDED = {"random_state": 0}
SHORT = {**SEEDED, "solver_options": {"steps": 5}}
MODELS: dict[str, Any] = {
    "logistic": PrivateLogisticRegression(classes=(0, 1), **SEEDED),  # with momentum, as the rules have it
    "softmax": PrivateLogisticRegression(classes=(0, 1, 2), **SHORT),
    "one against the rest": PrivateLogisticRegression(classes=(0, 1, 2), multi_class="one_vs_rest", **SHORT),
    "pure": PrivateLogisticRegression(delta=0.0, classes=(0, 1), **SHORT),
    "ridge": PrivateRidge(**SHORT),
    "huber, accelerated": PrivateHuber(solver="dp_accmd", fit_intercept=False, **SHORT),
    "l1 ball, pure": PrivateSparseRegression(delta=0.0, **SHORT),
    "l1 ball, corners": PrivateSparseLogisticRegression(
        classes=(0, 1), solver="dp_fw_l1", random_state=0, solver_options={"entry_bound": 0.8, "steps": 9}
    ),
    "mirror descent": PrivateHuber(solver="dp_pmd", **SHORT),
}
# What single records are asked for: read from a file, refused in partitions.
IN_BATCHES = ["dp_sgd", "bassily_sgd", "rrpsgd", "dp_lssgd", "dp_lsadam", "dp_srm", "dp_svrg", "dp_svrg_minibatch"]
IN_BATCHES += ["dp_svrgpp", "dp_katyusha"]


def data(n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of all lengths, a NaN, an infinity, a row too long for its norm, labels that are none."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)) * rng.choice([0.1, 1.0, 30.0], (n, 1))
    y = (X[:, 0] > 0).astype(float)
    X[3, 1], X[n - 2, 2], y[11] = np.nan, np.inf, 7.0
    X[40] *= 1e200
    return X, y


def as_file(folder: Path, X: np.ndarray) -> np.memmap:
    path = folder / "rows.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def coefficients(model: Any, X: Any, y: Any) -> np.ndarray:
    fitted = clone(model).fit(X, y)
    return np.concatenate([np.ravel(fitted.coef_), np.ravel(fitted.intercept_)])


# Files mapped to memory -------------------------------------------------------------------------------
@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[BoundedRows]:
    """Every table of all rows that is made on the way."""
    made: list[BoundedRows] = []
    table = BoundedRows.dense.func  # type: ignore[attr-defined]
    monkeypatch.setattr(BoundedRows.dense, "func", lambda rows: made.append(rows) or table(rows))
    return made


@pytest.mark.parametrize("name", MODELS)
def test_a_mapped_file_gives_the_bits_of_memory(name: str, tmp_path: Path, tables: list[BoundedRows]) -> None:
    X, y = data()
    by_file = coefficients(MODELS[name], as_file(tmp_path, X), y)
    assert not tables
    assert np.array_equal(by_file, coefficients(MODELS[name], X, y))


def fitted_if_taken(model: Any, X: Any, y: Any) -> np.ndarray | None:
    """None where the solver refuses these data, or needs another ball or more records for its noise."""
    try:
        return coefficients(model, X, y)
    except InvalidInput:
        return None


def test_no_solver_makes_a_table_of_a_file(
    tmp_path: Path, tables: list[BoundedRows], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every solver there is, with the same bits as from memory, in blocks and in batches."""
    monkeypatch.setattr(single_precision, "LARGEST_TABLE", 0)  # these rows stand for many
    X, y = data(200)
    mapped, taken = as_file(tmp_path, X), set()
    for solver in sorted(stem for stem, kind in solvers().items() if kind.minimises):
        for model in (
            PrivateLogisticRegression(classes=(0, 1), solver=solver, **SEEDED),
            PrivateSparseLogisticRegression(classes=(0, 1), solver=solver, **SEEDED),
        ):
            rows = slice(60) if solver == "rrpsgd" else slice(None)  # n² steps
            by_file = fitted_if_taken(model, mapped[rows], y[rows])
            if by_file is not None:
                taken.add(solver)
                assert not tables, solver
                assert np.array_equal(by_file, coefficients(model, X[rows], y[rows]))
                tables.clear()
                break
    assert taken >= {*IN_BATCHES, "dp_gd", "outpert_gd", "dp_accmd", "dp_fw_l1"}


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8, np.uint16, bool])
def test_numbers_of_any_type_are_read_as_floats(kind: Any, tmp_path: Path) -> None:
    X = (5 * np.random.default_rng(0).random((N, D))).astype(kind)
    y, model = (X[:, 0] > 2).astype(int), MODELS["logistic"]
    expected = coefficients(model, X.astype(float), y)
    assert np.array_equal(coefficients(model, X, y), expected)
    assert np.array_equal(coefficients(model, as_file(tmp_path, X), y), expected)
    strict = clone(model).set_params(rows="refuse", data_norm=40.0)
    assert np.array_equal(coefficients(strict, X, y), coefficients(strict, X.astype(float), y))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("broken", [False, True], ids=["clean", "with bad and overlong rows"])
def test_no_copy_is_made_of_a_file(kind: Any, broken: bool, tmp_path: Path) -> None:
    """Whatever its rows hold: what is allocated on the way is a fraction of it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 60)).astype(kind)
    if broken:
        X[5, 5], X[7] = np.nan, np.finfo(kind).max / 4
    y, mapped = rng.integers(0, 2, 20_000), as_file(tmp_path, X)
    model = PrivateLogisticRegression(classes=(0, 1), **SEEDED)
    model.fit(mapped[:100], y[:100])
    tracemalloc.start()
    model.fit(mapped, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 0.45 * 8 * X.size


def test_files_are_known_however_they_are_cut(tmp_path: Path) -> None:
    mapped = as_file(tmp_path, np.ones((9, 2)))
    assert all(in_a_file(one) for one in (mapped, mapped[2:5], np.asarray(mapped), GivenRows(mapped[1:])))
    assert not any(in_a_file(one) for one in (np.array(mapped), GivenRows(np.ones((2, 2)))))
    rows = bounded(as_rows(mapped), 0.5, "clip", 0.25)
    some = np.array([[0, 3], [8, 8]])
    chosen, taken, part = rows[some], rows.take(some, axis=0), rows[2:4]
    assert "dense" not in vars(rows)
    assert np.array_equal(chosen, np.asarray(rows)[some])
    assert np.array_equal(taken, chosen)
    assert np.array_equal(part, np.asarray(rows)[2:4])


# Dask arrays ------------------------------------------------------------------------------------------
@pytest.fixture(autouse=True)
def here() -> Any:
    """Without a cluster, in this process."""
    config = pytest.importorskip("dask").config
    with config.set(scheduler="sync"):
        yield


def parted(X: np.ndarray, y: np.ndarray, rows: int = 777, columns: int = 4) -> tuple[Any, Any]:
    import dask.array as da

    return da.from_array(X, chunks=(rows, columns)), da.from_array(y, chunks=501)


@pytest.mark.parametrize("name", MODELS)
def test_partitions_give_the_result_of_memory(name: str) -> None:
    X, y = data()
    expected = coefficients(MODELS[name], X, y)
    for labels in (parted(X, y)[1], list(y)):
        found = coefficients(MODELS[name], parted(X, y, rows=1700)[0], labels)
        assert np.allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_partitions_come_with_the_same_guarantee() -> None:
    X, y = data()
    here, there = (clone(MODELS["logistic"]).fit(*made) for made in ((X, y), parted(X, y)))
    for name in ("guarantee_", "rests_on_", "solver_", "plan_", "n_iter_", "caveats_", "n_features_in_"):
        assert getattr(here, name) == getattr(there, name)
    assert here.noise_std_ == there.noise_std_
    assert np.array_equal(here.classes_, there.classes_)
    assert np.array_equal(here.predict(X[:50]), there.predict(X[:50]))


def test_an_unclipped_partition_would_show() -> None:
    """The planted bug: a reader that leaves rows as they are gives another result."""
    X, y = data()
    sound, wrong = MODELS["logistic"], clone(MODELS["logistic"])
    wrong._bounded = lambda table, read, scaling: BoundedRows(table, np.ones(len(table)), np.ones(len(table)), scaling)
    wrong._without_seed = lambda: wrong
    X, y = X[50:1500], y[50:1500]  # numbers all
    expected = coefficients(sound, X, y)
    assert np.allclose(coefficients(sound, *parted(X, y)), expected, rtol=1e-8)
    found = wrong.fit(*parted(X, y))
    assert not np.allclose(found.coef_.ravel(), expected[:-1], rtol=1e-2)


def test_only_sums_leave_the_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that Dask hands back has the size of the weights, and no task knows the seed of the noise."""
    import dask
    from dask.delayed import Delayed

    X, y = data()
    returned: list[Any] = []
    compute = Delayed.compute

    def watched(self: Any, **settings: Any) -> Any:
        found = compute(self, **settings)
        returned.append(np.shape(found))
        return found

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("asked for records")

    model, (rows, labels) = clone(MODELS["softmax"]), parted(X, y)
    monkeypatch.setattr(Delayed, "compute", watched)
    monkeypatch.setattr("dask.array.Array.compute", forbidden)
    monkeypatch.setattr("dask.array.Array.__array__", forbidden)
    model.fit(rows, labels)
    assert returned == [(3, D + 1)] * model.n_iter_
    assert pickle.loads(pickle.dumps(model._without_seed())).random_state is None
    assert dask.config.get("scheduler") == "sync"


def test_sums_have_the_same_bits_wherever_partitions_run() -> None:
    import dask

    found = []
    for scheduler in ("sync", "threads"):
        with dask.config.set(scheduler=scheduler):
            model = clone(MODELS["ridge"]).set_params(solver_options={"steps": 3})
            found.append(coefficients(model, *parted(*data(), rows=90)))
    assert np.array_equal(*found)


def test_empty_partitions_add_nothing() -> None:
    import dask.array as da

    X, y = data(60)
    holes = da.concatenate([da.from_array(X, chunks=(30, D)), da.zeros((0, D)), da.zeros((0, D))])
    assert np.allclose(coefficients(MODELS["ridge"], holes, y), coefficients(MODELS["ridge"], X, y), rtol=1e-8)


@pytest.mark.parametrize("solver", IN_BATCHES)
def test_solvers_that_ask_for_records_are_refused(solver: str) -> None:
    X, y = data(400)
    model = PrivateLogisticRegression(classes=(0, 1), solver=solver, **SEEDED)
    with pytest.raises(InvalidInput, match=r"rows in partitions is single records.*solver='dp_gd'.*X\.compute"):
        model.fit(*parted(X, y))


def test_bounds_are_declared_and_never_looked_up() -> None:
    X, y = data(100)
    for model, name in (
        (PrivateLogisticRegression(), "classes"),
        (PrivateLogisticRegression(classes=(0, 1), data_norm=None), "data_norm"),
        (PrivateRidge(target_bound=None), "target_bound"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none is given in place of the refusal
            with pytest.raises(InvalidInput, match=rf"{name} is None.*Pass {name}: data in partitions"):
                model.fit(*parted(X, y))


def test_bad_shapes_and_types_are_refused() -> None:
    import dask.array as da

    X, y = data(100)
    rows, labels = parted(X, y)
    model = MODELS["logistic"]
    for wrong, other, says in (
        (rows[rows[:, 0] > 0], labels, r"shape of X is .*compute_chunk_sizes"),
        (rows[:, 0], labels, "one row a record"),
        (rows.astype(complex), labels, "a table of numbers"),
        (da.zeros((0, 3)), y[:0], "shape of X"),
        (rows, labels[:-1], r"shape of y is \(99,\)"),
        (rows, y[:-1], r"shape of y is \(99,\)"),
        (rows, np.stack([y, y]), r"shape of y is \(2, 100\)"),
    ):
        with pytest.raises(InvalidInput, match=says):
            clone(model).fit(wrong, other)
    frame = type("DataFrame", (), {"__module__": "dask.dataframe.core"})()  # the real one needs a library more
    for wrong, other in ((frame, y), (rows, frame)):
        with pytest.raises(InvalidInput, match=r"to_dask_array\(lengths=True\)"):
            clone(model).fit(wrong, other)
    with pytest.raises(InvalidInput, match="map_blocks"):
        clone(model).fit(rows, labels).predict(rows)
    fitted = clone(model).fit(rows, labels)
    by_blocks = rows.rechunk((30, -1)).map_blocks(fitted.predict, drop_axis=1, dtype=int)
    assert np.array_equal(by_blocks.compute(), fitted.predict(X))


def test_refused_rows_are_refused_where_they_are() -> None:
    X, y = data(3000)
    X, y = np.clip(np.nan_to_num(X), -1, 1) / 3, np.clip(y, 0, 1)
    model = clone(MODELS["logistic"]).set_params(rows="refuse")
    assert np.allclose(coefficients(model, *parted(X, y)), coefficients(model, X, y), rtol=1e-8)
    X, y = X[:100], y[:100]
    X[70] = 9.0
    with pytest.raises(InvalidInput, match=r"norm of row 10 of partition 2 is too large.*at most data_norm=1"):
        model.fit(*parted(X, y, 30))
    X[70], y[35] = 0.0, 5
    with pytest.raises(InvalidInput, match=r"label 5 of partition 1 is .*one of classes"):
        model.fit(*parted(X, y, 30))
    X[2, 2], y[35] = np.nan, 1
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(*parted(X, y, 30))


# A cluster ------------------------------------------------------------------------------------------
def test_a_cluster_that_loses_a_worker_gives_the_same_fit(dask: Any, tmp_path: Path) -> None:
    """Blocks made on the workers, one of which is killed in the second pass over them."""
    import dask as library

    source = Generated(blocks=6, rows=500, d=5, folder=tmp_path)
    model = clone(MODELS["logistic"]).set_params(solver_options={"steps": 5})
    with library.config.set(scheduler=dask):
        found = coefficients(model, *source.arrays())
    assert (tmp_path / "killed").exists()
    assert np.array_equal(found, coefficients(model, *Generated(6, 500, 5).arrays()))
    assert np.allclose(found, coefficients(model, *Generated(6, 500, 5).in_memory()), rtol=1e-8)


@pytest.mark.slow
def test_four_gigabytes_on_workers_of_one(tmp_path: Path) -> None:
    """4 GB of rows, made block by block, on two workers of 1 GB each, one of which is killed on the way."""
    import dask as library

    distributed = pytest.importorskip("distributed")

    source = Generated(blocks=100, rows=50_000, d=100, folder=tmp_path, fatal=40)
    model = PrivateLogisticRegression(classes=(0, 1), data_norm=10.0, solver_options={"steps": 3}, **SEEDED)
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB", "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(host="127.0.0.1", silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as client,
        library.config.set(scheduler=client),
    ):
        X, y = source.arrays()
        assert X.nbytes == 4e9
        fitted = clone(model).fit(X, y)
        held = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    assert (tmp_path / "killed").exists()
    assert max(held.values()) < 1e9, held  # at any time
    print("most memory of each worker that was there at the end:", *held.values())
    quiet = Generated(100, 50_000, 100)
    again = clone(model).fit(*quiet.arrays())  # in this process, block by block
    assert np.array_equal(fitted.coef_, again.coef_)
    assert fitted.score(quiet.table(101), quiet.labels(101)) > 0.8


LIMITED = """
import resource, sys
import numpy as np
from dpcheck.estimators import PrivateLogisticRegression

X, y = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (10**9, 10**9))
for solver, options in (("dp_gd", {"steps": 3}), ("dp_svrg", {"epochs": 2, "inner": 50, "step_size": 0.1})):
    model = PrivateLogisticRegression(
        1.0, 1e-8, classes=(0, 1), data_norm=10.0, l2=0.1, solver=solver, solver_options=options, random_state=0
    )
    print(float(np.linalg.norm(model.fit(X, y).coef_)) > 0)
try:
    np.array(X)
except MemoryError:
    print("a copy would not fit")
"""


@pytest.mark.slow
def test_a_file_of_four_gigabytes_with_one_of_memory(tmp_path: Path) -> None:
    """All that a process may hold beside the mapped file is 1 GB."""
    source = Generated(blocks=100, rows=50_000, d=100)
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", float, (5_000_000, 100))
    assert rows.nbytes == 4e9
    for block in range(100):
        rows[50_000 * block : 50_000 * (block + 1)] = source.table(block)
    rows.flush()
    np.save(tmp_path / "y.npy", np.concatenate([source.labels(block) for block in range(100)]))
    command = [sys.executable, "-W", "ignore", "-c", LIMITED, str(tmp_path / "X.npy"), str(tmp_path / "y.npy")]
    said = subprocess.run(command, capture_output=True, text=True)
    (tmp_path / "X.npy").unlink()
    assert said.stdout.split("\n") == ["True", "True", "a copy would not fit", ""], said.stderr


def test_rows_in_partitions_do_nothing_else() -> None:
    rows = PartedRows((), lambda X, y: (X, y), (10, 2), 1.0, 1.0)
    for use in (lambda: rows[0], lambda: rows * 2, lambda: np.asarray(rows), lambda: rows.T, lambda: rows @ np.ones(2)):
        with pytest.raises(InvalidInput, match="single records"):
            use()
