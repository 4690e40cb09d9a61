"""Prints the table of options for docs/reference/settings.md, from `penstock-emulator --help` and the Python class.

    ./dev python tools/settings_page.py [--write]

--write replaces the table of the page. tests/repo/test_settings_page.py fails if the page has another one.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

from penstock_emulator import Emulator

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/settings.md"
HEADER = "| Option | Variable | Key in the file | Python argument | Default | Meaning |\n| --- | --- | --- | --- | --- | --- |\n"
_OPTION = re.compile(
    r"^  (?:-h,)?--([a-z-]+)(?: (TEXT|INT|UINT|FLOAT)(?::\{.*?\})?(?:=(\S+))?)?(?: \.\.\.)?(?: Excludes: \S+)?\s*(.*)$"
)
_MEBIBYTE = 1 << 20
# Python arguments that differ from the option's name, because they have another type.
_PYTHON = {"access-key": "access_keys", "secret-key": "access_keys"}


def options(text: str) -> list[tuple[str, str, str]]:
    """Returns name, default and meaning of each option in the text of --help."""
    found: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if match := _OPTION.match(line):
            found.append((match[1], match[3] or "", match[4]))
        elif line.startswith(" " * 20) and found:
            name, default, meaning = found[-1]
            found[-1] = (name, default, f"{meaning} {line.strip()}".strip())
    return [option for option in found if option[0] not in ("help", "version")]


def table() -> str:
    program = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
    text = subprocess.run([str(program), "--help"], check=True, capture_output=True, text=True).stdout
    arguments = inspect.signature(Emulator).parameters
    lines = [HEADER]
    for name, default, meaning in options(text):
        key = name.replace("-", "_")
        shown = f"{int(default) // _MEBIBYTE}MiB" if default.isdecimal() and int(default) >= _MEBIBYTE else default
        python = _PYTHON.get(name, key if key in arguments else "")
        cells = [f"`--{name}`", f"`PENSTOCK_EMULATOR_{key.upper()}`", "" if key == "config" else f"`{key}`"]
        cells += [f"`{python}`" if python else "", f"`{shown}`" if shown else "", meaning.replace("|", "\\|")]
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
