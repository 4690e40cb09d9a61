"""``awsio.python.lib.io.s3.s3dataset`` and ``_pywrap_s3_io``: the Amazon S3 plugin for PyTorch.

Unlike the plugin, a failed request is an error. The plugin printed it and returned zeros.
"""

from __future__ import annotations

import io
import os
import random
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch.distributed
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from .._exceptions import S3AccessDeniedError, S3Exception, S3NotFoundError
from .._objects import parse_s3_uri
from ..datapipes._errors import also_value_error
from ..datapipes._handler import S3Handler, object_of

__all__ = [
    "S3BaseClass",
    "S3Dataset",
    "S3Init",
    "S3IterableDataset",
    "ShuffleDataset",
    "file_exists",
    "get_file_size",
    "list_files",
    "reraise_exception",
    "tardata",
    "zipdata",
]

meta_prefix = "__"
meta_suffix = "__"


class S3Init(S3Handler):
    """``_pywrap_s3_io.S3Init``: the plugin's handler, with its defaults and environment variables.

    Reads ``AWS_REGION`` (``us-west-2`` if unset), ``S3_ENDPOINT_URL``, ``S3_USE_HTTPS``, ``S3_PROXY_HOST``, ``S3_PROXY_PORT``,
    ``S3_BUFFER_SIZE`` and ``S3_DISABLE_MULTI_PART_DOWNLOAD``.
    """

    _default_region = "us-west-2"
    _unparallel = ("S3_DISABLE_MULTI_PART_DOWNLOAD", "ON")

    def __init__(self) -> None:
        super().__init__()

    def _settings(self) -> dict[str, Any]:
        host, port = os.environ.get("S3_PROXY_HOST"), os.environ.get("S3_PROXY_PORT")
        proxy = {"proxy": f"http://{host}:{port}" if port else f"http://{host}"} if host else {}
        return super()._settings() | proxy

    def list_files(self, url: str) -> list[str]:
        """Returns the URLs of all objects below a prefix."""
        return [each for page in self.pages(url) for each in page]

    def file_exists(self, url: str) -> bool:
        """Returns whether an object has this URL, and may be read.

        Raises:
            ValueError: `url` is not an ``s3://`` URL, or the request failed.
        """
        bucket, key = parse_s3_uri(url)
        try:
            return bool(key) and self.client.head_object(bucket, key) is not None
        except (S3NotFoundError, S3AccessDeniedError):
            return False
        except S3Exception as error:
            raise also_value_error(error) from None

    def get_file_size(self, url: str) -> int:
        """Returns the bytes of an object.

        Raises:
            ValueError: `url` is not ``s3://bucket/key``, or the request failed.
        """
        bucket, key, _ = object_of(url)
        try:
            return self.client.head_object(bucket, key).size
        except S3Exception as error:
            raise also_value_error(error) from None


def file_exists(url: str) -> bool:
    """Returns whether an object has this URL."""
    return S3Init().file_exists(url)


def get_file_size(url: str) -> int:
    """Returns the bytes of an object."""
    return S3Init().get_file_size(url)


def list_files(url: str) -> list[str]:
    """Returns the URLs of all objects below a prefix."""
    return S3Init().list_files(url)


def reraise_exception(exn: Exception) -> bool:
    """The default handler of exceptions: raises it."""
    raise exn


