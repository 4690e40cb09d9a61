"""S3Stream: the stream of one object in a pipeline."""

from __future__ import annotations

import io
from collections.abc import Iterator

from torch.utils.data.datapipes.utils.common import StreamWrapper, match_masks

__all__ = ["S3Stream", "match_masks"]


class S3Stream(StreamWrapper):
    """A StreamWrapper around a reader, which behaves like one around a ``BytesIO`` of the object.

    Pickling it reads the object: the copy contains all bytes, at the same position.
    """

    file_obj: io.BufferedIOBase

    def __init__(self, file: io.BufferedIOBase, name: str | None) -> None:
        super().__init__(file, name=name)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.file_obj)  # the generator of StreamWrapper would close the file when it is dropped

    def __del__(self) -> None:
        pass  # readers need no close(); that of StreamWrapper would break `next(files)[1].read()`

    def getvalue(self) -> bytes:
        """Returns all bytes of the object. Does not change the position."""
        file = self.file_obj
        position = file.tell()
        file.seek(0)
        try:
            return file.read()
        finally:
            file.seek(position)

    def getbuffer(self) -> memoryview:
        """Returns a view of all bytes of the object."""
        return memoryview(self.getvalue())

    def __getstate__(self) -> tuple[io.BufferedIOBase, str | None]:
        copy = io.BytesIO(self.getvalue())
        copy.seek(self.file_obj.tell())
        return copy, self.name

    def __setstate__(self, state: tuple[io.BufferedIOBase, str | None]) -> None:
        self.__init__(*state)  # type: ignore[misc]
