"""Watch: how far an audit is, shown on standard error to whoever looks."""

from __future__ import annotations

from types import TracebackType

from dpcheck.progress import Display, Meter

STAGES = {"search": "searching for a pair", "pilot": "choosing the event"}


class Watch:
    """The last thing known of an audit: the stage, trials done and planned, the bound that a stop would certify."""

    def __init__(self, total: int, shown: bool | Display | None = None) -> None:
        self.name, self.done, self.total, self.bound = "start", 0, total, 0.0
        self.meter = Meter("audit", "trials", total, shown)

    @property
    def looked_at(self) -> bool:
        """Whether anything of it is shown."""
        return self.meter.shown != "nothing"

    def __enter__(self) -> Watch:
        self.meter.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.meter.__exit__(kind, error, at)

    def __call__(self, done: int, total: int, bound: float) -> None:
        """Trials of the test."""
        self.bound = bound
        self._tell("test", done, total, f"epsilon >= {bound:.4g} certified so far")

    def stage(self, name: str, done: int, total: int) -> None:
        """Runs of the search or of the pilot: nothing is certified yet."""
        self._tell(name, done, total, STAGES[name])

    def pace(self, runs: int, seconds: float) -> None:
        """The first runs on one of the two datasets: a guess until there is better."""
        self.meter.guess = runs / (2 * seconds) if seconds > 0 else 0.0

    def _tell(self, name: str, done: int, total: int, note: str) -> None:
        self.name, self.done, self.total = name, done, total
        self.meter.update(done, total, note)
