"""The files _core.pyi have the names and parameters of the built modules."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import penstock._core
import penstock_emulator._core
import pytest

PACKAGES = Path(__file__).resolve().parents[2] / "bindings/python"


def declared(stub: Path) -> dict[str, dict[str, list[str]]]:
    classes = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef):
            methods = [f for f in node.body if isinstance(f, ast.FunctionDef)]
            classes[node.name] = {f.name: [a.arg for a in [*f.args.args, *f.args.kwonlyargs] if a.arg != "self"] for f in methods}
    return classes


def built(cls: type) -> dict[str, list[str]]:
    members = {}
    for name, member in vars(cls).items():
        if name.startswith("_") and name not in ("__init__", "__iter__", "__next__", "__len__", "__getitem__"):
            continue
        document = member.__doc__ or ""
        first = re.search(r"^(?:\d+\. )?\w+\((.*)\) -> ", document, re.M)
        parameters = re.findall(r"(?:^|, )(\w+): ", first.group(1)) if first else []
        members[name] = [p for p in parameters if p not in ("self", "arg0")]
    return members


@pytest.mark.parametrize("module", [penstock._core, penstock_emulator._core])
def test_the_stub_has_every_class_member_and_parameter_of_the_module(module):
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    stubs = declared(PACKAGES / f"{module.__name__.replace('.', '/')}.pyi")
    assert sorted(stubs) == sorted(classes)
    for name, cls in classes.items():
        have = built(cls)
        want = {member: args for member, args in stubs[name].items() if member in have}
        assert sorted(have.keys() - {"__init__"}) == sorted(stubs[name].keys() - {"__init__"}), name
        for member, parameters in want.items():
            assert have[member] == parameters, f"{name}.{member}"
