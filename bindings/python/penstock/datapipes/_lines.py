"""LineReader: the lines of files."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from torch.utils.data.datapipes._hook_iterator import (
    _check_iterator_valid,
    _set_datapipe_valid_iterator_id,
    _SnapshotState,
)
from torch.utils.data.datapipes.datapipe import IterDataPipe

from ._stream import S3Stream

BLOCK_BYTES = 256 * 1024  # lines are read and checked in blocks


class LineReader(IterDataPipe[Any]):
    """Yields the lines of files: ``(path, line)``, or the line alone. Lines are ``bytes``, with `decode` ``str``.

    As torchdata's ``readlines``, but several times as fast: the work that torch does for each item of a DataPipe is done once for
    a block of lines (0102). After another iteration of the same DataPipe has begun, the remaining lines of the current block are
    still yielded.

    Args:
        source_datapipe: Iterable of pairs of a path and a binary file. Each file is closed after its last line.
        skip_lines: Lines at the start of each file that are left out.
        strip_newline: Remove line ends, and other ``\\r`` and ``\\n`` at both ends of a line.
        decode: Decode the lines.
        encoding: As in :meth:`bytes.decode`.
        errors: As in :meth:`bytes.decode`.
        return_path: Yield pairs of path and line.

    Raises:
        ValueError: `skip_lines` is negative.

    Source: ``torchdata.datapipes.iter.LineReader``.
    """

    def __init__(
        self,
        source_datapipe: Iterable[tuple[str, io.BufferedIOBase | S3Stream]],
        *,
        skip_lines: int = 0,
        strip_newline: bool = True,
        decode: bool = False,
        encoding: str = "utf-8",
        errors: str = "ignore",
        return_path: bool = True,
    ) -> None:
        if skip_lines < 0:
            raise ValueError(f"skip_lines must be 0 or more lines, not {skip_lines}")
        self.source_datapipe = source_datapipe
        self._skip_lines = skip_lines
        self._strip_newline = strip_newline
        self._decode = (encoding, errors) if decode else None
        self._return_path = return_path

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[Any]: ...

    def _blocks(self, iterator_id: int) -> Iterator[Iterable[Any]]:
        for path, file in self.source_datapipe:
            try:
                with suppress(StopIteration):
                    for _ in range(self._skip_lines):
                        next(file)
                while lines := file.readlines(BLOCK_BYTES):
                    _check_iterator_valid(self, iterator_id)
                    self._number_of_samples_yielded += len(lines)
                    items: Iterable[Any] = lines
                    is_text = isinstance(lines[0], str)  # of a file that was opened in text mode
                    if self._strip_newline:
                        items = [line.strip("\r\n" if is_text else b"\r\n") for line in lines]  # type: ignore[arg-type]
                    if self._decode is not None and not is_text:
                        items = [line.decode(*self._decode) for line in items]
                    yield zip(repeat(path), items) if self._return_path else items
            finally:
                file.close()


def _lines(self: LineReader) -> Iterator[Any]:
    if self._fast_forward_iterator is not None:  # torch resumes a saved pipeline
        resumed, self._fast_forward_iterator = self._fast_forward_iterator, None
        self._snapshot_state = _SnapshotState.Iterating
        return resumed
    return chain.from_iterable(self._blocks(_set_datapipe_valid_iterator_id(self)))  # type: ignore[no-untyped-call]


# torch wraps the __iter__ of a class body into code that runs for each item: it checks that no other iteration has begun, and
# counts the items. _blocks does both for each block.
LineReader.__iter__ = _lines  # type: ignore[method-assign]
