"""S3StorageReader: loads distributed checkpoints from S3."""

from __future__ import annotations

import logging
import os
import threading
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any

from torch.distributed.checkpoint import metadata as torch_metadata
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.planner import LoadPlan
from torch.futures import Future

from .. import _core
from .._config import check_callable, size_of
from .._exceptions import S3DataLossError, S3Exception, S3NotFoundError, S3ThrottledError, S3UnavailableError
from ..s3reader import S3ReaderConstructor
from ..s3reader.protocol import DCPS3ReaderConstructorProtocol
from ._checked_metadata import check_gaps, checked_metadata, unpickled_metadata
from ._delivery import Delivery
from ._file_system import S3FileSystem, bucket_and_key
from ._gc_control import collection_disabled, defer_collection, long_lived_objects, resume_collection
from ._items import read_item
from ._layout import TrailerSizes
from ._load import Load
from ._load_plan import CompactLoadPlan
from ._lost_ranks import LOAD_OUTCOME, unify_lost_rank_errors
from ._start_jitter import LOAD_JITTER, world_size
from ._stored_items import Catalogue, stored_items

if TYPE_CHECKING:
    from torch.distributed.checkpoint._extension import ExtensionRegistry
    from torch.distributed.checkpoint.planner import LoadPlanner, ReadItem

    from .._config import S3ClientConfig
    from ..s3reader import S3ReaderConstructorProtocol

log = logging.getLogger(__name__)


class _UnreadMetadata(Metadata):
    """Replaces metadata that could not be read. Raises the error on access.

    torch 2.4 and later discard every exception of `read_metadata`, and then fail with "metadata is None".
    """

    def __init__(self, error: Exception) -> None:
        self.error = error

    def _raise(self) -> Any:
        raise self.error

    state_dict_metadata = property(_raise)
    planner_data = property(_raise)
    storage_data = property(_raise)


