"""Writes the tables of docs/reference/platforms.md from tools/platforms.toml.

    ./dev python tools/platforms_page.py

tests/repo/test_platforms.py fails if the page has other tables.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest depends on tomli
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/platforms.md"
START = "<!-- The tables come from tools/platforms.toml. -->\n"
STATES = ("tested", "built", "checked", "not tried")


def tables() -> list[dict[str, Any]]:
    """Returns the tables of platforms.toml.

    Raises:
        ValueError: A row has an unknown state, or a date without a trial.
    """
    found: list[dict[str, Any]] = tomllib.loads((ROOT / "tools/platforms.toml").read_text())["table"]
    for row in (row for table in found for row in table["rows"]):
        if row["state"] not in STATES:
            raise ValueError(f"{row['name']}: the state is '{row['state']}'; it must be one of {', '.join(STATES)}")
        if (row["date"] == "") != (row["state"] == "not tried"):
            raise ValueError(f"{row['name']}: a trial has a date, and 'not tried' has none")
    return found


def text() -> str:
    parts = []
    for table in tables():
        head = [table["column"], "State", "Last trial", table.get("last_column", "What was run")]
        parts.append(f"\n## {table['title']}\n\n| {' | '.join(head)} |\n| --- | --- | --- | --- |\n")
        for row in table["rows"]:
            cells = [row["name"], row["state"], row["date"], row["what"]]
            parts.append(f"| {' | '.join(cells)} |\n".replace("|  |", "| |").replace("|  |", "| |"))
    return "".join(parts)


def with_tables(page: str) -> str:
    """Returns the text of the page with the current tables after its first paragraphs."""
    return page.partition(START)[0] + START + text()


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
