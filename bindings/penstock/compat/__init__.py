"""Programs written for the Amazon S3 Connector for PyTorch, run on Penstock unchanged.

::

    import penstock.compat

    penstock.compat.install()
    from s3torchconnector import S3MapDataset  # penstock.S3MapDataset

or, without touching the program: ``python -m penstock.compat train.py --its-arguments`` (``-m package.module`` as well), which
also reaches the processes that it starts, such as ``torchrun``'s and spawned DataLoader workers.

The modules ``s3torchconnector`` and ``s3torchconnectorclient``, their sub-modules and semi-public names are then ours. What the
reference does not name is not there either: another sub-module is a ModuleNotFoundError, also where its wheel is installed.
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

        # The import system hands out what is in sys.modules by now: the real module, which a test may patch.
        sys.modules[module.__name__] = load(module)


class _Finder(MetaPathFinder):
    """Knows every module below the names that are ours, and that there are no others."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ROOTS:
            return None
        if fullname not in MODULES:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: penstock.compat stands for s3torchconnector {REFERENCE_VERSION}, which has none",
                name=fullname,
            )
        is_package = any(name.startswith(f"{fullname}.") for name in MODULES)
        return ModuleSpec(fullname, _Loader(), is_package=is_package)


_finder = _Finder()


def install(name: str = "s3torchconnector") -> None:
    """From now on importing ``s3torchconnector`` and ``s3torchconnectorclient`` gives Penstock, in this process.

    Again: nothing. Call it before the first import of the reference.

    Args:
        name: The package to stand for; there is one.

    Raises:
        ValueError: another name.
        RuntimeError: the reference itself has been imported already: its classes are in use.
    """
    if name != "s3torchconnector":
        raise ValueError(f"cannot stand for {name!r}; penstock.compat.install() stands for 's3torchconnector'")
    if _finder in sys.meta_path:
        return
    for loaded in [each for each in sys.modules if each.partition(".")[0] in ROOTS]:
        where = getattr(sys.modules[loaded], "__file__", None) or ""
        if "penstock" not in where.replace("\\", "/").split("/"):
            raise RuntimeError(f"{loaded} was imported before, from {where or 'elsewhere'}; call penstock.compat.install() first")
        del sys.modules[loaded]  # one of the stand-ins in shim/
    sys.meta_path.insert(0, _finder)
