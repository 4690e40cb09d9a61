"""Checks the opcodes of an untrusted pickle before it is read: a small pickle must not take much memory. No I/O."""

from __future__ import annotations

import pickletools
from struct import Struct

_UINT4, _UINT8 = Struct("<I"), Struct("<Q")
_LONG_BINPUT, _PUT, _STOP = b"rp."
_FIXED, _LINES, _COUNTED, _TWO_LINES = 0, 1, 2, 3


def _table() -> list[tuple[int, int] | None]:
    """Returns for each opcode the kind of its argument and the bytes of the opcode with its fixed part; None: no opcode."""
    table: list[tuple[int, int] | None] = [None] * 256
    for opcode in pickletools.opcodes:
        size = 0 if opcode.arg is None else opcode.arg.n
        if size >= 0:
            entry = (_FIXED, 1 + size)
        elif size == pickletools.UP_TO_NEWLINE:
            entry = (_TWO_LINES if opcode.name in ("GLOBAL", "INST") else _LINES, 1)
        else:
            widths = {pickletools.TAKEN_FROM_ARGUMENT1: 1, pickletools.TAKEN_FROM_ARGUMENT8U: 8}
            entry = (_COUNTED, 1 + widths.get(size, 4))
        table[ord(opcode.code)] = entry
    return table


_TABLE = _table()
# Sizes of the opcodes that need no check.
_SIZES = [
    entry[1] if entry and entry[0] == _FIXED and code not in (_LONG_BINPUT, _STOP) else 0 for code, entry in enumerate(_TABLE)
]


def _count(data: bytes, position: int, width: int) -> int:
    if width == 1:
        return data[position]
    return int((_UINT8 if width == 8 else _UINT4).unpack_from(data, position)[0])


def _end_of_lines(data: bytes, position: int, lines: int) -> int:
    for _ in range(lines):
        position = data.find(b"\n", position) + 1
        if position == 0:
            raise ValueError("is a pickle that ends inside an opcode")
    return position


def check(data: bytes) -> None:
    """Checks that lengths and memo indices of a pickle are within its size. The unpickler checks everything else.

    The unpickler allocates a memo with as many entries as the largest index, and bytes as long as announced.

    Raises:
        ValueError: They are not.
    """
    position, end = 0, len(data)
    while position < end:
        size = _SIZES[data[position]]
        if not size:
            position = _end_of_opcode(data, position)
            if position < 0:
                return
        else:
            position += size
    if position > end:
        raise ValueError(f"is a pickle that ends inside an opcode: {position - end:,} bytes are missing")


def _end_of_opcode(data: bytes, begin: int) -> int:
    """Checks an opcode whose argument has no fixed size, or is a memo index. Returns its end; -1: the pickle ends here."""
    code = data[begin]
    entry = _TABLE[code]
    if entry is None or code == _STOP:
        return -1
    kind, size = entry
    end = begin + size
    if kind == _COUNTED and end <= len(data):
        end += _count(data, begin + 1, size - 1)
    elif kind != _FIXED:
        end = _end_of_lines(data, end, 2 if kind == _TWO_LINES else 1)
    if code in (_LONG_BINPUT, _PUT) and end <= len(data):
        _check_index(data[begin + 1 : end], code, begin)
    return end


def _check_index(argument: bytes, code: int, begin: int) -> None:
    digits = argument[:20].strip()
    index = _UINT4.unpack(argument)[0] if code == _LONG_BINPUT else int(digits) if digits.isdigit() else 0
    if index > begin:  # the picklers count the objects that they store
        raise ValueError(
            f"is a pickle that stores an object at byte {begin:,} under the memo index {index:,}, which takes too much memory"
        )
