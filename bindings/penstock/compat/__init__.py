"""Runs programs written for the Amazon S3 Connector for PyTorch on Penstock, unchanged.

::

    import penstock.compat

    penstock.compat.install()
    from s3torchconnector import S3MapDataset  # penstock.S3MapDataset

or, without changing the program, ``python -m penstock.compat train.py --its-arguments`` (or ``-m package.module``). That also
applies to the Python processes that the program starts, such as those of ``torchrun`` and spawned DataLoader workers.

Imports of ``s3torchconnector`` and ``s3torchconnectorclient``, including their submodules and semi-public names, then return
Penstock's implementations. Submodules that the reference connector does not have raise ModuleNotFoundError, even if its wheel is
installed.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from ._names import MODULES, REFERENCE_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["REFERENCE_VERSION", "install"]

ROOTS = ("s3torchconnector", "s3torchconnectorclient")


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        from ._names import load

        # The import system returns the entry of sys.modules: the real module, so that tests can patch it.
        sys.modules[module.__name__] = load(module)


class _Finder(MetaPathFinder):
    """Finds the modules of the reference connector, and raises ModuleNotFoundError for any other submodule of it."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ROOTS:
            return None
        if fullname not in MODULES:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: penstock.compat replaces s3torchconnector {REFERENCE_VERSION}, which has none",
                name=fullname,
            )
        is_package = any(name.startswith(f"{fullname}.") for name in MODULES)
        return ModuleSpec(fullname, _Loader(), is_package=is_package)


_finder = _Finder()


def install(name: str = "s3torchconnector") -> None:
    """Makes imports of ``s3torchconnector`` and ``s3torchconnectorclient`` return Penstock in this process.

    Call it before the first import of the reference connector. Later calls do nothing.

    Args:
        name: The package to replace: ``"s3torchconnector"``.

    Raises:
        ValueError: `name` is another package.
        RuntimeError: The reference connector has already been imported.
    """
    if name != "s3torchconnector":
        raise ValueError(f"cannot replace {name!r}; penstock.compat.install() replaces 's3torchconnector'")
    if _finder in sys.meta_path:
        return
    for loaded in [each for each in sys.modules if each.partition(".")[0] in ROOTS]:
        where = getattr(sys.modules[loaded], "__file__", None) or ""
        if "penstock" not in where.replace("\\", "/").split("/"):
            raise RuntimeError(f"{loaded} is already imported, from {where or 'no file'}; call penstock.compat.install() first")
        del sys.modules[loaded]  # one of the modules in shim/
    sys.meta_path.insert(0, _finder)
