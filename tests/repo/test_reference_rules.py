"""docs/reference/s3torchconnector.md names tests that exist, and a test for each rule."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/s3torchconnector.md"


def named_tests() -> list[tuple[str, str]]:
    """File and test of every `file::test` in the tables. The test is "" for a file alone; `::test` belongs to the last file."""
    found, file = [], ""
    for line in PAGE.read_text().splitlines():
        if not line.startswith("|"):
            continue
        for path, test in re.findall(r"`([\w./]*\.(?:py|cc))?(?:::(\w+))?`", line):
            if path or test:
                file = path or file
                found.append((file, test))
    return found


def test_every_named_test_exists() -> None:
    named = named_tests()
    assert len(named) > 100
    missing = []
    for file, test in named:
        path = ROOT / file if "/" in file else next((ROOT / "bindings/tests").rglob(file), ROOT / file)
        wanted = rf"def {test}\(" if file.endswith(".py") else rf"^TEST(?:_[FP])?\(\w+, {test}\)"
        if not path.is_file() or (test and re.search(wanted, path.read_text(), re.MULTILINE) is None):
            missing.append(f"{file}::{test}")
    assert missing == []


def test_every_rule_names_a_test() -> None:
    heads = ("| ---", "| Rule", "| There")
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and not line.startswith(heads)]
    assert len(rows) > 50
    assert [row for row in rows if re.search(r"`[\w./]+\.(py|cc)(::\w+)?`", row) is None] == []
