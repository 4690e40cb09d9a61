"""emulated_s3: runs a block, a function or a test class against an emulator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ._offline_environment import environment_set, offline_environment

if TYPE_CHECKING:
    from .testing import Emulator

Target = TypeVar("Target", bound=Callable[..., Any])


class emulated_s3:  # noqa: N801  (used like a function)
    """Runs an emulator for a ``with`` block, or as a decorator for each call of a function or coroutine, or each test of a class.

    Environment variables direct boto3, the AWS CLI, s3fs, s3torchconnector and Penstock to the emulator and hide any AWS account
    configured on the machine; the variables are restored afterwards. ``with`` returns the :class:`penstock.testing.Emulator`, as
    does ``self.enterContext(emulated_s3())`` in a test case. On a ``unittest.TestCase``, the emulator runs from before ``setUp``
    until all clean-up functions have run. On any other class, each method whose name begins with ``test`` is decorated.

    Args:
        options: Passed to :class:`penstock.testing.Emulator`.

    Raises:
        AssertionError: At the end: faults set for the default namespace did not happen.
        TypeError: The decorated object is not callable, or is a generator function, whose body does not run when it is called.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._open: list[tuple[Emulator, ExitStack]] = []

    def __enter__(self) -> Emulator:
        from .testing import Emulator

        with ExitStack() as stack:
            emulator = stack.enter_context(Emulator(**self._options))
            stack.enter_context(environment_set(offline_environment(emulator.environment())))
            self._open.append((emulator, stack.pop_all()))
        return emulator

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        emulator, stack = self._open.pop()
        with stack:
            if kind is None:
                emulator.faults().check_all()

    def __call__(self, target: Target) -> Target:
        decorated: Any = self._decorate_class(target) if inspect.isclass(target) else self._decorate(target)
        return decorated  # type: ignore[no-any-return]

    def _decorate(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function) or not callable(function):
            raise TypeError(
                f"emulated_s3 cannot decorate {function!r}, whose body does not run when it is called;"
                " use `with emulated_s3()` in it"
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_coroutine(*args: Any, **kwargs: Any) -> Any:
                with type(self)(**self._options):
                    return await function(*args, **kwargs)

            return run_coroutine

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with type(self)(**self._options):
                return function(*args, **kwargs)

        return run

    def _decorate_class(self, tests: type) -> type:
        import unittest

        if issubclass(tests, unittest.TestCase):
            tests.run = self._around_run(tests.run)  # type: ignore[method-assign]
            return tests
        for name, function in list(vars(tests).items()):
            if name.startswith("test") and inspect.isfunction(function):
                setattr(tests, name, self._decorate(function))
        return tests

    def _around_run(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps TestCase.run so that the emulator starts before setUp and stops after all other clean-up."""
        options = self._options

        @functools.wraps(run)
        def run_with_s3(case: Any, result: Any = None) -> Any:
            set_up = case.setUp

            def enter_and_set_up() -> Any:
                context = emulated_s3(**options)
                context.__enter__()
                case.addCleanup(context.__exit__, None, None, None)  # clean-up functions run last in, first out
                return set_up()

            case.setUp = enter_and_set_up
            try:
                return run(case, result)
            finally:
                del case.setUp

        return run_with_s3
