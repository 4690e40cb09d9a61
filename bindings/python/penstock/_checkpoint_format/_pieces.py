"""The pieces of a tensor's bytes that have checksums of their own. No I/O."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

MAX_PIECE_BYTES = 1024**2
MIN_PIECE_BYTES = 128 * 1024
CRC32S = "penstock_crc32s"  # attribute of an item's storage data in `.metadata`: `packed` CRC-32s of its pieces
PIECES = 64  # of a tensor of 64 * MIN_PIECE_BYTES and more, at least


def piece_bytes(sizes: Sequence[int], itemsize: int) -> int:
    """Returns the size of the pieces of a tensor in bytes; the last one may be smaller. 0 for an empty tensor.

    A piece is a group of whole rows, unless one row exceeds MAX_PIECE_BYTES. Groups are halved until a piece is small enough.
    The rows of a rank therefore start at the start of a piece if the number of rows, and of ranks, is a power of two.
    """
    rows = sizes[0] if sizes else 1
    row = math.prod(sizes[1:]) * itemsize
    group, count = rows, 1
    while group > 1 and (group * row > MAX_PIECE_BYTES or (count < PIECES and group * row >= 2 * MIN_PIECE_BYTES)):
        group, count = -(-group // 2), 2 * count
    size = group * row
    while size > MAX_PIECE_BYTES:
        size = -(-size // 2)
    return size


def piece_count(sizes: Sequence[int], itemsize: int) -> int:
    size = piece_bytes(sizes, itemsize)
    return -(-math.prod(sizes) * itemsize // size) if size else 0


def crcs_of(
    memory: Iterable[torch.Tensor],
    piece_bytes: int,
    crc_of: Callable[[int, int, torch.Tensor], int],
    combined: Callable[[int, int, int], int],
) -> list[int]:
    """Returns the CRC of each piece of a tensor whose bytes are in `memory`, one part after the other.

    Args:
        crc_of: Returns the CRC of bytes of a part. Takes their address and size, and the part.
        combined: Returns the CRC of A followed by B. Takes both CRCs and the size of B.
    """
    crcs = []
    crc = filled = 0
    for part in memory:
        address, left = part.data_ptr(), part.nbytes
        while left:
            size = min(left, piece_bytes - filled)
            added = crc_of(address, size, part)
            crc = combined(crc, added, size) if filled else added
            address, left, filled = address + size, left - size, filled + size
            if filled == piece_bytes:
                crcs.append(crc)
                filled = 0
    if filled:
        crcs.append(crc)
    return crcs


def packed(crc32s: Sequence[int]) -> bytes:
    """Returns CRC-32s in the format of `.metadata`: 4 bytes each, little-endian."""
    return struct.pack(f"<{len(crc32s)}I", *crc32s)
