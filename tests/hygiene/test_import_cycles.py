"""No import cycle in the Python packages; type-only imports and imports inside functions count.

The graph has one node for each module; the node of a package is its `__init__`. An edge leads to the module that holds what is
imported: `from .a import b` leads to `a.b` where that is a module, else to `a`. Importing a module of another package also
runs that package's `__init__`, so it is an edge to both. The importer's own packages are not counted that way: they were
imported before. So a name that a package re-exports costs its importer everything the `__init__` imports, and a module may not
import a name from the `__init__` of its own package. Names given to importlib are not seen; those in `penstock/__init__.py`
are also imported there for type checkers.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (ROOT / "bindings/python/penstock", ROOT / "conformance/penstock_conformance")


def modules_of(package: Path) -> dict[str, Path]:
    """Files by module name; a stub stands for a compiled module."""
    found = {}
    for path in sorted([*package.rglob("*.pyi"), *package.rglob("*.py")]):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def ancestors(module: str) -> set[str]:
    """The packages that contain `module`, and itself."""
    parts = module.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts) + 1)}


def imported_names(module: str, path: Path) -> Iterator[str]:
    """The dotted name of everything that the module's file imports, at any depth of its syntax tree."""
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(), path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def import_graph(modules: dict[str, Path]) -> dict[str, set[str]]:
    graph = {}
    for module, path in modules.items():
        edges: set[str] = set()
        for name in imported_names(module, path):
            chain = [known for known in sorted(ancestors(name), key=len) if known in modules]
            if chain:
                edges |= set(chain) - ancestors(module) | {chain[-1]}
        graph[module] = edges
    return graph


def check(modules: dict[str, Path]) -> None:
    """Raises graphlib.CycleError, whose second argument is the cycle, where each module is imported by the next."""
    graphlib.TopologicalSorter(import_graph(modules)).prepare()


def test_the_packages_have_no_import_cycle() -> None:
    modules = {name: path for package in PACKAGES for name, path in modules_of(package).items()}
    assert len(modules) > 100
    try:
        check(modules)
    except graphlib.CycleError as error:
        pytest.fail("import cycle (each imports the next): " + " -> ".join(reversed(error.args[1])), pytrace=False)


def plant(folder: Path, files: dict[str, str]) -> dict[str, Path]:
    for name, text in files.items():
        path = folder / "product" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return modules_of(folder / "product")


ACYCLIC = {
    "__init__.py": "if TYPE_CHECKING:\n    from .client import Client\n    from .readers import Reader",
    "_core.pyi": "class Core: ...",
    "client.py": "import io\nfrom . import _core\nfrom .readers import Reader",
    "readers/__init__.py": "from .reader import Reader",
    "readers/reader.py": "import product._core\nfrom ..config import Config",
    "config.py": "import os.path",
}


def test_a_tree_without_cycles_passes(tmp_path: Path) -> None:
    modules = plant(tmp_path, ACYCLIC)
    check(modules)
    assert import_graph(modules) == {
        "product": {"product.client", "product.readers"},
        "product._core": set(),
        "product.client": {"product._core", "product.readers"},
        "product.readers": {"product.readers.reader"},
        "product.readers.reader": {"product._core", "product.config"},
        "product.config": set(),
    }


CYCLES = {
    "at run time": {"config.py": "from .client import Client"},
    "of a module with itself": {"config.py": "import product.config"},
    "by an absolute name": {"config.py": "import product.client as client"},
    "by a module of the package": {"config.py": "from . import client"},
    "for types only": {"config.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .client import Client"},
    "inside a function": {"config.py": "def client():\n    from product.client import Client\n    return Client"},
    "with the root package": {"config.py": "from . import Client"},
    "with its own package": {"readers/reader.py": "from . import Reader"},
    "through the __init__ of another package": {
        "config.py": "from .readers.names import NAMES",
        "readers/names.py": "NAMES = ()",
    },
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_planted_cycle_is_caught(tmp_path: Path, name: str) -> None:
    modules = plant(tmp_path, ACYCLIC | CYCLES[name])
    with pytest.raises(graphlib.CycleError):
        check(modules)
