"""S3StorageReader: distributed checkpoints from S3."""

from __future__ import annotations

import logging
import os
import pickle
import threading
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any

from torch.distributed.checkpoint import metadata as torch_metadata
from torch.distributed.checkpoint.filesystem import FileSystemReader
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.planner import LoadPlan
from torch.futures import Future

from .. import _core
from .._config import check_callable
from .._exceptions import S3DataLossError, S3Exception, S3NotFoundError, S3ThrottledError, S3UnavailableError
from ..s3reader import S3ReaderConstructor
from ..s3reader.protocol import DCPS3ReaderConstructorProtocol
from ._claims import Claims
from ._delivery import Delivery
from ._file_system import S3FileSystem, bucket_and_key
from ._items import read_item
from ._layout import Tails
from ._load import Load
from ._load_plan import TravellingPlan
from ._lost_ranks import LOAD_OUTCOME, tell_alike
from ._quiet import put_off_collection, resume_collection, without_collection
from ._spread import LOADS, world_size
from ._stored import Catalogue, stored_items

if TYPE_CHECKING:
    from torch.distributed.checkpoint._extension import ExtensionRegistry
    from torch.distributed.checkpoint.planner import LoadPlanner, ReadItem

    from .._config import S3ClientConfig
    from ..s3reader import S3ReaderConstructorProtocol

log = logging.getLogger(__name__)


class _UnreadMetadata(Metadata):
    """Stands for metadata that could not be read. Raises the error when somebody looks into it.

    torch (2.4 and later) drops every exception of `read_metadata`, and its load ends in "metadata is None".
    """

    def __init__(self, error: Exception) -> None:
        self.error = error

    def _raise(self) -> Any:
        raise self.error

    state_dict_metadata = property(_raise)
    planner_data = property(_raise)
    storage_data = property(_raise)


