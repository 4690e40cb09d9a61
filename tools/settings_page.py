"""Prints the table of options for docs/reference/settings.md, from `penstock-emulator --help` and the Python class.

    ./dev python tools/settings_page.py [--write]

--write replaces the table of the page. tests/repo/test_settings_page.py fails if the page has another one.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from emulator_options import help_text, options, variable
from penstock_emulator import Emulator

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/settings.md"
HEADER = "| Option | Variable | Key in the file | Python argument | Default | Meaning |\n| --- | --- | --- | --- | --- | --- |\n"
# Python arguments that differ from the option's name, because they have another type.
_PYTHON = {"access-key": "access_keys", "secret-key": "access_keys"}


def table() -> str:
    arguments = inspect.signature(Emulator).parameters
    lines = [HEADER]
    for option in options(help_text()):
        key = option.name.replace("-", "_")
        python = _PYTHON.get(option.name, key if key in arguments else "")
        cells = [f"`--{option.name}`", f"`{variable(option)}`", "" if key == "config" else f"`{key}`"]
        default, meaning = option.default, option.meaning.replace("|", "\\|")
        cells += [f"`{python}`" if python else "", f"`{default}`" if default else "", meaning]
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
