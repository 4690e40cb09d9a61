"""Output of the commands: tables and JSON documents."""

from __future__ import annotations

from collections.abc import Sequence

_STEP = 1024
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

# Categories of characters that control the terminal, break lines, reorder the text, or are invisible. Keys may contain them.
_ESCAPED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def size_text(size: float) -> str:
    """Formats a number of bytes, for example "512 B" or "1.5 MiB"."""
    for unit in _UNITS[:-1]:
        if size < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} {_UNITS[-1]}"


def time_text(seconds: float) -> str:
    """Formats seconds since the epoch as ISO 8601 in UTC, with milliseconds unless they are zero."""
    from datetime import datetime, timezone

    time = datetime.fromtimestamp(seconds, timezone.utc)
    return time.isoformat(timespec="milliseconds" if seconds % 1 else "seconds").replace("+00:00", "Z")


def _visible(character: str) -> str:
    import unicodedata

    if unicodedata.category(character) not in _ESCAPED:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Escapes the characters of a key that would not be seen as they are."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], right: str = "") -> str:
    """Formats a table. `right` contains the digits of the columns to align right, for example "02"."""
    lines = [list(heads), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]

    def aligned(column: int, cell: str) -> str:
        return cell.rjust(widths[column]) if str(column) in right else cell.ljust(widths[column])

    return "\n".join("  ".join(aligned(column, cell) for column, cell in enumerate(line)).rstrip() for line in lines)


def print_json(document: object) -> None:
    import json

    print(json.dumps(document, ensure_ascii=True))


def many(count: int, noun: str) -> str:
    """Formats a count with its noun: "1 object", "2 objects"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
