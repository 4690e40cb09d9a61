"""S3FileLister and S3FileLoader: the S3 DataPipes of torchdata 0.9, for any version of torch that has DataPipes.

Importing this module also adds the functional forms ``list_files_by_s3`` and ``load_files_by_s3`` to all IterDataPipes. They work
with or without torchdata. Up to 0.9, torchdata has its own DataPipes of these names. The functional forms are then those of this
module, whichever of the two is imported first.

To shard the files over workers and ranks, put ``shuffle().sharding_filter()`` between lister and loader. Otherwise every worker
of a DataLoader yields every file.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from .._config import check_type
from ._handler import S3Handler
from ._versions import torchdata_version

try:
    from torch.utils.data.datapipes.datapipe import IterDataPipe

    from ._lines import LineReader
    from ._stream import S3Stream, match_masks
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"penstock.datapipes.iter needs torch.utils.data.datapipes, and {error.name!r} is missing: pip install 'torch<=2.13'",
        name=error.name,
    ) from None

if TYPE_CHECKING:
    from .._config import S3ClientConfig

__all__ = ["LineReader", "S3FileLister", "S3FileLoader"]


def _check_source(source_datapipe: object) -> None:
    check_type("source_datapipe", source_datapipe, (Iterable,))
    if isinstance(source_datapipe, str):
        raise TypeError(f"source_datapipe must be an iterable of URLs, not the one URL {source_datapipe!r}; put it in a list")


class S3FileLister(IterDataPipe[str]):
    """Yields the URLs of the objects below prefixes, in S3's order. Functional form: ``list_files_by_s3``.

    Folders (keys that end with ``/``) are left out. Each iteration lists again, page by page.

    Args:
        source_datapipe: Iterable of prefixes: ``s3://bucket``, ``s3://bucket/folder/``, ``s3://bucket/any-prefix``.
        length: Value of ``len()``; -1: unknown, ``len()`` raises TypeError.
        request_timeout_ms: Milliseconds without progress after which an attempt of a request fails and is repeated. Less than
            1000 counts as 1000, as in torchdata. -1: the setting ``idle_timeout`` of `s3client_config`.
        region: AWS region. Empty: ``AWS_REGION``, ``AWS_DEFAULT_REGION``, the profile.
        masks: Patterns of :mod:`fnmatch`, one or several. Only URLs that match one of them are yielded; empty: all.
        endpoint: URL of an S3-compatible service; None: ``S3_ENDPOINT_URL``, ``AWS_ENDPOINT_URL_S3``, ``AWS_ENDPOINT_URL``,
            else AWS.
        s3client_config: All other settings; None: defaults.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `length` or `request_timeout_ms` is out of range. From iterating: a prefix is not an ``s3://`` URL.
        S3Exception: From iterating: a listing failed. Also a ValueError.

    Source: ``torchdata.datapipes.iter.S3FileLister``.
    """

    def __init__(
        self,
        source_datapipe: Iterable[str],
        length: int = -1,
        request_timeout_ms: int = -1,
        region: str = "",
        masks: str | list[str] | None = "",
        *,
        endpoint: str | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        _check_source(source_datapipe)
        check_type("length", length, (int,))
        masks = "" if masks is None else masks
        check_type("masks", masks, (str, list, tuple))
        if length < -1:
            raise ValueError(f"length must be -1 (unknown) or the number of URLs, not {length}")
        self.source_datapipe = source_datapipe
        self.length = length
        self.masks = masks
        self.handler = S3Handler(request_timeout_ms, region, endpoint=endpoint, s3client_config=s3client_config)

    def __iter__(self) -> Iterator[str]:
        self.handler.clear_marker()
        for prefix in self.source_datapipe:
            while urls := self.handler.list_files(prefix):
                yield from (url for url in urls if match_masks(url, self.masks)) if self.masks else urls
            self.handler.clear_marker()

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


class S3FileLoader(IterDataPipe[tuple[str, S3Stream]]):
    """Yields each URL with a stream of its object's bytes. Functional form: ``load_files_by_s3``.

    A stream is a seekable binary file with the methods of ``BytesIO`` for reading. While it is used, the next objects are read in
    advance, as many as fit in `buffer_size`: small ones whole, of each at most half of `buffer_size` or 32 MiB. The rest is read
    while the stream is used, in parallel parts.

    Args:
        source_datapipe: Iterable of URLs ``s3://bucket/key``. Several are taken in advance.
        request_timeout_ms: As in :class:`S3FileLister`.
        region: As in :class:`S3FileLister`.
        buffer_size: The most bytes that are read in advance. None or 0: ``S3_BUFFER_SIZE``, else the setting ``look_ahead_bytes``
            of `s3client_config` (128 MiB).
        multi_part_download: False: each object is read as a whole before it is yielded, its parts one after another. None:
            False if ``S3_MULTI_PART_DOWNLOAD`` is ``OFF``, else True.
        endpoint: As in :class:`S3FileLister`.
        s3client_config: As in :class:`S3FileLister`.

    Raises:
        TypeError: An argument is of another type.
        ValueError: `buffer_size` or `request_timeout_ms` is out of range. From iterating: a URL is not ``s3://bucket/key``.
        S3Exception: From iterating: an object cannot be read. Also a ValueError. From reading a stream: a later part of the
            object cannot be read.

    Source: ``torchdata.datapipes.iter.S3FileLoader``.
    """

    def __init__(
        self,
        source_datapipe: Iterable[str],
        request_timeout_ms: int = -1,
        region: str = "",
        buffer_size: int | str | None = None,
        multi_part_download: bool | None = None,
        *,
        endpoint: str | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        _check_source(source_datapipe)
        self.source_datapipe = source_datapipe
        self.handler = S3Handler(
            request_timeout_ms, region, buffer_size=buffer_size, multi_part_download=multi_part_download, endpoint=endpoint,
            s3client_config=s3client_config,
        )  # fmt: skip

    def __iter__(self) -> Iterator[tuple[str, S3Stream]]:
        readers = self.handler.prefetch(self.source_datapipe)
        try:
            for reader in readers:
                url, file = self.handler.open(reader)
                yield url, S3Stream(file, url)
        finally:
            readers.close()

    def __len__(self) -> int:
        return len(self.source_datapipe)  # type: ignore[arg-type]

    def readlines(
        self,
        *,
        skip_lines: int = 0,
        strip_newline: bool = True,
        decode: bool = False,
        encoding: str = "utf-8",
        errors: str = "ignore",
        return_path: bool = True,
    ) -> LineReader:
        """Returns a :class:`LineReader` of these files, which does what torchdata's ``readlines`` does in less time."""
        return LineReader(
            self, skip_lines=skip_lines, strip_newline=strip_newline, decode=decode, encoding=encoding, errors=errors,
            return_path=return_path,
        )  # fmt: skip


def register(lister: type[S3FileLister], loader: type[S3FileLoader]) -> None:
    """Makes the functional forms return `lister` and `loader`."""
    for name, pipe in (("list_files_by_s3", lister), ("load_files_by_s3", loader)):
        IterDataPipe.functions.pop(name, None)
        IterDataPipe.register_datapipe_as_function(name, pipe)


_version = torchdata_version()
if _version is not None and _version < (0, 10):
    # torchdata registers the same functional names when it is imported, and fails if they are taken. Its native extension
    # needs a libcurl of the system; without it, nothing of torchdata can be imported.
    with suppress(ImportError):
        importlib.import_module("torchdata.datapipes.iter")
register(S3FileLister, S3FileLoader)