def tardata(
    fileobj: bytes,
    skip_meta: str | None = r"__[^/]*__($|/)",
    handler: Callable[[Exception], bool] = reraise_exception,
) -> Iterator[tuple[str, bytes]]:
    """Yields name and bytes of the regular files of a tar archive.

    Args:
        fileobj: The bytes of the archive.
        skip_meta: Leave out names that match this expression; None: yield all.
        handler: Called with an exception. If it returns true, the iteration goes on with the next file, else it ends.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(fileobj), mode="r|*") as archive:
            for member in archive:
                if not member.isreg() or (skip_meta is not None and re.match(skip_meta, member.name)):
                    continue
                try:
                    file = archive.extractfile(member)
                    assert file is not None  # a regular file
                    data = file.read()
                except Exception as error:
                    if handler(error):
                        continue
                    return
                yield member.name, data
    except tarfile.TarError as error:
        handler(error)


def zipdata(fileobj: bytes, handler: Callable[[Exception], bool] = reraise_exception) -> Iterator[tuple[str, bytes]]:
    """Yields name and bytes of the members of a zip archive. Arguments as of :func:`tardata`."""
    try:
        with zipfile.ZipFile(io.BytesIO(fileobj)) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
    except zipfile.BadZipFile as error:
        handler(error)


class S3BaseClass:
    """The URLs of a dataset.

    Args:
        urls_list: One URL or several, each of an object or, if there is no such object, a prefix of objects.

    Raises:
        AssertionError: There are no objects below a prefix.
        ValueError: A URL is not an ``s3://`` URL, or a request failed.
    """

    def __init__(self, urls_list: str | Iterable[str]) -> None:
        urls = [urls_list] if isinstance(urls_list, str) else urls_list
        self._urls_list = self.create_urls_list(urls)
        self._handler: S3Init | None = None

    @staticmethod
    def create_urls_list(urls: Iterable[str]) -> list[str]:
        handler, found = S3Init(), []
        for url in urls:
            below = [url] if handler.file_exists(url) else handler.list_files(url)
            if not below:
                raise AssertionError(f"The directory {url} does not contain any objects.")
            found += below
        return found

    @property
    def urls_list(self) -> list[str]:
        return self._urls_list

    @property
    def handler(self) -> S3Init:
        if self._handler is None:
            self._handler = S3Init()
        return self._handler


class S3Dataset(S3BaseClass, Dataset[Any]):
    """A map-style dataset of pairs of a URL and the object's bytes. Arguments of :class:`S3BaseClass`."""

    def __len__(self) -> int:
        return len(self.urls_list)

    def __getitem__(self, idx: int) -> tuple[str, bytes]:
        url = self.urls_list[idx]
        return url, self.handler.s3_read(url)


class S3IterableDataset(S3BaseClass, IterableDataset[Any]):
    """Yields pairs of a URL and the object's bytes, and of a member's name and bytes for each member of a tar or zip archive.

    The objects are sharded over the ranks of torch.distributed and the workers of the DataLoader. While one object is used, the
    next ones are read.

    Args:
        urls_list: As in :class:`S3BaseClass`.
        shuffle_urls: Shuffle the objects, in the same order on all ranks and workers. :meth:`set_epoch` selects the order.
    """

    def __init__(self, urls_list: str | Iterable[str], shuffle_urls: bool = False) -> None:
        super().__init__(urls_list)
        self.epoch = 0
        self.shuffle_urls = shuffle_urls
        self._rank_and_world_size = (0, 1)
        self._find_rank()  # spawned workers have no process group

    def _find_rank(self) -> None:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self._rank_and_world_size = torch.distributed.get_rank(), torch.distributed.get_world_size()

    @property
    def shuffled_list(self) -> list[str]:
        if not self.shuffle_urls:
            return self.urls_list
        return random.Random(self.epoch).sample(self.urls_list, len(self.urls_list))

    def worker_dist(self, urls: list[str]) -> list[str]:
        """Returns the part of `urls` for this rank and worker."""
        self._find_rank()
        rank, world_size = self._rank_and_world_size
        worker = get_worker_info()
        urls = urls[rank::world_size]
        return urls if worker is None else urls[worker.id :: worker.num_workers]

    def get_stream(self, urls: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yields the samples of the objects."""
        readers = self.handler.prefetch(urls)
        try:
            for reader in readers:
                url, file = self.handler.open(reader)
                data = file.read()
                if url.endswith("tar"):
                    yield from tardata(data)
                elif url.endswith("zip"):
                    yield from zipdata(data)
                else:
                    yield url, data
        finally:
            readers.close()

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return self.get_stream(self.worker_dist(self.shuffled_list))

    def __len__(self) -> int:
        return len(self.urls_list)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch


class ShuffleDataset(IterableDataset[Any]):
    """Shuffles the items of a dataset through a buffer.

    Args:
        dataset: An iterable-style dataset.
        buffer_size: Items in the buffer.
    """

    def __init__(self, dataset: Iterable[Any], buffer_size: int) -> None:
        super().__init__()
        self.dataset = dataset
        self.buffer_size = buffer_size

    def __iter__(self) -> Iterator[Any]:
        buffer: list[Any] = []
        for item in self.dataset:
            buffer.append(item)
            if len(buffer) > self.buffer_size:
                yield buffer.pop(random.randrange(len(buffer)))
        random.shuffle(buffer)
        yield from buffer
