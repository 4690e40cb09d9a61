"""Writes the tables of docs/reference/other-commands.md: from the parsers of the commands, as the man pages.

    ./dev python tools/commands_page.py

tests/repo/test_commands_page.py fails if the page has other tables.
"""

from __future__ import annotations

from pathlib import Path

from man_pages import EXIT_STATUS, ROOT, Entry, Page, added_pages, client_pages, emulator_pages

PAGE = ROOT / "docs/reference/other-commands.md"
START = "<!-- The rest comes from tools/commands_page.py. -->\n"
TITLES = (
    "penstock checkpoint",
    "penstock simulate",
    "penstock conformance",
    "penstock-emulator fsck",
    "penstock-emulator health",
)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _table(head: str, entries: list[Entry]) -> str:
    rows = [f"| `{_cell(term)}` | {_cell(meaning)} |\n".replace("|  |", "| |") for term, meaning in entries]
    return f"\n| {head} | Meaning |\n| --- | --- |\n{''.join(rows)}"


def _arguments(page: Page) -> list[Entry]:
    """The arguments and options of a command, without --help."""
    found = [entry for name, entries in page.sections.items() if name not in ("verbs", "exit status") for entry in entries]
    return [(term, meaning) for term, meaning in found if term != "-h, --help"]


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _section(title: str, pages: list[Page]) -> str:
    page, *verbs = (each for each in pages if each.name == title or each.name.startswith(f"{title} "))
    parts = [f"\n## {title}\n\n{_sentence(page.description or page.summary)}\n"]
    shared = [entry for entry in _arguments(verbs[0]) if all(entry in _arguments(verb) for verb in verbs)] if verbs else []
    if verbs:
        parts.append(_table("Argument of each verb", shared))
    else:
        parts.append(_table("Argument", _arguments(page)))
    for verb in verbs:
        parts.append(f"\n### {verb.name}\n\n{_sentence(verb.description or verb.summary)}\n")
        if own := [entry for entry in _arguments(verb) if entry not in shared]:
            parts.append(_table("Argument", own))
    if page.sections["exit status"] != EXIT_STATUS:
        parts.append(_table("Exit status", page.sections["exit status"]))
    return "".join(parts)


def text() -> str:
    pages = client_pages() + added_pages() + emulator_pages()
    return "".join(_section(title, pages) for title in TITLES)


def with_tables(page: str) -> str:
    """Returns the text of the page with the current tables after its first paragraphs."""
    return page.partition(START)[0] + START + text()


if __name__ == "__main__":
    Path(PAGE).write_text(with_tables(PAGE.read_text()))
