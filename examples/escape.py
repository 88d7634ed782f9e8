"""How private descent leaves a saddle point: the loss and the least eigenvalue of the Hessian along runs, as a picture.

Run: python examples/escape.py [where to write it]. Needs matplotlib (extra `plot`).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import dpcheck as dp
from dpcheck.problems.saddles import saddle
from dpcheck.solvers.nonconvex.dp_gd_sosp import DPGDSOSP
from dpcheck.solvers.nonconvex.dp_tr import DPTR

COPIES = 500  # of the sixty records: so many people
CLAIMED = dp.ApproxDP(1.0, 1e-5)
RUNS = 5
Curves = dict[str, tuple[np.ndarray, np.ndarray]]


def curves(seed: int = 0) -> Curves:
    """Of matrix sensing from its saddle at 0, the losses and the least eigenvalues: each (runs, steps + 1)."""
    known = saddle("matrix sensing")
    problem, at = known.problem, tuple(known.at.tolist())
    people = replace(problem, X=np.tile(problem.X, (COPIES, 1)), y=np.tile(problem.y, COPIES))
    gradient = DPGDSOSP(steps=200, start=at).solve(people, CLAIMED, rng=seed, trials=RUNS)
    paths = {"gradient descent": gradient.w.reshape(RUNS, -1, problem.d)}
    traced = DPTR(aim=0.01, radius=0.1, steps=60, start=at).solve(people, CLAIMED, rng=seed, trials=RUNS, trace=True)
    paths["trust region"] = traced.trace.points[::2].transpose(1, 0, 2)  # a step asks for a gradient, then a Hessian
    return {name: measured(problem, path) for name, path in paths.items()}


def measured(problem: object, path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Loss and least eigenvalue at every point of every run."""
    flat = path.reshape(-1, path.shape[-1])
    least = np.linalg.eigvalsh(problem.hessians(flat))[:, 0]  # type: ignore[attr-defined]
    value = problem.value(flat)  # type: ignore[attr-defined]
    return value.reshape(path.shape[:2]), least.reshape(path.shape[:2])


def main(path: str | Path = Path(__file__).parents[1] / "docs" / "saddle-points.svg") -> Curves:
    """Draw it."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "dpcheck"
    import matplotlib.pyplot as plt

    found = curves()
    figure, panels = plt.subplots(2, 2, figsize=(7, 4.6), sharex="col")
    for column, (name, rows) in enumerate(found.items()):
        for row, (what, values) in enumerate(zip(("loss", "least eigenvalue"), rows, strict=True)):
            axes = panels[row, column]
            axes.plot(values.T, linewidth=1)
            axes.grid(alpha=0.3)
            axes.set(
                **({"title": name} if row == 0 else {"xlabel": "step"}), **({"ylabel": what} if column == 0 else {})
            )
    for axes in panels[1]:
        axes.axhline(0.0, color="black", linewidth=0.8)
    figure.suptitle("Private runs from a saddle point of matrix sensing: n = 30,000, ε = 1, δ = 1e-5", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return found


if __name__ == "__main__":
    for name, (losses, least) in main(*sys.argv[1:2]).items():
        print(f"{name:20} loss {losses[:, 0].mean():.3f} -> {losses[:, -1].max():.4f}, ", end="")
        print(f"least eigenvalue {least[:, 0].mean():.3f} -> {least[:, -1].min():.4f}")
