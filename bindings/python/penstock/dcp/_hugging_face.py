"""torch's Hugging Face checkpoint layout on S3: safetensors files, and an index if each tensor is in one file.

torch's own classes plan the files but access local files only. The classes of this module transfer them to and from S3.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torch.distributed.checkpoint._hf_utils import _gen_file_name
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.futures import Future

from ._file_system import S3FileSystem, bucket_and_key
from ._lost_ranks import LOAD_OUTCOME, unify_lost_rank_errors
from ._safetensors import INDEX_NAME, Files, load_tensors
from ._shard import SafetensorsWriter, Shard
from ._uploads import upload_all

if TYPE_CHECKING:
    import os

    from torch.distributed.checkpoint.metadata import Metadata
    from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
    from torch.distributed.checkpoint.storage import WriteResult

    from .._config import S3ClientConfig


class S3HuggingFaceStorageWriter(HuggingFaceStorageWriter):
    """Saves tensors as safetensors files on S3, named and indexed as by torch's ``HuggingFaceStorageWriter``.

    The header of a file contains checksums of its tensors, which other readers ignore.

    Each file is published atomically, but the checkpoint is not: the layout defines the file names, so a save over an existing
    checkpoint replaces it file by file. Use a new path for each save.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix`` of the checkpoint.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        fqn_to_index_mapping: File number, 1-based, of each tensor; None: one file.
        thread_count: Number of files that a rank writes in parallel.
        save_distributed: True: every rank writes its shards as ``shard-RANK-model-...``, without an index. False: one rank
            writes all tensors.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.

    Raises:
        ValueError: `path` is not an ``s3://`` URI.
        CheckpointException: From ``dcp.save``: the state contains an object that is not a tensor, or a dtype that safetensors
            does not support.
    """

    def __init__(
        self,
        region: str,
        path: str,
        s3client_config: S3ClientConfig | None = None,
        fqn_to_index_mapping: dict[str, int] | None = None,
        thread_count: int = 1,
        save_distributed: bool = False,
        *,
        endpoint: str | None = None,
    ) -> None:
        bucket_and_key(path)
        super().__init__(
            path, fqn_to_index_mapping=fqn_to_index_mapping, thread_count=thread_count, save_distributed=save_distributed
        )
        self.fs: S3FileSystem = S3FileSystem(region, s3client_config=s3client_config, endpoint=endpoint)  # type: ignore[assignment]
        self.path = self.fs.init_path(path)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` is valid; see :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)

    @property
    def metadata_path(self) -> str:
        return self.fs.concat_path(self.path, INDEX_NAME)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        super().set_up_storage_writer(is_coordinator, *args, **kwargs)
        unify_lost_rank_errors("dcp.save", "write", str(self.path), "Each file there is either the old or the new one, complete.")

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Returns `plan` unchanged and sends no request: S3 has no folders to create."""
        return plan

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        storage_data = plan.storage_data or {}
        mapping = storage_data.get("fqn_to_index_mapping")
        count = max(mapping.values()) if mapping else 1
        files = self._split_by_storage_plan(mapping, plan.items) if plan.items else {}
        shard_index = storage_data.get("shard_index")
        shards = [Shard(_gen_file_name(number, count, shard_index), items) for number, items in files.items()]
        writer = SafetensorsWriter(planner, self.per_thread_copy_ahead, self.thread_count)
        done: Future[list[WriteResult]] = Future()
        done.set_result(upload_all(shards, self.thread_count, self._upload, writer.write))
        return done

    def _upload(self, shard: Shard) -> Any:
        return self.fs.create_upload(self.fs.concat_path(self.path, shard.name), shard.about_bytes())

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Writes the index from the `results` of all ranks, unless `save_distributed` is set. Does not store `metadata`."""
        if self.save_distributed:
            return
        written = [result for of_rank in results for result in of_rank]
        index = {
            "metadata": {"total_size": sum(result.size_in_bytes for result in written)},
            "weight_map": {result.index.fqn: result.storage_data.relative_path for result in written},
        }
        with self.fs.create_stream(self.metadata_path, "wb") as file:
            file.write(json.dumps(index, indent=2).encode())


class S3HuggingFaceStorageReader(HuggingFaceStorageReader):
    """Loads safetensors files from S3: the files that the index lists, or all files below the path if there is no index.

    Fetches only the rows that are needed, several files in parallel, directly into the memory of the tensors if dtype and layout
    allow. Raises an error if a file is replaced after its header was read. Compares headers and tensors with the checksums that
    :class:`S3HuggingFaceStorageWriter` stores, and reads damaged ones once more. If all tensors of a file without them are loaded
    completely, compares its bytes with the CRC64NVME that S3 stores, which costs one HeadObject request.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix`` of the checkpoint.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        thread_count: Number of file headers that are read in parallel.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        verify_all: Compare all bytes with checksums also if only a part of a tensor is loaded: reads more of the tensor than the
            wanted rows where necessary. A file that cannot be compared is an error: one without checksums in its header, unless
            one process loads all of its tensors completely and S3 has its CRC64NVME.

    Raises:
        ValueError: `path` is not an ``s3://`` URI.
        CheckpointException: From ``dcp.load``: a request failed, a file is not a safetensors file, or bytes do not have their
            checksum or, with `verify_all`, cannot be compared (``S3DataLossError``).
    """

    def __init__(
        self,
        region: str,
        path: str,
        s3client_config: S3ClientConfig | None = None,
        thread_count: int = 8,
        *,
        endpoint: str | None = None,
        verify_all: bool = False,
    ) -> None:
        bucket_and_key(path)
        self._verify_all = verify_all
        super().__init__(path, thread_count=thread_count)
        self.fs: S3FileSystem = S3FileSystem(region, s3client_config=s3client_config, endpoint=endpoint)  # type: ignore[assignment]
        self.path = self.fs.init_path(path)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` is valid; see :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Returns the metadata from the headers of the files: one request for the index, one or two for each file."""
        metadata = Files(self.fs._client, *bucket_and_key(self.path)).metadata(self.thread_count)
        if metadata.storage_meta is not None:
            metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        super().set_up_storage_reader(metadata, is_coordinator, *args, **kwargs)
        unify_lost_rank_errors("dcp.load", "read", str(self.path), LOAD_OUTCOME)

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        bucket, _ = bucket_and_key(self.path)
        load_tensors(self.fs._client, bucket, plan.items, self.storage_data, planner, verify_all=self._verify_all)
        done: Future[None] = Future()
        done.set_result(None)
        return done


__all__ = ["S3HuggingFaceStorageReader", "S3HuggingFaceStorageWriter"]
