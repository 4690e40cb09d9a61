"""docs/reference/settings.md has every environment variable that the client's sources read, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from penstock import S3ClientConfig

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("client", "base", "bindings/core", "bindings/python/penstock", "conformance/penstock_conformance")
PAGE = (ROOT / "docs/reference/settings.md").read_text()
HEADERS = "".join(path.read_text() for path in (ROOT / "client/include/penstock").glob("*.h"))
HEAD = "| Variable | Key of the profile | Python | C++ | Order | Default | Meaning |"
# Python names of the table that are arguments of functions, not fields of S3ClientConfig.
ARGUMENTS = {"region", "endpoint", "set_memory_limit", "--admin-token", "buffer_size", "multi_part_download"}

READS = re.compile(r"getenv|environ\b|[Ee]nvironment\b|_number_of_environment")
# In files that read variables: literals that have the form of a variable, as the name often passes through a function.
LITERAL = re.compile(r'"((?:AWS|PENSTOCK|S3|SSL|XDG)_[A-Z0-9_]+|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY)"')
# Calls with a literal of any form.
CALL = re.compile(r'(?:getenv\(|[Ee]nvironment_?\.Get\(|environ\.get\(|environ\[)\s*"(\w+)"|"(\w+)" in os\.environ')
WRITES = re.compile(r'os\.environ\["(\w+)"\] = .*')


def names(text: str) -> Iterator[str]:
    """Yields the variables that a source file reads."""
    text = WRITES.sub(lambda match: match[0].partition("=")[2], text)
    if READS.search(text):
        yield from LITERAL.findall(text)
    for first, second in CALL.findall(text):
        yield first or second
    if re.search(r"\btempfile\.\w", text):
        yield "TMPDIR"


def read_variables() -> dict[str, str]:
    """Returns the variables with one of the files that read them."""
    return {
        name: str(path.relative_to(ROOT))
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".cc", ".h", ".py") and not re.search(r"_test\.|_for_test\.|/fuzz/|/testing/", str(path))
        for name in names(path.read_text())
    }


def rows() -> list[list[str]]:
    [_, rest] = PAGE.split(HEAD)
    lines = rest[: rest.index("\n\n")].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


TABLE = rows()


def test_the_table_has_every_variable_that_is_read() -> None:
    missing = {name: path for name, path in read_variables().items() if f"`{name}`" not in {row[0] for row in TABLE}}
    assert not missing, "add rows to the client's table of docs/reference/settings.md"


def test_every_variable_of_the_table_is_read() -> None:
    listed = [row[0].strip("`") for row in TABLE]
    assert set(listed) - read_variables().keys() == set()
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0].strip("`"))
def test_a_row_names_sources_that_exist(row) -> None:
    _, key, python, cpp, order, _, _ = row
    assert set(order.split()) == {"V"} | ({"A"} if python or cpp else set()) | ({"P"} if key else set())
    assert set(re.findall(r"`(.*?)`", python)) <= {field.name for field in fields(S3ClientConfig)} | ARGUMENTS
    for member in re.findall(r"`(?:\w+\.)?(\w+)`", cpp):
        assert re.search(rf"\b{member}\b", HEADERS), f"{member} is in no public header"
    sources = "".join(path.read_text() for path in (ROOT / "client").rglob("*.cc") if "_test." not in path.name)
    for name in re.findall(r"`(?:services|(?:s3|sts)\.(?=endpoint_url))?([a-z0-9_.]*)`", key):
        assert not name or f'"{name}"' in sources, f"{name} is read nowhere"


def test_python_and_cpp_have_equal_names_or_a_row() -> None:
    [rest] = PAGE.split("| Python | C++ | Difference |\n")[1:]
    pairs = [re.split(r"(?<!\\)\|", line)[1:3] for line in rest[: rest.index("\n\n")].splitlines()[1:]]
    python, cpp = (set(re.findall(r"`(\w+)`", " ".join(column))) for column in zip(*pairs, strict=True))
    [struct] = re.findall(r"^struct ClientConfig \{\n(.*?)^\};", HEADERS, re.DOTALL | re.MULTILINE)
    members = set(re.findall(r"^  [\w:<>]+ (\w+)(?: = [^;]+|\{[^;]*\})?;", struct, re.MULTILINE))
    settings = {field.name for field in fields(S3ClientConfig)}
    assert len(members) > 30
    assert python <= settings
    assert cpp <= members
    assert settings - members - python == set(), "fields of S3ClientConfig without a counterpart"
    assert members - settings - cpp == set(), "members of ClientConfig without a counterpart"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('std::getenv("ANY_NAME")', {"ANY_NAME"}),
        ('context.environment.Get("ANY_NAME")', {"ANY_NAME"}),
        ('os.environ.get("ANY_NAME")', {"ANY_NAME"}),
        ('if "ANY_NAME" in os.environ:', {"ANY_NAME"}),
        ('const auth::Environment& e; Read(e, "AWS_NEW_NAME")', {"AWS_NEW_NAME"}),
        ('os.environ["ANY_NAME"] = "1"', set()),
        ('"AWS_NEW_NAME"', set()),
    ],
)
def test_the_search_finds_variables_where_the_environment_is_read(text, found) -> None:
    assert set(names(text)) == found
