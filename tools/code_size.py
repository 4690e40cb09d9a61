#!/usr/bin/env python3
"""Measures the product code of commits: lines, and characters without comments and blanks. docs/decisions/0090 uses its figures.

    code_size.py [--depth N] [COMMIT...]

Prints a row per commit, language and folder of N levels (default 0: one row for all). Product code is base, client, emulator,
bindings and conformance, without tests, test support, fixtures, fuzz targets and benchmarks. The format of a line does not change
its characters, because blanks include line ends.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import tarfile
import tokenize
from collections import Counter

PRODUCT = re.compile(r"^(base|client|emulator|bindings|conformance)/.*\.(h|cc|inc|py)$")
NOT_PRODUCT = re.compile(
    r"/(tests?|testdata|fixtures?|fuzz|bench)/|^base/testing/|_test\.cc$|_for_test\.(h|cc)$|(test_support|_fixture)\.(h|cc)$"
    r"|/(testing|test|fake)_[^/]*\.(h|cc)$|/testing\.h$"
)
# A string, a character, a raw string (kept), or a comment (removed). ' between digits does not begin one.
CPP_TOKEN = re.compile(
    r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S
)


def cpp_characters(text: str) -> int:
    code = CPP_TOKEN.sub(lambda m: "" if m[0].startswith(("//", "/*")) else m[0], text)
    return len("".join(code.split()))


def python_characters(text: str) -> int:
    """Counts the characters of all tokens except comments and docstrings."""
    count = 0
    at_start = True  # of a statement
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and at_start:
            continue
        if token.type != tokenize.COMMENT:
            count += len("".join(token.string.split()))
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            at_start = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            at_start = False
    return count


def measure(commit: str, depth: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Returns lines and characters for each language and folder of `depth` levels."""
    archive = subprocess.run(["git", "archive", commit], capture_output=True, check=True).stdout
    lines: Counter[tuple[str, str]] = Counter()
    characters: Counter[tuple[str, str]] = Counter()
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if not member.isfile() or not PRODUCT.match(member.name) or NOT_PRODUCT.search(member.name):
                continue
            file = tar.extractfile(member)
            assert file is not None
            text = file.read().decode()
            is_python = member.name.endswith(".py")
            key = ("Python" if is_python else "C++", "/".join(member.name.split("/")[:-1][:depth]))
            lines[key] += text.count("\n")
            characters[key] += python_characters(text) if is_python else cpp_characters(text)
    return {key: (lines[key], characters[key]) for key in sorted(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints lines and characters of the product code of commits.")
    parser.add_argument("--depth", type=int, default=0, help="levels of folders to print (default: 0, the sum)")
    parser.add_argument("commits", nargs="*", default=["HEAD"], metavar="COMMIT")
    arguments = parser.parse_args()
    print(f"{'commit':<12} {'language':<8} {'lines':>8} {'characters':>11} folder")
    for commit in arguments.commits:
        for (language, folder), (lines, characters) in measure(commit, arguments.depth).items():
            print(f"{commit:<12} {language:<8} {lines:>8,} {characters:>11,} {folder}")


if __name__ == "__main__":
    main()
