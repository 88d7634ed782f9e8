"""One party's process: it reads its task, computes with the others, writes what was opened, and waits to be let go.

    python -m dpcheck.parties.party -P 127.0.0.1:9001 -P 127.0.0.1:9002 -P 127.0.0.1:9003 -I 0

Started by session.py. Sharing, multiplying and opening are MPyC's; here is what it leaves open: sockets listen on
loopback alone, and a peer that leaves, or sends what is no message, ends the party before anything is written.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import struct
import sys
from typing import Any, ClassVar

import numpy as np

from dpcheck.bounds.language.errors import DpcheckError
from dpcheck.kernels.system_generator import SystemGenerator
from dpcheck.parties.noise import InsideNoise
from dpcheck.parties.task import Task

HERE = "127.0.0.1"
LARGEST_MESSAGE = 1 << 26  # bytes
HEADER = struct.Struct("<qI")  # of MPyC's messages: a label, and how many bytes follow


class Broken(DpcheckError, RuntimeError):
    """The computation cannot go on; the message says who broke it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)


async def computed(mpc: Any, task: Task) -> list[list[int]]:
    """The opened sums, round by round."""
    common, rng = task.common, SystemGenerator()
    secret = mpc.SecFld(min_order=common.field, signed=True)
    theta, opened = common.start(), []
    for _ in range(common.rounds):
        mine = secret.array(np.array(task.given(theta, rng).tolist(), dtype=object))
        shares = mpc.input(mine)
        total = sum(shares[1:], shares[0])
        if isinstance(common.noise, InsideNoise):
            total = total + common.noise.made_of(mpc.np_random_bits(secret, common.d * common.noise.bits), common.d)
        found = [int(value) for value in await mpc.output(total)]
        if max(map(abs, found)) > common.largest:
            raise Broken("what was opened is no sum of honest numbers: a party sent a broken share")
        opened.append(found)
        theta = common.after(theta, np.array(found, float))
    return opened


def guarded(exchanger: type) -> type:
    """MPyC's end of a connection, which ends the computation with a reason instead of waiting for ever."""

    class Guarded(exchanger):
        broken: ClassVar[asyncio.Future[None]]
        finished: ClassVar[bool] = False

        def data_received(self, data: bytes) -> None:
            try:
                super().data_received(data)
            except Exception as error:  # whatever a stranger's bytes may do to the parser
                self.ends(f"sent what is no message ({type(error).__name__})")
                return
            if len(self.bytes) >= HEADER.size and self.peer_pid is not None:
                size = HEADER.unpack_from(self.bytes)[1]
                if size > LARGEST_MESSAGE:
                    self.ends(f"announced a message of {size} bytes")

        def connection_lost(self, error: Exception | None) -> None:
            self.ends("left before the end")

        def ends(self, why: str) -> None:
            self.stop(f"{'a stranger' if self.peer_pid is None else f'party {self.peer_pid}'} {why}")

        @classmethod
        def stop(cls, why: str) -> None:
            if not cls.finished and not cls.broken.done():
                cls.broken.set_exception(Broken(why))

    return Guarded


async def taken_part(mpc: Any, task: Task, guard: Any) -> None:
    """The computation, unless it breaks; then, written, until the owner closes this process's input."""

    async def whole() -> list[list[int]]:
        await mpc.start()
        print(json.dumps({"connected": True}), flush=True)
        return await computed(mpc, task)

    loop = asyncio.get_running_loop()
    guard.broken = loop.create_future()
    loop.set_exception_handler(lambda _, seen: guard.stop(f"the computation broke: {seen.get('exception')!r}"))
    work = asyncio.ensure_future(whole())
    await asyncio.wait({work, guard.broken}, return_when=asyncio.FIRST_COMPLETED)
    if guard.broken.done() and not work.done():
        guard.broken.result()
    opened = work.result()
    guard.finished = True
    print(json.dumps({"opened": opened}), flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)  # the others may still need what was sent to them


def main() -> int:
    """Take part; what goes wrong is one line on the error stream."""
    task: Task = pickle.load(sys.stdin.buffer)  # the owner's own pipe
    from mpyc import asyncoro  # late: its import reads the command line
    from mpyc.runtime import mpc

    asyncoro.MessageExchanger = guard = guarded(asyncoro.MessageExchanger)
    loop = mpc._loop
    listen = loop.create_server
    loop.create_server = lambda factory, **how: listen(factory, host=HERE, **how)  # MPyC's own is for all networks
    try:
        mpc.run(taken_part(mpc, task, guard))
    except DpcheckError as stopped:
        print(stopped, file=sys.stderr, flush=True)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
