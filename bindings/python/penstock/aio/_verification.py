"""Verification: compares an object that is read in order with its checksum."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from .. import _core
from .._exceptions import S3DataLossError
from .._objects import crc_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_CRC_BYTES = {"crc64nvme": 8, "crc32c": 4, "crc32": 4}  # in the order of preference of the core


class Verification:
    """The CRC of the bytes of an object that its reader has returned.

    Attributes:
        checksums: The object's checksums that can be compared; None: not known yet.
        crc: CRC of the bytes before `end`, once the checksums are known.
        end: Bytes before this offset were added.
    """

    def __init__(self) -> None:
        self.checksums: list[tuple[str, str]] | None = None
        self.crc = 0
        self.end = 0
        self._pending: list[memoryview] = []  # added while the checksums are not known

    def copy(self) -> Verification:
        """Returns the state, which does not change with this object."""
        state = Verification()
        state.checksums, state.crc, state.end, state._pending = self.checksums, self.crc, self.end, list(self._pending)
        return state

    def add(self, block: memoryview) -> None:
        """Adds the bytes after `end`. Until the checksums are known, `block` is kept and must not change."""
        self.end += len(block)
        if self.checksums is None:
            self._pending.append(block)
        else:
            self.crc = _core.prefix_crc(self.checksums, block, self.crc)

    def learn(self, checksums: list[tuple[str, str]]) -> None:
        """Sets the checksums."""
        self.checksums = checksums
        for block in self._pending:
            self.crc = _core.prefix_crc(checksums, block, self.crc)
        self._pending.clear()

    def advance(self, count: int, crc: int) -> None:
        """Counts bytes whose CRC, together with those before, the engine has computed."""
        self.end += count
        self.crc = crc

    def check(self, bucket: str, key: str) -> None:
        """Compares the CRC of the whole object. Requires its checksums."""
        values = dict(self.checksums or ())
        name = next(name for name in _CRC_BYTES if name in values)
        received = crc_text(self.crc, _CRC_BYTES[name])
        if received != values[name]:
            raise S3DataLossError(
                f"the bytes of s3://{bucket}/{key} have the {name} {received}, but S3 stored {values[name]};"
                " read the object again"
            )


def usable(checksums: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the checksums that can be compared."""
    usable = []
    for name, value in checksums.items():
        try:
            if len(base64.b64decode(value, validate=True)) == _CRC_BYTES.get(name):
                usable.append((name, value))
        except binascii.Error:
            pass
    return usable
