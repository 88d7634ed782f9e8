"""What a worst case costs: every method at 20 steps, and how far a run on its instance reaches.

Run: python -m benchmarks.worst_case
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from dpcheck.bounds.performance import worst_case
from dpcheck.bounds.performance.worst_case import WorstCase, convergence_rate, permuted_sensitivity, sensitivity

STEPS = 20
losses: dict[str, Any] = {"n": 10, "step_size": 0.7, "smoothness": 1.0, "lipschitz": 1.0}
smooth: dict[str, Any] = {"step_size": 1.0, "smoothness": 1.0}

QUESTIONS: dict[str, Callable[[], WorstCase]] = {
    **{
        f"sensitivity, {name}": lambda name=name: sensitivity(name, steps=STEPS, **losses)  # type: ignore[misc]
        for name in ("gradient", "projected", "proximal", "accelerated", "heavy_ball")
    },
    "sensitivity, gradient, regularised": lambda: sensitivity(
        steps=STEPS, strong_convexity=0.1, regularised=True, **losses
    ),
    "sensitivity, gradient, strongly convex records": lambda: sensitivity(steps=STEPS, strong_convexity=0.1, **losses),
    "sensitivity, accelerated, strongly convex records": lambda: sensitivity(
        "accelerated", steps=STEPS, strong_convexity=0.1, **losses
    ),
    "sensitivity, subgradient": lambda: sensitivity(steps=STEPS, **{**losses, "smoothness": math.inf}),
    "sensitivity, one pass in order": lambda: permuted_sensitivity(**{**losses, "n": STEPS}),
    "sensitivity, one projected pass, regularised": lambda: permuted_sensitivity(
        **{**losses, "n": STEPS}, strong_convexity=0.1, regularised=True, method="projected"
    ),
    **{
        f"rate, {name}, {measure}": lambda name=name, measure=measure: convergence_rate(  # type: ignore[misc]
            name, steps=STEPS, measure=measure, **smooth
        )
        for name in ("gradient", "accelerated", "heavy_ball")
        for measure in ("value", "distance", "gradient", "best_gradient")
    },
    **{
        f"rate, {name}, {measure}": lambda name=name, measure=measure: convergence_rate(  # type: ignore[misc]
            name, steps=STEPS, measure=measure, **smooth
        )
        for name in ("projected", "proximal")
        for measure in ("value", "gradient_map")
    },
    "rate, accelerated proximal, value": lambda: convergence_rate("accelerated", steps=STEPS, composite=True, **smooth),
    "rate, gradient, strongly convex, value": lambda: convergence_rate(steps=STEPS, strong_convexity=0.1, **smooth),
    "rate, accelerated proximal, strongly convex, value": lambda: convergence_rate(
        "accelerated", steps=STEPS, strong_convexity=0.1, composite=True, **smooth
    ),
    "rate, smooth and Lipschitz, value": lambda: convergence_rate(steps=STEPS, lipschitz=0.1, **smooth),
    "rate, subgradient, best value": lambda: convergence_rate(
        steps=STEPS, step_size=0.3, lipschitz=1.0, measure="best_value"
    ),
}


def main() -> None:
    """Each question once, cold; CPU seconds, so that a busy machine does not count."""
    slowest = 0.0
    for name, ask in QUESTIONS.items():
        for cached in (worst_case._sensitivity, worst_case._permuted, worst_case._rate):
            cached.cache_clear()
        begun = time.process_time()
        found = ask()
        taken = time.process_time() - begun
        begun = time.process_time()
        reached = found.instance().reached()
        run = time.process_time() - begun
        slowest = max(slowest, taken)
        kind = "exact" if found.exact else "relaxed"
        print(f"{name}: {taken:.2f} s, {kind}, {found.value:.8g}, gap {found.gap:.0e}, ", end="")
        print(f"a run reaches {reached / found.value:.6f} of it in {run:.2f} s")
    print(f"slowest at {STEPS} steps: {slowest:.1f} s of CPU")


if __name__ == "__main__":
    main()
