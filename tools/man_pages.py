"""Writes a man page for each command of `penstock` and for `penstock-emulator`.

    ./dev python tools/man_pages.py [FOLDER]        (default: build/man)

tools/install_manuals.py writes those of one distribution.

The options come from the argparse parsers and from `penstock-emulator --help`, the variables from docs/reference/settings.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from emulator_options import help_text, options, variable

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / "docs/reference/settings.md"
Entry = tuple[str, str]  # what is printed bold, and its meaning
SECTIONS = ("commands", "verbs", "arguments", "options", "environment", "exit status")
EXIT_STATUS = [
    ("0", "success"),
    ("1", "failure"),
    ("2", "wrong arguments"),
    ("130", "Ctrl-C"),
]
EMULATOR_STATUS = [("0", "stopped by SIGINT, SIGTERM or SIGHUP"), ("1", "the emulator cannot start"), ("2", "wrong arguments")]
HEALTH_STATUS = [("0", "healthy"), ("1", "not healthy, or no emulator responds"), ("2", "wrong arguments")]
FSCK_STATUS = [("0", "clean"), ("1", "damage"), ("2", "not checked, or wrong arguments")]
_ROFF = {"\\": "\\e", "-": "\\-", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga", "'": "\\(aq"}


@dataclass
class Page:
    """A man page. `sections` have lists of entries by their titles."""

    name: str  # "penstock cp"
    summary: str
    synopsis: list[str]
    description: str = ""
    sections: dict[str, list[Entry]] = field(default_factory=dict)

    @property
    def file(self) -> str:
        return f"{self.name.replace(' ', '-')}.1"


def escaped(text: str) -> str:
    text = "".join(_ROFF.get(character, character) for character in text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def roff(page: Page, names: list[str]) -> str:
    """Returns the source of a page. `names`: of all pages, those of parents and children are named at the end."""
    title = page.file.removesuffix(".1")
    related = [name for name in names if name.startswith(f"{title}-") or title.startswith(f"{name}-")]
    version = (ROOT / "VERSION").read_text().strip()
    lines = [f'.TH {escaped(title.upper())} 1 "" "penstock {version}" "Penstock"', ".SH NAME"]
    lines += [f"{escaped(title)} \\- {escaped(page.summary)}", ".SH SYNOPSIS"]
    for synopsis in page.synopsis:
        program, _, arguments = synopsis.removeprefix(page.name).partition("\n")
        lines += [f".B {escaped(page.name + program)}", escaped(arguments), ".br"]
    if page.description:
        lines += [".SH DESCRIPTION", escaped(page.description)]
    for heading, entries in page.sections.items():
        is_section = heading in SECTIONS
        lines.append(f'.SH "{heading.upper()}"' if is_section else f'.SS "{escaped(heading[0].upper() + heading[1:])}"')
        for term, meaning in entries:
            lines += [".TP", f"\\fB{escaped(term)}\\fR", escaped(meaning) or "\\ "]
    if related:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{escaped(name)}\\fR(1)" for name in related)]
    return "\n".join(lines) + "\n"


def _term(action: argparse.Action) -> str:
    """Returns an argument as it is written: ``--keep N``, ``SOURCE...``."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    value = str(action.metavar or choices)
    if not action.option_strings:
        more = {"+": f"{value}...", "*": f"[{value}]...", "?": f"[{value}]"}
        return more.get(str(action.nargs), value)
    flags = ", ".join(action.option_strings)
    if action.nargs == 0:
        return flags
    return f"{flags} [{value}]" if action.nargs == "?" else f"{flags} {value}"


def _page(name: str, summary: str, parser: argparse.ArgumentParser) -> Page:
    expand = parser._get_formatter()._expand_help  # argparse's own way to fill in %(default)s
    page = Page(name, summary.rstrip("."), [], parser.description or "")
    for group in parser._action_groups:
        entries = [
            (_term(action), expand(action) if action.help else "")
            for action in group._group_actions
            if action.help != argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction)
        ]
        heading = {"positional arguments": "arguments"}.get(group.title or "", group.title or "options")
        if entries:
            page.sections[heading] = entries
    words = " ".join(map(_term, parser._get_positional_actions()))
    page.synopsis = [f"{name}\n[OPTION]... {words}".rstrip()]
    return page