class S3StorageReader(FileSystemReader):
    """Reads what :class:`S3StorageWriter`, the reference connector's writer or torch's own saved.

    All ranges of all objects that a plan needs are asked for together, coalesced, in parallel, and land in the tensors' own
    memory where type and layout allow; of what is stored in another sharding only the rows that are needed are fetched. What
    cannot land goes through at most 80 MiB of scratch memory. The planner's hooks run on the calling thread, in the order in
    which items arrive. With a ``reader_constructor`` one reader after the other reads instead: file after file, item after
    item, each item whole.

    ``.metadata`` is a pickle and is loaded as one, as by torch's own reader: it can run code. Load trusted checkpoints only.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix``, with or without a trailing slash.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        reader_constructor: Kind of reader that files are read through, one after the other; None: as described above.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.
        max_gap_size: Wanted ranges with at most so many bytes between them come by one request. None: 32 KiB, or up to 1 MiB
            where that costs less than a sixty-fourth more.
        max_request_size: Bytes of one request at most. None: planned.
        _extension_registry: Decodes what extensions encoded (torch 2.7 and later).

    Raises:
        ValueError: `path` is no ``s3://`` URI.
        S3Exception: A load could not be completed; the tensors' content is then undefined. An object that was replaced or
            truncated meanwhile is an error.

    Thread safety: each thread may have one load under way.

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
        max_gap_size: int | None = None,
        max_request_size: int | None = None,
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
        self._max_gap_size = max_gap_size
        self._max_request_size = max_request_size
        self._tails = Tails()

    # ---- what belongs to one load, and so to a thread

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

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """The checkpoint's metadata: one request.

        torch asks for the metadata of a rank after any failure. An older save may have left one, so that it is not read where
        the checkpoint's own metadata may well exist.

        Returns:
            The metadata. If neither that of the checkpoint nor that of the rank can be read, metadata that raises the reason
            when it is used: torch drops what this method raises.

        Raises:
            S3Exception: The object could not be read.
            UnpicklingError: The object is no pickle.
        """
        if not isinstance(self.fs, S3FileSystem):
            return super().read_metadata(*args, **kwargs)
        rank = kwargs.get("rank")
        unread: Exception | None = None if rank is None else getattr(self._of_thread, "unread", None)
        self._of_thread.unread = None
        if unread is not None and not _is_refusal(unread):
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
        bucket_and_key(self.path)  # a Path is refused while it is one
        bucket, key = bucket_and_key(self.fs.concat_path(self.path, name))
        data = self.fs._client.get_object(bucket, key).read()
        put_off_collection()  # while torch plans, too
        with without_collection():
            metadata: Metadata = pickle.loads(data)
        if hasattr(torch_metadata, "StorageMeta"):  # torch 2.4 and later
            metadata.storage_meta = getattr(metadata, "storage_meta", None) or torch_metadata.StorageMeta()
            metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        if isinstance(metadata, _UnreadMetadata):
            raise metadata.error
        super().set_up_storage_reader(metadata, is_coordinator, *args, **kwargs)
        self._set("metadata", metadata)
        tell_alike("dcp.load", "read", str(self.path), LOAD_OUTCOME)

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Gives the plan back, its items by their offsets; tells a constructor that wants to know which ranges will be read."""
        storage_data = self.storage_data
        plan.items.sort(key=lambda item: storage_data[item.storage_index].offset)
        constructor = self._reader_constructor
        if not self._plans_itself and isinstance(constructor, DCPS3ReaderConstructorProtocol):
            constructor.set_item_ranges_by_file(plan.items, self.storage_data, self.path)
        if not self._plans_itself or not self._is_ours():
            resume_collection()
        elif type(plan) is LoadPlan:
            plan = TravellingPlan(plan.items, plan.storage_data, plan.planner_data)
            self._set("plan", plan)
        return plan

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        LOADS.wait(world_size())
        if not self._plans_itself or not self._is_ours():
            self._read_in_order(plan.items, planner)
            return _done()
        sent = self._get("plan")
        self._set("plan", None)
        items = plan.items_at_home(sent) if isinstance(plan, TravellingPlan) else plan.items
        try:
            with without_collection():
                self._read(items, planner)
            del sent, items
        finally:
            resume_collection()  # when what the load has made is gone
        return _done()

    def _read_in_order(self, items: list[ReadItem], planner: LoadPlanner) -> None:
        """Reads file after file and item after item through the file system, as torch's own loop does; verifies each item.

        torch's loop gives `torch.load` a view of the file, which compares nothing.
        """
        delivery = Delivery(planner, self._tails, Claims(), self._decode, lambda: None)
        stored = stored_items(items, self.storage_data, Catalogue(None))
        for relative, group in groupby(stored, key=lambda each: each.path):
            with self.fs.create_stream(self.fs.concat_path(self.path, relative), "rb") as stream:
                for each in group:
                    delivery.take_item(each, read_item(stream, each))

    def _read(self, items: list[ReadItem], planner: LoadPlanner) -> None:
        path = self.path
        load = Load(
            self.fs._client,
            planner,
            lambda relative: self.fs.concat_path(path, relative),
            self._decode,
            max_gap_size=self._max_gap_size,
            max_request_size=self._max_request_size,
            tails=self._tails,
        )
        load.run(stored_items(items, self.storage_data, Catalogue(self._get("metadata"))))
        log.debug("read %d items of %s: %s", len(items), path, load.usage())

    def _is_ours(self) -> bool:
        """The core's own client is behind the file system: nobody has put another in its place."""
        return isinstance(self.fs, S3FileSystem) and isinstance(self.fs._client.core, _core.Client)

    def _decode(self, request: Any, descriptors: Any, stream: IO[bytes]) -> IO[bytes]:
        transforms = getattr(self, "transforms", None)
        return transforms.transform_load_stream(request, descriptors, stream) if transforms is not None else stream

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` can name a checkpoint; as :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)


def _done() -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _is_refusal(error: Exception) -> bool:
    """Whether S3 answered the request and will not answer it otherwise, as where there is no such object."""
    return isinstance(error, S3Exception) and not isinstance(error, (S3ThrottledError, S3UnavailableError, S3DataLossError))


def _unread(error: Exception) -> _UnreadMetadata:
    log.warning("the metadata of the checkpoint could not be read: %s", error)
    return _UnreadMetadata(error)
