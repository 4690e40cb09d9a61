"""Output of the commands: tables and JSON documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone

_STEP = 1024
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

# Object keys may contain control characters. Escape them, so that they cannot break lines or control the terminal.
_ONE_LINE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def size_text(size: float) -> str:
    """Formats a number of bytes, for example "512 B" or "1.5 MiB"."""
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} {_UNITS[-1]}"


def time_text(seconds: float) -> str:
    """Formats seconds since the epoch as ISO 8601 in UTC, with milliseconds unless they are zero."""
    time = datetime.fromtimestamp(seconds, timezone.utc)
    return time.isoformat(timespec="milliseconds" if seconds % 1 else "seconds").replace("+00:00", "Z")


def one_line(text: str) -> str:
    return text.translate(_ONE_LINE).encode("utf-8", "backslashreplace").decode()


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], right: str = "") -> str:
    """Formats a table. `right` contains the digits of the columns to align right, for example "02"."""
    lines = [list(heads), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]

    def aligned(column: int, cell: str) -> str:
        return cell.rjust(widths[column]) if str(column) in right else cell.ljust(widths[column])

    return "\n".join("  ".join(aligned(column, cell) for column, cell in enumerate(line)).rstrip() for line in lines)


def print_json(document: object) -> None:
    print(json.dumps(document, ensure_ascii=True))


def many(count: int, noun: str) -> str:
    """Formats a count with its noun: "1 object", "2 objects"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
