"""Prints the table of options for docs/reference/settings.md: from `penstock-emulator --help`, the Python class and the source.

    ./dev python tools/settings_page.py [--write]

--write replaces the table of the page. tests/repo/test_settings_page.py fails if the page has another one.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from emulator_options import Option, help_text, options, variable
from penstock_emulator import Emulator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/settings.md"
HEADER = f"| Option | Variable | Key in the file | Python argument | C++ member | Default | Meaning |\n{'| --- ' * 7}|\n"
# Python arguments that differ from the option's name, because they have another type.
_PYTHON = {"access-key": "access_keys", "secret-key": "access_keys", "event-sink": "event_sinks"}
# C++ members for options that command_line.cc does not bind to a member of their own name.
_CPP = {"access-key": ("access_keys",), "secret-key": ("access_keys",), "limits": ("limits_json",)}
# Members that hold the content of the file of an option.
_CPP_TEXTS = {"users": "users_json", "faults": "faults_json"}


def cpp_members() -> list[str]:
    """Returns the members of EmulatorOptions."""
    header = (ROOT / "emulator/include/penstock/emulator.h").read_text()
    [struct] = re.findall(r"^struct EmulatorOptions \{\n(.*?)^\};", header, re.DOTALL | re.MULTILINE)
    return re.findall(r"^  [\w:<>]+ (\w+)(?: = [^;]+)?;", struct, re.MULTILINE)


def cpp_names(option: Option) -> tuple[str, ...]:
    """Returns the members of EmulatorOptions that an option sets."""
    bound = dict(re.findall(r'"--([a-z-]+)",\s*options\.(\w+)', (ROOT / "emulator/server/process/command_line.cc").read_text()))
    key = option.name.replace("-", "_")
    if option.name in _CPP:
        return _CPP[option.name]
    found = bound.get(option.name, key if key in cpp_members() else "")
    return tuple(filter(None, (found, _CPP_TEXTS.get(option.name))))


def table() -> str:
    arguments = inspect.signature(Emulator).parameters
    lines = [HEADER]
    for option in options(help_text()):
        key = option.name.replace("-", "_")
        python = _PYTHON.get(option.name, key if key in arguments else "")
        cells = [f"`--{option.name}`", f"`{variable(option)}`", "" if key == "config" else f"`{key}`"]
        default, meaning = option.default, option.meaning.replace("|", "\\|")
        cells += [f"`{python}`" if python else "", ", ".join(f"`{name}`" for name in cpp_names(option))]
        cells += [f"`{default}`" if default else "", meaning]
        lines.append(f"| {' | '.join(cells)} |\n".replace("  |", " |"))
    return "".join(lines)


def with_table(page: str) -> str:
    """Returns the text of the page with the current table in place of its own."""
    before, _, rest = page.partition(HEADER)
    after = rest[rest.index("\n\n") + 1 :]
    return before + table() + after


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_table(PAGE.read_text()))
    else:
        print(table(), end="")
