"""The man pages render without warnings, and have every command, option and variable."""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from penstock.__main__ import make_parser

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import man_pages
from emulator_options import help_text, options, variable

NO_CONTROL_SEQUENCES = ("-P-c", "-P-b", "-P-u")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    man_pages.write(folder, man_pages.client_pages() + man_pages.added_pages() + man_pages.emulator_pages())
    return folder


def rendered(path: Path) -> str:
    """Returns the text of a page. Lines are long, so that no option is divided."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-ww", "-Tutf8", "-rLL=2000n", *NO_CONTROL_SEQUENCES, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    assert done.stderr == ""
    return done.stdout.replace("\N{HYPHEN}", "-")


@functools.cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    found = {}
    top, commands = make_parser(None)
    found["penstock"] = top
    for name in commands.choices:
        command = make_parser(name)[1].choices[name]
        found[f"penstock-{name}"] = command
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {f"penstock-{name}-{verb}": parser for verb, parser in action.choices.items()}
    return found


def test_each_command_has_a_page(folder) -> None:
    programs = {"penstock-emulator", "penstock-emulator-fsck", "penstock-emulator-health"}
    assert {path.stem for path in folder.iterdir()} == parsers().keys() | programs


@pytest.mark.parametrize("name", [*parsers(), "penstock-emulator", "penstock-emulator-fsck", "penstock-emulator-health"])
def test_a_page_renders_and_names_each_option(folder, name) -> None:
    text = rendered(folder / f"{name}.1")
    assert re.search(rf"^ +{name} - \S", text, re.M)
    if parser := parsers().get(name):
        flags = {flag for action in parser._actions if action.help != argparse.SUPPRESS for flag in action.option_strings}
    else:
        flags = {f"--{option.name}" for option in options(help_text(*name.split("-")[2:]))}
    assert flags - set(re.findall(r"(?<!\S)--?[\w-]+", text)) == set()
    assert "EXIT STATUS" in text


def test_the_pages_have_the_environment_variables(folder) -> None:
    assert len(man_pages.client_variables()) > 60
    client, emulator = rendered(folder / "penstock.1"), rendered(folder / "penstock-emulator.1")
    assert [name for name, _ in man_pages.client_variables() if not re.search(rf"^ +{name}\b", client, re.M)] == []
    assert [each.name for each in options(help_text()) if not re.search(rf"^ +{variable(each)}\b", emulator, re.M)] == []


def test_the_client_has_no_pages_of_commands_that_are_not_installed(monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importlib.metadata, "entry_points", lambda group: ())
        patch.setattr(man_pages, "entry_points", lambda group: ())
        pages = {page.name: page for page in man_pages.client_pages()}
    assert "penstock cp" in pages
    assert "penstock simulate" not in pages
    assert dict(pages["penstock"].sections["commands"])["simulate"].endswith(" (penstock-emulator)")


@pytest.mark.parametrize("text", [".dot", "'quote", "back\\slash", "~^`", "a\n.b"])
def test_text_is_printed_as_it_is(tmp_path, text) -> None:
    page = man_pages.Page("penstock", "summary", ["penstock"], text)
    (tmp_path / "page.1").write_text(man_pages.roff(page, []))
    assert re.sub(r"\s+", " ", text) in re.sub(r"\s+", " ", rendered(tmp_path / "page.1"))
