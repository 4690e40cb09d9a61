"""emulated_s3: an emulator for a block, a function or a test class."""

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


class emulated_s3:  # noqa: N801  (called like a function)
    """An emulator for a block; as a decorator for each call of a function or coroutine, or each test of a class.

    The environment leads boto3, the AWS CLI, s3fs, s3torchconnector and Penstock there, and away from any AWS account that
    the machine knows; behind the block it is as it was. ``with`` gives the :class:`penstock.testing.Emulator`; in a test case
    ``self.enterContext(emulated_s3())`` does. A decorated ``unittest.TestCase`` has it from before ``setUp`` until all clean-up
    is done; of other classes each method whose name begins with ``test`` is decorated.

    Args:
        options: Those of :class:`penstock.testing.Emulator`.

    Raises:
        AssertionError: at the end: faults that were set for the default namespace did not happen.
        TypeError: it decorates something that does not run when it is called: a generator, or no callable.
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
        """For TestCase.run: the first that is set up, and the last that is cleaned up."""
        options = self._options

        @functools.wraps(run)
        def run_with_s3(case: Any, result: Any = None) -> Any:
            set_up = case.setUp

            def enter_and_set_up() -> Any:
                context = emulated_s3(**options)
                context.__enter__()
                case.addCleanup(context.__exit__, None, None, None)  # the first to be added is the last to run
                return set_up()

            case.setUp = enter_and_set_up
            try:
                return run(case, result)
            finally:
                del case.setUp

        return run_with_s3
