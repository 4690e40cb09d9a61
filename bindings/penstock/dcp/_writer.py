"""S3StorageWriter: saves distributed checkpoints, whole or not at all."""

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
from . import _commit, _saving
from ._file_system import S3FileSystem, bucket_and_key
from ._lost_ranks import SAVE_OUTCOME, tell_alike
from ._shard import SafetensorsWriter, Shard, ShardWriter, split
from ._sink import UploadSink
from ._spread import SAVES
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
    """What the coordinator tells a rank: how the names of its objects begin.

    Attributes:
        prefix: Of the names, relative to the checkpoint's path.
        ranks: How many save.
        replaced: ETag of the `.metadata` that this save replaces; None: there was none.
        used: A plan that a planner has kept from an earlier save carries this; what it says is then of that save.
    """

    prefix: str
    ranks: int = dataclasses.field(default=1, compare=False, repr=False)
    replaced: str | None = dataclasses.field(default=None, compare=False, repr=False)
    used: bool = dataclasses.field(default=False, compare=False, repr=False)


class S3StorageWriter(FileSystemWriter):
    """Writes a distributed checkpoint to S3: ``torch.distributed.checkpoint.save(state, storage_writer=...)``.

    Uploads run from the tensors' memory. The checkpoint appears with its `.metadata`, last and at once; a save that fails or is
    killed leaves what was there before. A save over a checkpoint, or beside another save, gives its objects new names, and those
    that are replaced are removed once the new `.metadata` is there. While a save runs, `.metadata.saving` says so.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix`` of the checkpoint.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        prefix_strategy: Names of each rank's objects; None: :class:`DefaultPrefixStrategy`.
        thread_count: Objects of a rank that are written at a time; with single_file_per_rank (the default) also how many it has.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.
        kwargs: Of torch's ``FileSystemWriter``: single_file_per_rank, per_thread_copy_ahead (bytes), cache_staged_state_dict,
            overwrite, _extensions, serialization_format.

    Raises:
        ValueError: `path` is no ``s3://`` URI, `thread_count` less than 1 or more than 1024.
        TypeError: `thread_count` is no int.
        TypeError: sync_files, which means nothing on S3, or another argument that torch does not know.

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
            raise ValueError(f"thread_count is {thread_count}; it takes 1 to {MAX_THREADS}")
        apart = {} if _TORCH_KNOWS_OVERWRITE else {"overwrite": kwargs.pop("overwrite", True)}
        super().__init__(path=path, sync_files=False, thread_count=thread_count, **kwargs)
        vars(self).update(apart)
        self.fs: S3FileSystem = S3FileSystem(region, s3client_config=s3client_config, endpoint=endpoint)  # type: ignore[assignment]
        self.path = self.fs.init_path(path)
        self.prefix_strategy = prefix_strategy or DefaultPrefixStrategy()
        self._is_coordinator = True
        self._replaced: _commit.Present | None = None
        self._claim: _saving.Claim | None = None
        self._prefixes: set[str] = set()
        self._empty: list[str] = []

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` can name a checkpoint; as :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)

    # ---- planning

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        bucket_and_key(self.path)
        self.rank = kwargs.get("rank")
        self.use_collectives = kwargs.get("use_collectives", True)
        self._is_coordinator = is_coordinator or not self.use_collectives
        self._replaced = None
        self._claim = None
        self._prefixes = set()
        self._empty = []
        tell_alike("dcp.save", "write", str(self.path), SAVE_OUTCOME)

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Claims the path and looks for a checkpoint there: the coordinator alone, who tells the others through their plans.

        Returns:
            `plan`; of a rank that saves alone with the names of its objects.

        Raises:
            RuntimeError: there is one and ``overwrite`` is False.
            S3Exception: S3 did not say.
        """
        if self._is_coordinator:
            self._claim_path()
        if self._saves_alone:
            return dataclasses.replace(plan, storage_data=self._storage_of(self.rank or 0, self._new_generation(), 1))
        return plan

    def _claim_path(self) -> None:
        """The look comes after the claim: between a look and a claim another save could come and go."""
        if not self.overwrite:  # what will not be saved claims nothing
            self._look()
        self._claim = _saving.claim(self.fs._client, self._metadata_uri())
        try:
            self._look()
        except BaseException:
            self._withdraw()
            raise
        if self._replaced:
            warnings.warn(f"Detected an existing checkpoint in {self.path}, overwriting since {self.overwrite=}.", stacklevel=3)

    def _look(self) -> None:
        self._replaced = _commit.present(self.fs._client, self._metadata_uri())
        if self._replaced and not self.overwrite:
            raise RuntimeError(f"Checkpoint already exists and {self.overwrite=}.")

    def _withdraw(self) -> None:
        """After a failure: our own claim goes; another's is his, whose objects may have plain names."""
        if self._claim:
            _saving.release(self.fs._client, self._claim._replace(found=None))

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Gives every one of `plans` its names, by its place; one that has them keeps them.

        Raises:
            ValueError: the prefix strategy gives two ranks the same names.
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
        """Of the names of this save; a rank that saves alone has a checkpoint of all ranks at the same path to spare as well."""
        claimed = self._claim is None or self._claim.own is not None
        return "" if claimed and not self._replaced and not self._saves_alone else _generation()

    def _storage_of(self, rank: int, generation: str, ranks: int) -> StorageMetadata:
        return StorageMetadata(self.prefix_strategy(rank) + generation, ranks, self._replaced and self._replaced.etag)

    def _metadata_uri(self) -> str:
        name = f"__{self.rank}{METADATA_NAME}" if self._saves_alone else METADATA_NAME
        return self.fs.concat_path(self.path, name)

    # ---- writing

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        storage = plan.storage_data
        prefix = storage.prefix
        if getattr(storage, "used", False):  # the planner's, kept from an earlier save: its names may be in use
            prefix = _GENERATION.sub("", prefix) + _generation()
        elif isinstance(storage, StorageMetadata):
            storage.used = True
        lists = split(plan.items, self.thread_count) if self.single_file_per_rank else [[item] for item in plan.items]
        shards = [Shard(f"{prefix}{number}{SHARD_SUFFIX}", items) for number, items in enumerate(lists)]
        SAVES.wait(getattr(storage, "ranks", 1))
        try:
            return self._write_shards(shards, planner)
        except BaseException as error:
            names = {shard.name for shard in shards}
            if isinstance(error, S3Exception) and error.code == "NoSuchUpload" and self._is_overtaken(storage):
                overtaken = _commit.overtaken(self.fs._client, error, self._metadata_uri())
                _commit.remove_lost(self.fs._client, str(self.path), self._metadata_uri(), names)
                error = overtaken
            # Another rank may still write under plain names: these stay claimed.
            if _is_certain(error) and (getattr(storage, "ranks", 1) == 1 or self._replaced):
                self._withdraw()
            raise error

    def _is_overtaken(self, storage: Any) -> bool:
        """Whether the checkpoint here is another one than when this save began: whoever published it gives our uploads up."""
        try:
            now = _commit.present(self.fs._client, self._metadata_uri())
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
        """Publishes the checkpoint, then removes the objects it replaced, and what killed saves have left open.

        Args:
            metadata: Of the global plan; is completed by what was written.
            results: Of each rank, what it wrote.

        Raises:
            S3PreconditionFailedError: another save at this path was faster.
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
                _commit.remove_lost(client, root, path, _commit.object_names(metadata))
            if _is_certain(error):
                self._withdraw()
            raise
        _saving.abort(client, left)
        if self._claim:
            _saving.release(client, self._claim)

    def _left_open(self) -> list[_saving.OpenUpload]:
        """Uploads of other saves, where one was found. Ours are complete, and no save that has begun one can commit after ours.

        That holds of those that are open before ours is published: a later save may have opened those that come after.
        """
        if not (self._claim and self._claim.found):
            return []
        names = _saving.names_like(self._prefixes, SHARD_SUFFIX, of_any_rank=not self._saves_alone)
        return _saving.open_uploads(self.fs._client, str(self.path), names)


def _is_certain(error: BaseException) -> bool:
    """Whether nothing that failed by it can still come true: a request without an answer may be carried out later."""
    return isinstance(error, Exception) and (not isinstance(error, S3Exception) or 400 <= error.status < 500)


def _generation() -> str:
    """Sets the names of one save apart from those of every other at the same path."""
    return f"g{secrets.token_hex(4)}_"


def _check_names_apart(prefixes: list[str]) -> None:
    ranks: dict[str, int] = {}
    for rank, prefix in enumerate(prefixes):
        other = ranks.setdefault(prefix, rank)
        if other != rank:
            raise ValueError(
                f"the prefix strategy gives rank {other} and rank {rank} the same prefix {prefix!r}, so that one would write over"
                " the other's objects; put the rank into it"
            )


__all__ = ["S3StorageWriter", "StorageMetadata"]