def _summaries(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> Iterator[Entry]:
    return ((action.dest, action.help or "") for action in commands._choices_actions)


def client_variables() -> list[Entry]:
    """Returns the variables of the client's table of docs/reference/settings.md with their meanings."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| [AVP ]+ \|([^|]*)\|([^|]*)\|$", SETTINGS.read_text(), re.M)

    def plain(text: str) -> str:
        return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")

    return [
        (name, plain(meaning).strip() + (f" (default: {plain(default).strip()})" if default.strip() else ""))
        for name, default, meaning in rows
    ]


def _command_pages(name: str, summary: str, command: argparse.ArgumentParser) -> list[Page]:
    """Returns the pages of a command of `penstock`, and of its verbs."""
    page = _page(f"penstock {name}", summary, command)
    pages = [page]
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            page.synopsis = [f"penstock {name}\nVERB [OPTION]... [ARGUMENT]..."]
            page.sections = {"verbs": list(_summaries(action))} | page.sections
            pages += [_page(f"penstock {name} {verb}", text, action.choices[verb]) for verb, text in _summaries(action)]
    for page in pages:
        page.sections["exit status"] = EXIT_STATUS
    return pages


def client_pages() -> list[Page]:
    """Returns the pages of the distribution penstock: of `penstock`, and of the commands that no other distribution adds."""
    from penstock.__main__ import _OTHER_COMMANDS, make_parser

    parser, commands = make_parser(None)
    summaries = dict(_summaries(commands)) | {name: f"{text} ({of})" for name, (of, text) in _OTHER_COMMANDS.items()}
    top = _page("penstock", "S3 for PyTorch", parser)
    top.synopsis = ["penstock\nCOMMAND [OPTION]... [ARGUMENT]..."]
    top.sections = {"commands": list(summaries.items())} | top.sections
    top.sections |= {"environment": client_variables(), "exit status": EXIT_STATUS}
    pages = [top]
    added = _OTHER_COMMANDS.keys() | {entry.name for entry in entry_points(group="penstock.commands")}
    for name, summary in summaries.items():
        if name not in added:
            pages += _command_pages(name, summary, make_parser(name)[1].choices[name])
    return pages


def added_pages(distribution: str | None = None) -> list[Page]:
    """Returns the pages of the commands that other distributions, or only the given one, add to `penstock`."""
    commands = argparse.ArgumentParser(prog="penstock").add_subparsers(dest="command")
    for entry in entry_points(group="penstock.commands"):
        if distribution is None or (entry.dist is not None and entry.dist.name.replace("_", "-") == distribution):
            entry.load()(commands)
    return [page for name, summary in _summaries(commands) for page in _command_pages(name, summary, commands.choices[name])]


def emulator_pages() -> list[Page]:
    """Returns the pages of the program penstock-emulator."""
    pages = []
    for words, summary, status in (
        ((), "an S3 emulator for development and tests", EMULATOR_STATUS),
        (("fsck",), "checks a data directory of the emulator", FSCK_STATUS),
        (("health",), "asks a running emulator whether it serves", HEALTH_STATUS),
    ):
        text = help_text(*words)
        found = options(text)
        entries = [("-h, --help", "print the options")]
        for option in found:
            value = "{" + ",".join(option.choices) + "}" if option.choices else option.value
            more = f" (default: {option.default})" if option.default else ""
            entries.append((f"--{option.name} {value}".rstrip(), option.meaning + more))
        name = " ".join(("penstock-emulator", *words))
        arguments = re.findall(r"^  (\w+) TEXT REQUIRED +(.*)$", text, re.M)
        synopsis = f"{name}\n[OPTION]... {' '.join(each.upper() for each, _ in arguments)}".rstrip()
        page = Page(name, summary, [synopsis], text.splitlines()[0])
        if arguments:
            page.sections["arguments"] = [(each.upper(), meaning) for each, meaning in arguments]
        page.sections["options"] = entries
        if not words:
            page.sections["environment"] = [(variable(option), f"as --{option.name}") for option in found]
        page.sections["exit status"] = status
        pages.append(page)
    return pages


def write(folder: Path, pages: list[Page]) -> None:
    names = [page.file.removesuffix(".1") for page in pages]
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (folder / page.file).write_text(roff(page, names))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/man"
    found = client_pages() + added_pages() + emulator_pages()
    write(target, found)
    print(f"{len(found)} pages in {target}")
