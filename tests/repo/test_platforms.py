"""docs/reference/platforms.md has the tables of tools/platforms.toml, which name what the packages and the build support."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import platforms_page

ROOT = platforms_page.ROOT


def names(title: str) -> list[str]:
    (table,) = (table for table in platforms_page.tables() if table["title"] == title)
    return [row["name"] for row in table["rows"]]


def test_the_page_has_the_current_tables() -> None:
    page = platforms_page.PAGE.read_text()
    assert platforms_page.with_tables(page) == page, "run ./dev python tools/platforms_page.py"


def test_the_versions_of_cpython_are_those_of_the_wheels() -> None:
    (line,) = re.findall(r"^wheel_versions=\((.*)\)$", (ROOT / "tools/dev/wheels.sh").read_text(), re.M)
    assert [name for name in names("CPython") if re.fullmatch(r"\d\.\d+", name)] == line.split()
    (oldest,) = re.findall(r'^requires-python = ">=(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert oldest == line.split()[0]


def test_the_readme_names_the_versions_of_cpython_that_did_not_run() -> None:
    (table,) = (table for table in platforms_page.tables() if table["title"] == "CPython")
    install = (ROOT / "README.md").read_text().partition("## Install")[2].partition("\n## ")[0]
    states = {row["name"]: row["state"] for row in table["rows"] if re.fullmatch(r"\d\.\d+", row["name"])}
    assert "not tried" not in states.values()
    assert re.findall(r"the wheels of ([\d., ]+) were built, but not run", install) == [
        ", ".join(name for name, state in states.items() if state != "tested")
    ]


def test_the_compilers_are_those_that_contributing_describes() -> None:
    known = (ROOT / "CONTRIBUTING.md").read_text()
    for name in names("Compilers"):
        for compiler in name.split(", "):
            assert re.search(rf"\b{re.escape(compiler)}\b", known.replace("g++", "gcc")), compiler


def test_a_wrong_state_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    monkeypatch.setattr(platforms_page, "ROOT", tmp_path)
    for row, message in (
        ('name = "x", state = "fine", date = ""', "the state is 'fine'"),
        ('name = "x", state = "tested", date = ""', "a trial has a date"),
    ):
        (tmp_path / "tools/platforms.toml").write_text(f'[[table]]\ntitle = "t"\nrows = [{{ {row} }}]\n')
        with pytest.raises(ValueError, match=message):
            platforms_page.tables()
