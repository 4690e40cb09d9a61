"""The options of penstock-emulator, from its --help: for the settings page, the man pages and the completion."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

_OPTION = re.compile(
    r"^  (?:-h,)?--([a-z-]+)(?: (TEXT|INT|UINT|FLOAT)(?::\{(.*?)\}|:INT in \[.*?\])?(?:=(\S+))?)?( \.\.\.)?"
    r"(?: \(Env:\w+\)| Excludes: \S+)*\s*(.*)$"
)
_MEBIBYTE = 1 << 20


class Option(NamedTuple):
    """An option of penstock-emulator. `value` is its type, such as TEXT, and empty for a flag."""

    name: str
    value: str
    choices: tuple[str, ...]
    default: str
    is_repeatable: bool
    meaning: str


def help_text(*words: str) -> str:
    """Returns what the built penstock-emulator prints with these words and --help."""
    program = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_EMULATOR_")}
    return subprocess.run([str(program), *words, "--help"], check=True, capture_output=True, text=True, env=plain).stdout


def options(text: str) -> list[Option]:
    """Returns the options in the text of --help, without --help and --version."""
    found: list[Option] = []
    for line in text.splitlines():
        if match := _OPTION.match(line):
            name, value, choices, default, repeats, meaning = match.groups(default="")
            shown = f"{int(default) // _MEBIBYTE}MiB" if default.isdecimal() and int(default) >= _MEBIBYTE else default
            found.append(Option(name, value, tuple(filter(None, choices.split(","))), shown, bool(repeats), meaning))
        elif line.startswith(" " * 20) and found:
            found[-1] = found[-1]._replace(meaning=f"{found[-1].meaning} {line.strip()}".strip())
    return [option for option in found if option.name not in ("help", "version")]


def variable(option: Option) -> str:
    """Returns the environment variable of an option."""
    return f"PENSTOCK_EMULATOR_{option.name.replace('-', '_').upper()}"
