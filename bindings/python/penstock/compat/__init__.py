"""Runs programs written for the Amazon S3 Connector for PyTorch, and for its predecessors, unchanged on Penstock.

::

    import penstock.compat

    penstock.compat.install()
    from s3torchconnector import S3MapDataset  # penstock.S3MapDataset

or, without changing the program, ``python -m penstock.compat train.py --its-arguments`` (or ``-m package.module``). That also
applies to the Python processes that the program starts, such as those of ``torchrun`` and spawned DataLoader workers.

Imports of these modules then return Penstock's implementations:

- ``s3torchconnector`` and ``s3torchconnectorclient``, including their submodules and semi-public names;
- ``awsio`` and ``_pywrap_s3_io``, the Amazon S3 plugin for PyTorch;
- ``S3FileLister`` and ``S3FileLoader`` of ``torchdata.datapipes.iter``. With torchdata 0.10 or later, or none, the module has
  these two, ``LineReader`` and the DataPipes of torch; with torchdata 0.9, all others as well.

Submodules that the first two do not have raise ModuleNotFoundError, even if their wheels are installed.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ._names import MODULES, PACKAGES, REFERENCE_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["REFERENCE_VERSION", "install"]


class _Loader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        from ._names import load

        # The import system returns the entry of sys.modules: the real module, so that tests can patch it.
        sys.modules[module.__name__] = load(module)


class _Finder(MetaPathFinder):
    """Finds the modules that replace those of a package, and raises ModuleNotFoundError for any other submodule of it."""

    def __init__(self, package: str) -> None:
        self._description, self._roots = PACKAGES[package]
        self._whole = package != "torchdata"  # torchdata's other modules are its own
        self.modules = {name for name in MODULES if name.partition(".")[0] in self._roots}

    def loaded(self) -> list[str]:
        """Returns the imported modules that this finder replaces."""
        return [each for each in sys.modules if (each.partition(".")[0] in self._roots and self._whole) or each in self.modules]

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname in self.modules:
            is_package = any(name.startswith(f"{fullname}.") for name in self.modules)
            return ModuleSpec(fullname, _Loader(), is_package=is_package)
        if self._whole and fullname.partition(".")[0] in self._roots:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: penstock.compat replaces {self._description}, which has none", name=fullname
            )
        return None


_SHIM = str(Path(__file__).with_name("shim"))
_finders = {package: _Finder(package) for package in PACKAGES}


def install(name: str | None = None) -> None:
    """Makes imports of the replaced modules return Penstock in this process.

    Call it before their first import. Later calls do nothing.

    Args:
        name: The package to replace: ``"s3torchconnector"`` (with ``s3torchconnectorclient``), ``"awsio"`` (with
            ``_pywrap_s3_io``) or ``"torchdata"`` (only its S3 DataPipes); None: all of them.

    Raises:
        ValueError: `name` is another package.
        RuntimeError: A module to replace has already been imported.
    """
    if name is not None and name not in _finders:
        known = ", ".join(map(repr, _finders))
        raise ValueError(f"cannot replace {name!r}; penstock.compat.install() replaces {known}")
    finders = [finder for package, finder in _finders.items() if name in (None, package) and finder not in sys.meta_path]
    for loaded in [each for finder in finders for each in finder.loaded()]:
        where = getattr(sys.modules[loaded], "__file__", None) or ""
        if not where.startswith(_SHIM):
            raise RuntimeError(f"{loaded} is already imported, from {where or 'no file'}; call penstock.compat.install() first")
        del sys.modules[loaded]  # one of the modules in shim/
    sys.meta_path[:0] = finders
