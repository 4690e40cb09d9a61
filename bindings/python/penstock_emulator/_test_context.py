"""TestContext: a base class of context managers that also decorate functions, coroutines and test classes."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

Target = TypeVar("Target", bound=Callable[..., Any])


class TestContext(ABC):
    """Base class of context managers that can decorate tests. Each call enters a new instance with the same options.

    Args:
        options: Options of the subclass, passed to each new instance.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options

    @abstractmethod
    def __enter__(self) -> Any: ...

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None: ...

    def __call__(self, target: Target) -> Target:
        decorated: Any = self._decorate_class(target) if inspect.isclass(target) else self._decorate(target)
        return decorated  # type: ignore[no-any-return]

    def _decorate(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function) or not callable(function):
            raise TypeError(
                f"{type(self).__name__} cannot decorate {function!r}, whose body does not run when it is called;"
                f" use `with {type(self).__name__}()` in it"
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
        for name in dir(tests):
            # Not getattr, which would bind static and class methods.
            attribute = inspect.getattr_static(tests, name)
            if inspect.isclass(attribute) and name.startswith("Test"):
                # An inherited class also belongs to the base class, which is not decorated.
                own = attribute.__qualname__ == f"{tests.__qualname__}.{name}"
                setattr(tests, name, self._decorate_class(attribute if own else type(name, (attribute,), {})))
            elif name.startswith("test"):
                setattr(tests, name, self._decorate_attribute(attribute))
        return tests

    def _decorate_attribute(self, attribute: Any) -> Any:
        """Returns the attribute of a class with its call decorated, or unchanged if it is not a method (data, a property)."""
        if isinstance(attribute, (staticmethod, classmethod)):
            return type(attribute)(self._decorate(attribute.__func__))
        if isinstance(attribute, functools.partialmethod):
            return functools.partialmethod(self._decorate(attribute.func), *attribute.args, **attribute.keywords)
        if inspect.isfunction(attribute):
            return self._decorate(attribute)
        if callable(attribute) and not inspect.isclass(attribute) and not hasattr(attribute, "__get__"):
            return staticmethod(self._decorate(attribute))  # such as functools.partial, which does not bind the instance
        return attribute

    def _around_run(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps TestCase.run so that the context is entered before setUp and left after all other clean-up."""

        @functools.wraps(run)
        def run_in_context(case: Any, result: Any = None) -> Any:
            set_up = case.setUp

            def enter_and_set_up() -> Any:
                context = type(self)(**self._options)
                context.__enter__()
                case.addCleanup(context.__exit__, None, None, None)  # clean-up functions run last in, first out
                return set_up()

            case.setUp = enter_and_set_up
            try:
                return run(case, result)
            finally:
                del case.setUp

        return run_in_context
