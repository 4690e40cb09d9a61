"""docs/reference/other-commands.md has the arguments of the parsers, each with a meaning."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from penstock.__main__ import make_parser

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import commands_page
from emulator_options import help_text, options


def test_the_page_of_other_commands_has_the_current_tables() -> None:
    page = commands_page.PAGE.read_text()
    assert commands_page.with_tables(page) == page, "run ./dev python tools/commands_page.py"


def test_each_argument_of_a_command_has_a_meaning() -> None:
    assert re.findall(r"^\| (`.*`) \| \|$", commands_page.text(), re.M) == []


@pytest.mark.parametrize("title", commands_page.TITLES)
def test_a_command_of_the_page_has_each_option(title: str) -> None:
    section = commands_page.text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    program, name = title.split()
    if program == "penstock-emulator":
        flags = {f"--{option.name}" for option in options(help_text(name))}
    else:
        parser = make_parser(name)[1].choices[name]
        verbs = [verb for action in parser._actions if isinstance(action.choices, dict) for verb in action.choices.values()]
        flags = {flag for each in (verbs or [parser]) for action in each._actions for flag in action.option_strings}
        flags -= {"-h", "--help"}
    assert flags
    assert flags - set(re.findall(r"(?<![\w-])--?[\w-]+", section)) == set()
