"""An extension of distributed checkpoints that turns every bit around. A module of its own, as extensions are."""

from __future__ import annotations

import io
from typing import IO, Any

from torch.distributed.checkpoint._extension import StreamTransformExtension

_TURNED = bytes(255 - i for i in range(256))


class _Stream(io.RawIOBase):
    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._raw.write(bytes(data).translate(_TURNED))

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer)).translate(_TURNED)
        buffer[: len(data)] = data
        return len(data)


class Inverting(StreamTransformExtension):
    @staticmethod
    def registry_name() -> str:
        return "stream.inverting"

    @staticmethod
    def from_descriptor(version: str) -> Inverting:
        return Inverting()

    def get_descriptor(self) -> str:
        return "stream.inverting/1"

    def transform_to(self, output: IO[bytes]) -> IO[bytes]:
        return _Stream(output)  # type: ignore[return-value]

    def transform_from(self, input: IO[bytes]) -> IO[bytes]:
        return _Stream(input)  # type: ignore[return-value]
