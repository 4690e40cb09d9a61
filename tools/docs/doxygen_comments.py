"""Input filter of Doxygen: turns the `//` comments of a public header into `///` and `///<`.

usage: doxygen_comments.py FILE

A comment belongs to the declaration below it, or to the one on its line and to further comments in the same column. The comment
at the top of a file describes the file. Other text is not changed, so that line numbers stay.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FULL = re.compile(r"^(\s*)//(?!/)(.*)$")
TRAILING = re.compile(r'^(\s*[^\s/"].*[;,}{)])(\s+)//(?!/)(.*)$')
IGNORED = re.compile(r"^\s*(NOLINT|namespace\b|IWYU|clang-format)")


def escaped(text: str) -> str:
    """Doxygen commands and HTML tags in a comment are ordinary text, and penstock::torch is no link."""
    return re.sub(r"\b(?=penstock::[a-z])", "%", re.sub(r"([\\@<>#%$])", r"\\\1", text))


def filtered(source: str, name: str) -> str:
    lines = source.splitlines()
    result = list(lines)
    column = -1  # of the trailing comment in the line above
    for number, line in enumerate(lines):
        trailing, full = TRAILING.match(line), FULL.match(line)
        if trailing and not IGNORED.match(trailing[3]):
            column = len(trailing[1]) + len(trailing[2])
            result[number] = f"{trailing[1]}{trailing[2]}///<{escaped(trailing[3])}"
        elif full and len(full[1]) == column:
            result[number] = f"{full[1]}///<{escaped(full[2])}"
        elif full and not IGNORED.match(full[2]):
            column = -1
            result[number] = f"{full[1]}///{escaped(full[2])}"
        else:
            column = -1
    end = next((number for number, line in enumerate(lines) if not FULL.match(line)), 0)
    if end:
        result[0] = f"/** \\file {name} \\brief" + result[0].removeprefix("///")
        result[1:end] = [" " + line.removeprefix("///") for line in result[1:end]]
        result[end - 1] += " */"
    detached(lines, result, end)
    return "\n".join(result) + "\n"


def detached(lines: list[str], result: list[str], begin: int) -> None:
    """Leaves comments alone that a blank line separates from the next declaration: they describe a group, not a declaration."""
    block: list[int] = []
    for number in range(begin, len(lines)):
        if FULL.match(lines[number]) and not result[number].lstrip().startswith("///<"):
            block.append(number)
            continue
        if block and not lines[number].strip():
            for each in block:
                result[each] = lines[each]
        block = []


if __name__ == "__main__":
    sys.stdout.write(filtered(Path(sys.argv[1]).read_text(), Path(sys.argv[1]).name))
