"""Every public class, function and method says what it is for; an override may leave that to what it overrides."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

PACKAGES = (
    *("penstock", "penstock.compat", "penstock.dcp", "penstock.fsspec", "penstock.lightning", "penstock.s3reader"),
    "penstock.testing",
)


def members(package: str) -> Iterator[tuple[str, object]]:
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            yield name, value
            for attribute in (each for each in vars(value) if not each.startswith("_")):
                member = getattr(value, attribute)
                if callable(member):
                    yield f"{name}.{attribute}", member
        elif inspect.isfunction(value):
            yield name, value


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_public_is_documented(package: str) -> None:
    found = dict(members(package))
    assert found
    assert [name for name, value in found.items() if not inspect.getdoc(value)] == []
