"""Draws docs/images/benchmark.svg from the table "tls" of docs/explanation/performance.md: Python programs, over TLS.

    python bench/chart.py

`./dev bench tls --doc docs/explanation/performance.md` draws it too.

The C++ rows of the table are left out, so that the bars compare programs of one language.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GROUP = "tls"
TARGET = ROOT / "docs/images/benchmark.svg"
PEERS = {"penstock from Python": "Penstock", "awscrt": "awscrt", "boto3": "boto3"}
PANELS = (
    ("tls.get_1gib.rate", "GB/s (higher is better)"),
    ("tls.get_1gib", "CPU seconds per GB (lower is better)"),
)
OURS, OTHERS, INK, NOTE = "#2f6db3", "#9aa4b2", "#20242a", "#5a6270"
WIDTH, PANEL, BAR, LABEL = 760, 380, 22, 84


def page_of_figures() -> Path:
    """The page, wherever docs/ has it."""
    return next(ROOT.glob("docs/**/performance.md"))


def recorded(text: str) -> tuple[dict[str, dict[str, float]], str]:
    """The values of the panels' rows by program, and the line of the table with date, commit and versions."""
    table = text.partition(f"<!-- figures: {GROUP} -->\n")[2].partition(f"<!-- end of figures: {GROUP} -->")[0]
    values: dict[str, dict[str, float]] = {}
    for name, _ in PANELS:
        row = next(line for line in table.splitlines() if line.startswith(f"| `{name}` "))
        found = {label: re.search(rf"{peer}[^|;]*\) ([0-9.]+) \(", row) for peer, label in PEERS.items()}
        missing = [label for label, match in found.items() if match is None]
        if missing:
            raise ValueError(f"the row {name} of the table tls has no figure of {', '.join(missing)}")
        values[name] = {label: float(match[1]) for label, match in found.items() if match}
    measured = next(line for line in table.splitlines() if line.startswith("Measured "))
    return values, measured


def text_at(x: float, y: float, text: str, size: int = 13, colour: str = INK, weight: str = "normal") -> str:
    style = f'font-size="{size}" fill="{colour}" font-weight="{weight}"'
    return f'<text x="{x:.0f}" y="{y:.0f}" {style}>{escape(text)}</text>'


def panel(left: float, title: str, values: dict[str, float]) -> list[str]:
    scale = (PANEL - LABEL - 70) / max(values.values())
    lines = [text_at(left, 62, title, weight="600")]
    for number, (label, value) in enumerate(values.items()):
        top = 76 + number * (BAR + 8)
        colour = OURS if label == "Penstock" else OTHERS
        lines.append(text_at(left, top + 16, label))
        lines.append(
            f'<rect x="{left + LABEL:.0f}" y="{top}" width="{value * scale:.1f}" height="{BAR}" rx="3" fill="{colour}"/>'
        )
        lines.append(text_at(left + LABEL + value * scale + 8, top + 16, f"{value:g}"))
    return lines


def drawing(text: str) -> str:
    """The SVG for the page's text."""
    values, measured = recorded(text)
    first, _, versions = measured.partition(", Python ")
    alt = "; ".join(f"{title}: " + ", ".join(f"{k} {v:g}" for k, v in values[name].items()) for name, title in PANELS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 240" width="{WIDTH}" role="img" '
        'font-family="system-ui, sans-serif">',
        f"<title>{escape(alt)}</title>",
        f'<rect width="{WIDTH}" height="240" fill="#ffffff"/>',
        text_at(16, 28, "Download of 512 MiB over TLS into a reused buffer, Python programs", 15, weight="600"),
    ]
    for number, (name, title) in enumerate(PANELS):
        lines += panel(16 + number * (PANEL - 8), title, values[name])
    notes = (
        f"{first}. Medians of 3 rounds.",
        "Client and server share the machine, over 127.0.0.1.",
        f"Python {versions.rstrip('.')}; awscrt: version not recorded.",
    )
    lines += [text_at(16, 188 + 18 * number, note, 12, NOTE) for number, note in enumerate(notes)]
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    TARGET.write_text(drawing(page_of_figures().read_text()))


if __name__ == "__main__":
    main()
