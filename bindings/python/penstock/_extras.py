"""Errors for packages that only parts of Penstock need, and that `pip install penstock` therefore does not install."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class required:  # noqa: N801  (used like a function)
    """For imports in a ``with`` block: names the command that installs a missing package.

    Args:
        name: What needs the package, such as ``"penstock.dcp"``.
        extra: The extra of the distribution ``penstock`` that installs it.
        packages: The packages that the extra installs.

    Raises:
        ModuleNotFoundError: One of `packages` is not installed.
    """

    def __init__(self, name: str, extra: str, *packages: str) -> None:
        self._name = name
        self._extra = extra
        self._packages = packages

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, ModuleNotFoundError) and error.name in self._packages:
            text = f"{self._name} needs {error.name}, which is not installed; run pip install 'penstock[{self._extra}]'"
            raise ModuleNotFoundError(text, name=error.name) from None
