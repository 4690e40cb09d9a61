"""S3StorageWriter: saves distributed checkpoints to S3 atomically."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import re
import secrets
import warnings
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from torch.distributed.checkpoint.filesystem import FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.planner import SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import WriteResult
from torch.futures import Future

from .._config import check_type
from .._exceptions import S3Exception, S3PreconditionFailedError
from . import _commit, _save_lock
from ._file_system import S3FileSystem, bucket_and_key
from ._lost_ranks import SAVE_OUTCOME, unify_lost_rank_errors
from ._shard import SafetensorsWriter, Shard, ShardWriter, split
from ._sink import UploadSink
from ._start_jitter import SAVE_JITTER
from ._uploads import upload_all
from .s3_prefix_strategy import DefaultPrefixStrategy, S3PrefixStrategyBase

if TYPE_CHECKING:
    import os

    from .._config import S3ClientConfig

log = logging.getLogger(__name__)

_TORCH_KNOWS_OVERWRITE = "overwrite" in inspect.signature(FileSystemWriter.__init__).parameters  # torch 2.4 and later

METADATA_NAME = ".metadata"
SHARD_SUFFIX = ".distcp"
MAX_THREADS = 1024
_GENERATION = re.compile(r"g[0-9a-f]{8}_\Z")


@dataclasses.dataclass
class StorageMetadata:
    """The storage data of a rank's plan, which the coordinator sends.

    Attributes:
        prefix: Prefix of the rank's object names, relative to the checkpoint's path.
        ranks: Number of ranks that save.
        replaced: ETag of the `.metadata` that this save replaces; None: there was none.
        used: Whether a save has used this plan. A planner may keep a plan; the other fields are then of that earlier save.
    """

    prefix: str
    ranks: int = dataclasses.field(default=1, compare=False, repr=False)
    replaced: str | None = dataclasses.field(default=None, compare=False, repr=False)
    used: bool = dataclasses.field(default=False, compare=False, repr=False)


class S3StorageWriter(FileSystemWriter):
    """Writes a distributed checkpoint to S3: ``torch.distributed.checkpoint.save(state, storage_writer=...)``.

    Sends the memory of the tensors without copying it. The last request publishes `.metadata`, and with it the whole checkpoint
    atomically; a save that fails or is killed leaves the previous checkpoint unchanged. A save that replaces a checkpoint, or
    runs concurrently with another save, uses new object names, and deletes the replaced objects after the new `.metadata` is
    published. The object `.metadata.saving` exists while a save runs.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix`` of the checkpoint.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        prefix_strategy: Chooses the names of each rank's objects; None: :class:`DefaultPrefixStrategy`.
        thread_count: Number of objects that a rank writes in parallel. With single_file_per_rank (the default), also the number
            of objects of a rank.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        kwargs: Arguments of torch's ``FileSystemWriter``: single_file_per_rank, per_thread_copy_ahead (bytes),
            cache_staged_state_dict, overwrite, _extensions, serialization_format.

    Raises:
        ValueError: `path` is not an ``s3://`` URI, or `thread_count` is less than 1 or more than 1024.
        TypeError: `thread_count` is not an int, or an argument is not supported, such as sync_files, which has no meaning on S3.

    Picklable. Thread safety: one save at a time.

    Source: ``s3torchconnector.dcp.S3StorageWriter``.
    """

    def __init__(
        self,
        region: str,
        path: str,
        s3client_config: S3ClientConfig | None = None,
        prefix_strategy: S3PrefixStrategyBase | None = None,
        thread_count: int = 1,
        *,
        endpoint: str | None = None,
        **kwargs: Any,
    ) -> None:
        bucket_and_key(path)
        check_type("thread_count", thread_count, (int,))
        if not 1 <= thread_count <= MAX_THREADS:
            raise ValueError(f"thread_count must be 1 to {MAX_THREADS}, not {thread_count}")
        apart = {} if _TORCH_KNOWS_OVERWRITE else {"overwrite": kwargs.pop("overwrite", True)}
        super().__init__(path=path, sync_files=False, thread_count=thread_count, **kwargs)
        vars(self).update(apart)
        self.fs: S3FileSystem = S3FileSystem(region, s3client_config=s3client_config, endpoint=endpoint)  # type: ignore[assignment]
        self.path = self.fs.init_path(path)
        self.prefix_strategy = prefix_strategy or DefaultPrefixStrategy()
        self._is_coordinator = True
        self._replaced: _commit.MetadataVersion | None = None
        self._lock: _save_lock.SaveLock | None = None
        self._prefixes: set[str] = set()
        self._empty: list[str] = []

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` is valid; see :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)

    # ---- planning

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        bucket_and_key(self.path)
        self.rank = kwargs.get("rank")
        self.use_collectives = kwargs.get("use_collectives", True)
        self._is_coordinator = is_coordinator or not self.use_collectives
        self._replaced = None
        self._lock = None
        self._prefixes = set()
        self._empty = []
        unify_lost_rank_errors("dcp.save", "write", str(self.path), SAVE_OUTCOME)

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Takes the save lock and looks for an existing checkpoint, on the coordinator. Plans pass the result to other ranks.

        Returns:
            `plan`; with the object names if the rank saves without collectives.

        Raises:
            RuntimeError: There is a checkpoint, and ``overwrite`` is False.
            S3Exception: A request failed.
        """
        if self._is_coordinator:
            self._lock_path()
        if self._saves_alone:
            return dataclasses.replace(plan, storage_data=self._storage_of(self.rank or 0, self._new_generation(), 1))
        return plan

    def _lock_path(self) -> None:
        """Takes the save lock, then looks for a checkpoint. In the other order, a whole save could run in between."""
        if not self.overwrite:  # do not take the lock if the save will be refused
            self._find_existing()
        self._lock = _save_lock.acquire(self.fs._client, self._metadata_uri())
        try:
            self._find_existing()
        except BaseException:
            self._unlock()
            raise
        if self._replaced:
            warnings.warn(f"Detected an existing checkpoint in {self.path}, overwriting since {self.overwrite=}.", stacklevel=3)

    def _find_existing(self) -> None:
        self._replaced = _commit.current_version(self.fs._client, self._metadata_uri())
        if self._replaced and not self.overwrite:
            raise RuntimeError(f"Checkpoint already exists and {self.overwrite=}.")

    def _unlock(self) -> None:
        """Releases the lock after a failure. Keeps the lock of another save, whose objects may use the plain names."""
        if self._lock:
            _save_lock.release(self.fs._client, self._lock._replace(found=None))

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Assigns object names to each plan by its rank, unless it has some.

        Raises:
            ValueError: The prefix strategy returns the same prefix for two ranks.
        """
        generation = self._new_generation()
        named = [
            dataclasses.replace(plan, storage_data=self._storage_of(rank, generation, len(plans)))
            if plan.storage_data is None
            else plan
            for rank, plan in enumerate(plans)
        ]
        _check_names_apart([plan.storage_data.prefix for plan in named])
        self._prefixes = {_GENERATION.sub("", plan.storage_data.prefix) for plan in named}
        if self.single_file_per_rank:
            self._empty = [
                f"{plan.storage_data.prefix}{number}{SHARD_SUFFIX}" for plan in named for number in range(self.thread_count)
            ]
        return named

    @property
    def _saves_alone(self) -> bool:
        return not self.use_collectives and self.rank is not None

    def _new_generation(self) -> str:
        """Returns the generation of this save's object names; empty for plain names.

        A rank that saves without collectives never uses plain names: a checkpoint of all ranks at the same path may use them.
        """
        locked = self._lock is None or self._lock.own is not None
        return "" if locked and not self._replaced and not self._saves_alone else _generation()

    def _storage_of(self, rank: int, generation: str, ranks: int) -> StorageMetadata:
        return StorageMetadata(self.prefix_strategy(rank) + generation, ranks, self._replaced and self._replaced.etag)

    def _metadata_uri(self) -> str:
        name = f"__{self.rank}{METADATA_NAME}" if self._saves_alone else METADATA_NAME
        return self.fs.concat_path(self.path, name)

    # ---- writing

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        storage = plan.storage_data
        prefix = storage.prefix
        if getattr(storage, "used", False):  # the planner kept the plan of an earlier save, whose names may be in use
            prefix = _GENERATION.sub("", prefix) + _generation()
        elif isinstance(storage, StorageMetadata):
            storage.used = True
        lists = split(plan.items, self.thread_count) if self.single_file_per_rank else [[item] for item in plan.items]
        shards = [Shard(f"{prefix}{number}{SHARD_SUFFIX}", items) for number, items in enumerate(lists)]
        SAVE_JITTER.wait(getattr(storage, "ranks", 1))
        try:
            return self._write_shards(shards, planner)
        except BaseException as error:
            names = {shard.name for shard in shards}
            if isinstance(error, S3Exception) and error.code == "NoSuchUpload" and self._is_overtaken(storage):
                overtaken = _commit.conflict_error(self.fs._client, error, self._metadata_uri())
                _commit.remove_unpublished(self.fs._client, str(self.path), self._metadata_uri(), names)
                error = overtaken
            # Keep the lock while another rank may still write objects with plain names.
            if _is_certain(error) and (getattr(storage, "ranks", 1) == 1 or self._replaced):
                self._unlock()
            raise error

    def _is_overtaken(self, storage: Any) -> bool:
        """Whether another save has published a checkpoint since this save began. It then has aborted the uploads of this save."""
        try:
            now = _commit.current_version(self.fs._client, self._metadata_uri())
        except S3Exception:
            return False
        return now is not None and now.etag != getattr(storage, "replaced", None)

    def _write_shards(self, shards: list[Shard], planner: SavePlanner) -> Future[list[WriteResult]]:
        if getattr(getattr(self, "serialization_format", None), "name", "TORCH_SAVE") == "SAFETENSORS":
            writer: Any = SafetensorsWriter(planner, self.per_thread_copy_ahead, self.thread_count)
        else:
            extensions = getattr(getattr(self, "transforms", None), "extensions", ())
            writer = ShardWriter(planner, extensions, self.per_thread_copy_ahead, self.thread_count)
        results = upload_all(shards, self.thread_count, self._upload, writer.write)
        done: Future[list[WriteResult]] = Future()
        done.set_result(results)
        return done

    def _upload(self, shard: Shard) -> AbstractContextManager[UploadSink]:
        return self.fs.create_upload(self.fs.concat_path(self.path, shard.name), shard.about_bytes())

    # ---- finishing

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Publishes the checkpoint, then deletes the objects that it replaced and aborts uploads that killed saves left open.

        Args:
            metadata: Metadata of the global plan; this method adds the storage data.
            results: Write results of each rank.

        Raises:
            S3PreconditionFailedError: Another save has published at this path first.
        """
        metadata.storage_data = {each.index: each.storage_data for of_rank in results for each in of_rank}
        if hasattr(self, "storage_meta"):  # torch 2.4 and later
            metadata.storage_meta = self.storage_meta()
        if hasattr(metadata, "version"):
            metadata.version = "1.0.0"
        used = {info.relative_path for info in metadata.storage_data.values()}
        empty = [name for name in self._empty if name not in used]
        left = self._left_open()
        client, root, path = self.fs._client, str(self.path), self._metadata_uri()
        try:
            _commit.replace(client, root, path, metadata, empty, self._replaced)
        except BaseException as error:
            if isinstance(error, S3PreconditionFailedError):
                _commit.remove_unpublished(client, root, path, _commit.object_names(metadata))
            if _is_certain(error):
                self._unlock()
            raise
        _save_lock.abort(client, left)
        if self._lock:
            _save_lock.release(client, self._lock)

    def _left_open(self) -> list[_save_lock.OpenUpload]:
        """Returns the open uploads of other saves, if the lock of another save was found.

        Call it before publishing: a save that has opened an upload by then cannot commit after this save. Uploads that are opened
        later may belong to a later save. The uploads of this save are complete.
        """
        if not (self._lock and self._lock.found):
            return []
        names = _save_lock.names_like(self._prefixes, SHARD_SUFFIX, of_any_rank=not self._saves_alone)
        return _save_lock.open_uploads(self.fs._client, str(self.path), names)


def _is_certain(error: BaseException) -> bool:
    """Whether the failed request had no effect and will have none. S3 may still execute a request that got no response."""
    return isinstance(error, Exception) and (not isinstance(error, S3Exception) or 400 <= error.status < 500)


def _generation() -> str:
    """Returns a random part for object names that distinguishes this save from all others at the same path."""
    return f"g{secrets.token_hex(4)}_"


def _check_names_apart(prefixes: list[str]) -> None:
    ranks: dict[str, int] = {}
    for rank, prefix in enumerate(prefixes):
        other = ranks.setdefault(prefix, rank)
        if other != rank:
            raise ValueError(
                f"the prefix strategy returns the same prefix {prefix!r} for rank {other} and rank {rank}, so that one would"
                " overwrite the other's objects; include the rank in the prefix"
            )


__all__ = ["S3StorageWriter", "StorageMetadata"]
