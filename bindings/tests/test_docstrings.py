"""Every public class, function and method says what it is for, its arguments, what it gives, what it raises, and in which units.

An override may leave that to what it overrides, a method to its class, and either to what it names: "As :meth:`x`", "See `y`".
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

PACKAGES = (
    *("penstock", "penstock.compat", "penstock.dcp", "penstock.fsspec", "penstock.lightning", "penstock.s3reader"),
    "penstock.testing",
)

REFERENCE = re.compile(r"\b(?:[Aa]s|[Ss]ee|[Aa]rguments as in|[Uu]nits as in|in) (?::\w+:)?`~?([\w.]+)`")
# What a first sentence may begin with that names what is given; others say "gives", "returns" or "yields" somewhere.
THINGS = re.compile(
    r"(The|A|An|All|What|Whether|Where|When|How|Those|Its|Text|Name|Names|Bytes|Ids|Pages|Entries|Requests|Accounts|Invocations|As|``|`)\W"
)
GIVES = re.compile(r"\b([Gg]ives?|[Rr]eturns?|[Yy]ields?|[Mm]akes an?)\b")
MEASURED = re.compile(
    r"(size|length|offset|start|end|limit|gap|timeout|seconds|delay|interval|age|expiry|modified|bandwidth|gbps)$"
)
UNITS = re.compile(
    r"\b([Bb]ytes?|[KMG]iB|[Ss]econds?|milliseconds?|[Gg]bit/s|gigabits|characters|[Dd]igits|[Oo]bjects|[Vv]ersions|timedelta)\b|/s\b"
)
UNIT_IN_NAME = re.compile(r"_(bytes|seconds|s|ms)$")


def members(package: str) -> Iterator[tuple[str, Any, type | None]]:
    """Name, value, and the class that it is a method of."""
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            yield name, value, None
            for attribute in (each for each in vars(value) if not each.startswith("_")):
                member = getattr(value, attribute)
                if callable(member):
                    yield f"{name}.{attribute}", member, value
        elif inspect.isfunction(value):
            yield name, value, None


def is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("penstock")


def told(package: str, value: Any, owner: type | None, bases_of_others: bool = True) -> str:
    """What may describe it: its own text, its class's, those of what it overrides and of what these refer to."""
    texts = [inspect.getdoc(value) or ""]
    for base in (owner or value).__mro__ if inspect.isclass(owner or value) else ():
        if not bases_of_others and not is_ours(base):
            continue
        texts.append(base.__doc__ or "")
        overridden = getattr(base, value.__name__, None) if owner else getattr(base, "__init__", None)
        texts.append(getattr(overridden, "__doc__", None) or "")
    module = importlib.import_module(package)
    for name in REFERENCE.findall("\n".join(texts)):
        found: Any = owner if owner is not None and hasattr(owner, name.split(".")[0]) else module
        found = importlib.import_module("penstock") if not hasattr(found, name.removeprefix("penstock.").split(".")[0]) else found
        for part in name.removeprefix("penstock.").split("."):
            found = getattr(found, part, None)
        texts.append(inspect.getdoc(found) or "" if found is not None else "")
    return "\n".join(texts)


def is_made_by_others(value: Any) -> bool:
    """Values that nobody makes but the library: records, and what says that it comes from a method."""
    doc = inspect.getdoc(value) or ""
    record = dataclasses.is_dataclass(value) or hasattr(value, "_fields") or hasattr(value, "__total__")
    return inspect.isclass(value) and ("Args:" not in doc) and (record or "Comes from" in doc or issubclass(value, Exception))


def parameters(value: Any) -> list[str]:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = (each.name for each in signature.parameters.values() if each.kind not in kinds)
    return [name for name in named if name not in ("self", "cls") and not name.startswith("_")]


def undescribed(value: Any, text: str) -> list[str]:
    if is_made_by_others(value):
        return []
    return [name for name in parameters(value) if not re.search(rf"(?<!\w){name}(?!\w)", text)]


def without_unit(value: Any, text: str) -> list[str]:
    """Sizes and times whose description, one entry or sentence, has no unit; one in the name will do."""
    sentences = re.split(r"(?<=[.;]) |\n(?=\s*\S+:)|\n\n", text)
    measured = [name for name in parameters(value) if MEASURED.search(name) and not UNIT_IN_NAME.search(name)]
    described = {name: " ".join(each for each in sentences if re.search(rf"(?<!\w){name}(?!\w)", each)) for name in measured}
    return [name for name, words in described.items() if words and not UNITS.search(words)]


def gives_unsaid(value: Any) -> bool:
    """Whether it gives something and does not say what."""
    if inspect.isclass(value) or inspect.signature(value).return_annotation in (
        None,
        "None",
        "NoReturn",
        inspect.Signature.empty,
    ):
        return False
    doc = inspect.getdoc(value) or ""
    return not THINGS.match(doc) and not GIVES.search(doc)


def raised(value: Any) -> set[str]:
    """Names of the exceptions that its own body makes and raises."""
    function = value.__init__ if inspect.isclass(value) else value
    if not is_ours(function) or not inspect.isfunction(inspect.unwrap(getattr(function, "__func__", function))):
        return set()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except OSError:  # made by dataclasses
        return set()
    calls = (node.exc.func for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call))
    return {call.id for call in calls if isinstance(call, ast.Name) and call.id[0].isupper()}


def found(package: str, bases_of_others: bool = True) -> list[tuple[str, Any, str]]:
    ours = [(name, value, owner) for name, value, owner in members(package) if is_ours(value)]
    assert ours
    return [(name, value, told(package, value, owner, bases_of_others)) for name, value, owner in ours]


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_public_is_documented(package: str) -> None:
    assert [name for name, value, _ in members(package) if not inspect.getdoc(value)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_argument_is_described(package: str) -> None:
    assert {name: missing for name, value, text in found(package) if (missing := undescribed(value, text))} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_sizes_and_times_have_units(package: str) -> None:
    ours = found(package, bases_of_others=False)
    assert {name: missing for name, value, text in ours if (missing := without_unit(value, text))} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_given_is_said(package: str) -> None:
    assert [name for name, value, _ in found(package) if gives_unsaid(value)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_raised_is_said(package: str) -> None:
    assert {
        name: missing for name, value, text in found(package) if (missing := {e for e in raised(value) if e not in text})
    } == {}


@pytest.mark.parametrize("package", ["penstock", "penstock.dcp", "penstock.lightning", "penstock.s3reader"])
def test_what_mirrors_a_class_of_the_reference_names_its_source(package):
    reference = importlib.import_module(package.replace("penstock", "s3torchconnector"))
    ours = importlib.import_module(package)
    mirrored = [name for name in ours.__all__ if inspect.isclass(getattr(reference, name, None))]
    assert mirrored
    sources = {name: inspect.getdoc(getattr(ours, name)) or "" for name in mirrored}
    assert [
        name for name, doc in sources.items() if not re.search(rf"^Source: ``s3torchconnector[.\w]*\.{name}``\.$", doc, re.M)
    ] == []
