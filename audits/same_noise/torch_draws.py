"""Listening to PyTorch, where it is loaded: Gaussian, uniform and exponential draws are heard, others are coins.

Draws that its kernels make by themselves (dropout) are not heard; that torch's generator was used shows that there were
some.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcheck.audits.same_noise.draws import Origin
from dpcheck.audits.same_noise.noisy_values import seen

if TYPE_CHECKING:
    from dpcheck.audits.same_noise.listening import Ear

COINS = ("randperm", "randint", "randint_like", "bernoulli", "multinomial", "poisson")
COINS_IN_PLACE = ("bernoulli_", "random_", "cauchy_", "geometric_", "log_normal_")
MISSING: Any = object()


@contextmanager
def torch_heard(ear: Ear, origin: Callable[[Any], Origin | None]) -> Iterator[Callable[[], bool]]:
    """While it lasts, torch's draws are told to the book; what is yielded starts a run, and says if all was heard."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield lambda: True
        return
    listener = Listener(torch, ear, origin)
    places = [(torch, name, value) for name, value in listener.functions.items()]
    places += [(torch.Tensor, name, value) for name, value in listener.methods.items()]
    places.append((torch.random, "fork_rng", listener.fork_rng))
    kept = [(place, name, vars(place).get(name, MISSING)) for place, name, _ in places]
    try:
        for place, name, value in places:
            setattr(place, name, value)
        yield listener.begin
    finally:
        for place, name, value in kept:
            if value is MISSING:
                delattr(place, name)
            else:
                setattr(place, name, value)


class Listener:
    """Stand-ins for torch's functions."""

    def __init__(self, torch: Any, ear: Ear, origin: Callable[[Any], Origin | None]) -> None:
        self.torch, self.ear, self.origin_of = torch, ear, origin
        self.seed, self.fork = torch.manual_seed, torch.random.fork_rng
        self.own: dict[int, Origin] = {}  # of generators that are passed
        self.functions: dict[str, Any] = {
            "normal": self.normal,
            "randn": partial(self.standard, "Gaussian", "randn"),
            "rand": partial(self.standard, "uniform", "rand"),
            "randn_like": partial(self.like, "Gaussian", "randn_like"),
            "rand_like": partial(self.like, "uniform", "rand_like"),
            "manual_seed": self.manual_seed,
        }
        self.functions |= {name: self.coin(name, getattr(torch, name)) for name in COINS}
        self.methods: dict[str, Any] = {name: self.coin(name, getattr(torch.Tensor, name)) for name in COINS_IN_PLACE}
        self.methods |= self.in_place()
        self.begin()

    def begin(self) -> bool:
        """A new run; whether torch's own generator was left alone in the one before."""
        heard = getattr(self, "unheard", False) is False and self.untouched()
        self.shared: Origin | None = None
        self.own, self.unheard = {}, False
        self.state = self.torch.get_rng_state()
        return heard

    def untouched(self) -> bool:
        return not hasattr(self, "state") or bool(self.torch.equal(self.torch.get_rng_state(), self.state))

    def manual_seed(self, seed: Any) -> Any:
        self.unheard = self.unheard or not self.untouched()
        self.shared = self.origin_of(int(seed))
        made = self.seed(seed)
        self.state = self.torch.get_rng_state()
        return made

    @contextmanager
    def fork_rng(self, *args: Any, **options: Any) -> Iterator[None]:
        before = self.state
        with self.fork(*args, **options):
            yield
            self.unheard = self.unheard or not self.untouched()
        self.state = before

    def by(self, generator: Any) -> Origin | None:
        """Where a draw comes from: a generator that is passed has a seed of its own."""
        if generator is None:
            return self.shared
        made = self.origin_of(generator.initial_seed())
        return self.own.setdefault(id(generator), made) if made is not None else None

    def drawn(self, law: str, call: str, loc: Any, scale: Any, shape: Any, options: dict[str, Any]) -> Any:
        """A tensor of draws; as soon as they are in one, everybody may look."""
        where, spread = (
            np.asarray(each.detach().cpu().double()) if self.is_tensor(each) else each for each in (loc, scale)
        )
        value = self.ear.book.located(law, call, where, spread, shape, self.by(options.pop("generator", None)))
        out, dtype = options.pop("out", None), options.pop("dtype", None)
        types = [each.dtype for each in (loc, scale) if self.is_tensor(each)]
        made = self.torch.as_tensor(
            np.asarray(seen(value)),
            dtype=dtype or (types[0] if types else self.torch.get_default_dtype()),
            device=options.get("device"),
        )
        made.requires_grad_(bool(options.get("requires_grad", False)))
        return made if out is None else out.copy_(made)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor)

    def normal(self, mean: Any = 0.0, std: Any = 1.0, size: Any = None, **options: Any) -> Any:
        return self.drawn("Gaussian", "normal", mean, std, None if size is None else tuple(size), options)

    def standard(self, law: str, call: str, *size: Any, **options: Any) -> Any:
        shape = options.pop("size", size[0] if len(size) == 1 and not isinstance(size[0], int) else size)
        return self.drawn(law, call, 0.0, 1.0, tuple(shape), options)

    def like(self, law: str, call: str, model: Any, **options: Any) -> Any:
        options = {"dtype": model.dtype, "device": model.device, **options}
        return self.drawn(law, call, 0.0, 1.0, tuple(model.shape), options)

    def fill(self, tensor: Any, law: str, call: str, loc: Any, scale: Any, generator: Any) -> Any:
        options = {"generator": generator, "dtype": tensor.dtype, "device": tensor.device}
        with self.torch.no_grad():
            return tensor.copy_(self.drawn(law, call, loc, scale, tuple(tensor.shape), options))

    def in_place(self) -> dict[str, Any]:
        """Methods that fill a tensor."""

        def normal_(tensor: Any, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Any:
            return self.fill(tensor, "Gaussian", "normal_", mean, std, generator)

        def uniform_(tensor: Any, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None, **named: Any) -> Any:
            low, high = named.get("from", low), named.get("to", high)
            return self.fill(tensor, "uniform", "uniform_", low, high - low, generator)

        def exponential_(tensor: Any, lambd: Any = 1.0, *, generator: Any = None) -> Any:
            return self.fill(tensor, "exponential", "exponential_", 0.0, 1 / lambd, generator)

        return {"normal_": normal_, "uniform_": uniform_, "exponential_": exponential_}

    def coin(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Any other draw: torch's own, seeded by the book."""

        def toss(*args: Any, **options: Any) -> Any:
            origin, tossed = self.by(options.pop("generator", None)), []

            def value(rng: np.random.Generator) -> str:
                with self.fork(devices=[]):
                    self.seed(int(rng.integers(2**63)))
                    tossed.append(function(*args, **options))
                return name

            self.ear.book.coin(name, origin, value)
            return tossed[0]

        return toss
