"""Coroutine functions for the methods of penstock.S3Client.

The methods check and name the arguments, and then make one call of the core. A recorder replaces the client and keeps that call,
which is then awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from .. import _core
from ._loop import running_loop, until_end

if TYPE_CHECKING:
    from ._session import AsyncSession

P = ParamSpec("P")
R = TypeVar("R")


class _Recorder:
    """Records the call that a method makes of a client or of its core."""

    __slots__ = ("arguments", "operation", "parallel_parts", "part_size")

    def __init__(self, session: AsyncSession) -> None:
        self.part_size = session.part_size
        self.parallel_parts = session.parallel_parts

    @property
    def core(self) -> _Recorder:
        return self

    def _call(self, operation: str, **arguments: Any) -> None:
        self.operation = operation
        self.arguments: Any = arguments

    def __getattr__(self, operation: str) -> Callable[..., None]:
        def keep(*arguments: Any) -> None:
            self.operation = operation
            self.arguments = arguments

        return keep


def awaited(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, R]]:
    """Returns the coroutine function for a method of Requests that returns the result of its one operation."""

    @wraps(method)
    async def call(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> R:
        recorder = _Recorder(self)
        method(recorder, *args, **kwargs)
        return cast(R, await self._call(recorder.operation, **recorder.arguments))

    return cast("Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, R]]", call)


def in_executor(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, R]]:
    """Returns the coroutine function for a method of Files, which blocks a thread of the loop's executor.

    The callback, its last argument, runs on the event loop.
    """

    @wraps(method)
    async def call(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> R:
        loop = running_loop()
        recorder = _Recorder(self)
        method(recorder, *args, **kwargs)
        *direction, arguments, callback = recorder.arguments
        cancel = _core.CancelSource()
        blocking = partial(
            getattr(self._core_client(), recorder.operation), *direction, {**arguments, "cancel": cancel},
            callback and partial(loop.call_soon_threadsafe, callback),
        )  # fmt: skip
        return cast(R, await until_end(asyncio.ensure_future(loop.run_in_executor(None, blocking)), cancel.cancel))

    return cast("Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, R]]", call)