class S3StorageReader(FileSystemReader):
    """Loads checkpoints saved by :class:`S3StorageWriter`, by the reference connector's writer or by torch's own.

    Coalesces the ranges of all objects that a plan needs, fetches them in parallel, and writes them directly into the memory of
    the tensors if dtype and layout allow. If the sharding has changed, fetches only the rows that are needed. All other data goes
    through at most 80 MiB of scratch memory. The planner's hooks run on the calling thread, in order of arrival. With a
    ``reader_constructor``, reads the files one after the other instead, and each item completely.

    ``.metadata`` is a pickle and can run code, as with torch's own reader. Load trusted checkpoints only.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix``, with or without a trailing slash.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        reader_constructor: Reader type for reading file after file; None: fetches in parallel, as described above.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        max_gap_size: Ranges with at most this many bytes between them are fetched by one request. As a number or a text such as
            ``"1MiB"``. None: 32 KiB, or up to 1 MiB if that adds less than 1/64 to the bytes of the request.
        max_request_size: Maximum size of one request, in bytes, or as a text such as ``"64MiB"``. None: chosen automatically.
        verify_all: Compare all bytes of tensors with checksums also if only a part of a tensor is loaded. Reads tensors
            completely where the checkpoint has no checksum of the wanted rows alone: in checkpoints of other programs, and for
            columns of rows of 4 KiB and more.
        _extension_registry: Decodes items that extensions have encoded (torch 2.7 and later).

    Raises:
        ValueError: `path` is not an ``s3://`` URI.
        S3Exception: The load failed, also because an object was replaced or truncated during the load. The content of the
            tensors is then undefined.

    Thread safety: each thread may run one load at a time.

    Source: ``s3torchconnector.dcp.S3StorageReader``.
    """

    def __init__(
        self,
        region: str,
        path: str | os.PathLike[str],
        s3client_config: S3ClientConfig | None = None,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
        *,
        endpoint: str | None = None,
        max_gap_size: int | str | None = None,
        max_request_size: int | str | None = None,
        verify_all: bool = False,
        _extension_registry: ExtensionRegistry | None = None,
    ) -> None:
        self._of_thread = threading.local()
        self._latest: dict[str, Any] = {}
        bucket_and_key(path)
        check_callable("reader_constructor", reader_constructor)
        extensions = {} if _extension_registry is None else {"_extension_registry": _extension_registry}
        super().__init__(path, **extensions)
        self._plans_itself = reader_constructor is None
        self._reader_constructor = reader_constructor or S3ReaderConstructor.dcp_optimized()
        self.fs: S3FileSystem = S3FileSystem(  # type: ignore[assignment]
            region, s3client_config=s3client_config, reader_constructor=self._reader_constructor, endpoint=endpoint
        )
        self.path = self.fs.init_path(path)
        self.sync_files = False
        self._max_gap_size = size_of("max_gap_size", max_gap_size)
        self._max_request_size = size_of("max_request_size", max_request_size)
        self._verify_all = verify_all
        self._trailer_sizes = TrailerSizes()

    # ---- state of one load, per thread

    def _get(self, name: str) -> Any:
        return getattr(self._of_thread, name, self._latest.get(name))

    def _set(self, name: str, value: Any) -> None:
        setattr(self._of_thread, name, value)
        self._latest[name] = value

    @property
    def storage_data(self) -> dict[Any, Any]:
        return self._get("storage_data")  # type: ignore[no-any-return]

    @storage_data.setter
    def storage_data(self, value: dict[Any, Any]) -> None:
        self._set("storage_data", value)

    @property
    def path(self) -> str | os.PathLike[str]:
        return self._get("path")  # type: ignore[no-any-return]

    @path.setter
    def path(self, value: str | os.PathLike[str]) -> None:
        self._set("path", value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_of_thread"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._of_thread = threading.local()

    # ---- torch's steps of a load

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        super().reset(checkpoint_id)
        self._set("metadata", None)
        self._set("gaps", None)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Reads the checkpoint's metadata by one request.

        torch asks for the metadata of a rank after any failure. An older save may have left such an object, so it is read only
        if S3 has confirmed that the checkpoint's own metadata cannot be read.

        Returns:
            The metadata. If neither the checkpoint's nor the rank's metadata can be read, an object that raises the error on
            access, because torch discards exceptions of this method.

        Raises:
            S3DataLossError: Its content cannot be true, for example because chunks of a tensor overlap, or is damaged.
            S3Exception: The object could not be read.
            UnpicklingError: The object is not a pickle.
        """
        if not isinstance(self.fs, S3FileSystem):
            return super().read_metadata(*args, **kwargs)
        rank = kwargs.get("rank")
        unread: Exception | None = None if rank is None else getattr(self._of_thread, "unread", None)
        self._of_thread.unread = None
        if unread is not None and not _is_definitive(unread):
            return _unread(unread)
        try:
            return self._fetch_metadata(".metadata" if rank is None else f"__{rank}.metadata")
        except Exception as error:
            if rank is None:
                self._of_thread.unread = error
                raise
            if unread is None:
                raise
            if isinstance(error, S3NotFoundError):
                return _unread(unread)
            error.__cause__ = unread
            return _unread(error)

    def _fetch_metadata(self, name: str) -> Metadata:
        bucket_and_key(self.path)  # rejects a pathlib path
        bucket, key = bucket_and_key(self.fs.concat_path(self.path, name))
        data = self.fs._client.get_object(bucket, key).read()
        uri = f"s3://{bucket}/{key}"
        with long_lived_objects():
            defer_collection()  # lasts while torch plans
            metadata: Metadata = unpickled_metadata(data, uri)
        with collection_disabled():
            if isinstance(metadata, Metadata):
                self._set("gaps", checked_metadata(metadata, uri))
        if hasattr(torch_metadata, "StorageMeta"):  # torch 2.4 and later
            metadata.storage_meta = getattr(metadata, "storage_meta", None) or torch_metadata.StorageMeta()
            metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        if isinstance(metadata, _UnreadMetadata):
            raise metadata.error
        super().set_up_storage_reader(metadata, is_coordinator, *args, **kwargs)
        self._set("metadata", metadata)
        unify_lost_rank_errors("dcp.load", "read", str(self.path), LOAD_OUTCOME)

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Returns the plan with its items sorted by offset. Passes the ranges to a reader constructor that supports it."""
        storage_data = self.storage_data
        plan.items.sort(key=lambda item: storage_data[item.storage_index].offset)
        constructor = self._reader_constructor
        if not self._plans_itself and isinstance(constructor, DCPS3ReaderConstructorProtocol):
            constructor.set_item_ranges_by_file(plan.items, self.storage_data, self.path)
        if not self._plans_itself or not self._uses_core_client():
            resume_collection()
        elif type(plan) is LoadPlan:
            plan = CompactLoadPlan(plan.items, plan.storage_data, plan.planner_data)
            self._set("plan", plan)
        return plan

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        LOAD_JITTER.wait(world_size())
        if gaps := self._get("gaps"):
            check_gaps(gaps, plan, planner)
        if not self._plans_itself or not self._uses_core_client():
            self._read_in_order(plan.items, planner)
            return _done()
        sent = self._get("plan")
        self._set("plan", None)
        items = plan.items_sent_as(sent) if isinstance(plan, CompactLoadPlan) else plan.items
        try:
            with collection_disabled():
                self._read(items, planner)
            del sent, items
        finally:
            resume_collection()  # after the objects of the load have been freed
        return _done()

    def _read_in_order(self, items: list[ReadItem], planner: LoadPlanner) -> None:
        """Reads file after file and item after item through the file system, and verifies each item.

        torch's own loop does not verify: it passes a view of the file to `torch.load`.
        """
        delivery = Delivery(planner, self._decode)
        stored = stored_items(items, self.storage_data, Catalogue(None))
        for relative, group in groupby(stored, key=lambda each: each.path):
            with self.fs.create_stream(self.fs.concat_path(self.path, relative), "rb") as stream:
                for each in group:
                    delivery.take_item(each, read_item(stream, each), each.reads)

    def _read(self, items: list[ReadItem], planner: LoadPlanner) -> None:
        path = self.path
        load = Load(
            self.fs._client,
            planner,
            lambda relative: self.fs.concat_path(path, relative),
            self._decode,
            max_gap_size=self._max_gap_size,
            max_request_size=self._max_request_size,
            verify_all=self._verify_all,
            trailer_sizes=self._trailer_sizes,
        )
        usage = load.run(stored_items(items, self.storage_data, Catalogue(self._get("metadata"))))
        log.debug("read %d items of %s: %s", len(items), path, usage)

    def _uses_core_client(self) -> bool:
        """Whether the file system uses the core client, and not a replacement, for example of a test."""
        return isinstance(self.fs, S3FileSystem) and isinstance(self.fs._client.core, _core.Client)

    def _decode(self, request: Any, descriptors: Any, stream: IO[bytes]) -> IO[bytes]:
        transforms = getattr(self, "transforms", None)
        return transforms.transform_load_stream(request, descriptors, stream) if transforms is not None else stream

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` is valid; see :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)


def _done() -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _is_definitive(error: Exception) -> bool:
    """Whether a retry would return the same error, for example for a missing object."""
    return isinstance(error, S3Exception) and not isinstance(error, (S3ThrottledError, S3UnavailableError, S3DataLossError))


def _unread(error: Exception) -> _UnreadMetadata:
    log.warning("cannot read the metadata of the checkpoint: %s", error)
    return _UnreadMetadata(error)
