"""torch's Hugging Face layout of a checkpoint on S3: safetensors files, and an index where each tensor is in one of them.

torch's own classes write and read local files only: what they plan is theirs, what goes to S3 and comes from it is here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torch.distributed.checkpoint._hf_utils import _gen_file_name
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.futures import Future

from ._file_system import S3FileSystem, bucket_and_key
from ._lost_ranks import LOAD_OUTCOME, tell_alike
from ._safetensors import INDEX_NAME, Files, read
from ._shard import SafetensorsWriter, Shard
from ._uploads import upload_all

if TYPE_CHECKING:
    import os

    from torch.distributed.checkpoint.metadata import Metadata
    from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
    from torch.distributed.checkpoint.storage import WriteResult

    from .._config import S3ClientConfig


class S3HuggingFaceStorageWriter(HuggingFaceStorageWriter):
    """Saves tensors as safetensors files on S3, named and indexed as torch's ``HuggingFaceStorageWriter`` does.

    Each object appears whole; the checkpoint does not: file names are the layout's, so that a save over another one replaces it
    file by file. Save to a path of its own.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix`` of the checkpoint.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        fqn_to_index_mapping: File number, from 1 on, of each tensor; None: one file.
        thread_count: Files of a rank that are written at a time.
        save_distributed: Every rank writes its shards, ``shard-RANK-model-...``, without an index; False: one rank has it all.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.

    Raises:
        ValueError: `path` is no ``s3://`` URI.
        CheckpointException: of ``dcp.save``; the state holds something that is no tensor, or of a type safetensors does not have.
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
        """Whether `checkpoint_id` can name a checkpoint; as :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)

    @property
    def metadata_path(self) -> str:
        return self.fs.concat_path(self.path, INDEX_NAME)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        super().set_up_storage_writer(is_coordinator, *args, **kwargs)
        tell_alike("dcp.save", "write", str(self.path), "Each file there is one from before or a new one, whole.")

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Gives `plan` back as it is: there are no folders to make, and nothing is asked for."""
        return plan

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        told = plan.storage_data or {}
        mapping = told.get("fqn_to_index_mapping")
        count = max(mapping.values()) if mapping else 1
        files = self._split_by_storage_plan(mapping, plan.items) if plan.items else {}
        shards = [Shard(_gen_file_name(number, count, told.get("shard_index")), items) for number, items in files.items()]
        writer = SafetensorsWriter(planner, self.per_thread_copy_ahead, self.thread_count)
        done: Future[list[WriteResult]] = Future()
        done.set_result(upload_all(shards, self.thread_count, self._upload, writer.write))
        return done

    def _upload(self, shard: Shard) -> Any:
        return self.fs.create_upload(self.fs.concat_path(self.path, shard.name), shard.about_bytes())

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Writes the index, where each tensor is whole in one file, from the `results` of all ranks; `metadata` is not kept."""
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
    """Loads safetensors files from S3: those that the index at the path names, or without one all that are there.

    Of each tensor only the rows that are needed are fetched, all of a file's together and several files at a time, into the
    tensors' own memory where type and layout allow. A file that is replaced between its header and its tensors is an error.
    A file of which all tensors are loaded whole is compared with the CRC64NVME that S3 stores of it, at the cost of one HEAD.

    Args:
        region: AWS region of the bucket.
        path: ``s3://bucket/prefix`` of the checkpoint.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        thread_count: Files whose headers are read at a time.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.

    Raises:
        ValueError: `path` is no ``s3://`` URI.
        CheckpointException: of ``dcp.load``; S3 failed, or a file is no safetensors file.
    """

    def __init__(
        self,
        region: str,
        path: str,
        s3client_config: S3ClientConfig | None = None,
        thread_count: int = 8,
        *,
        endpoint: str | None = None,
    ) -> None:
        bucket_and_key(path)
        super().__init__(path, thread_count=thread_count)
        self.fs: S3FileSystem = S3FileSystem(region, s3client_config=s3client_config, endpoint=endpoint)  # type: ignore[assignment]
        self.path = self.fs.init_path(path)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` can name a checkpoint; as :meth:`S3FileSystem.validate_checkpoint_id`."""
        return S3FileSystem.validate_checkpoint_id(checkpoint_id)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the headers of the files say: one request for the index, one or two for each file."""
        metadata = Files(self.fs._client, *bucket_and_key(self.path)).metadata(self.thread_count)
        if metadata.storage_meta is not None:
            metadata.storage_meta.load_id = self.load_id
        return metadata

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        super().set_up_storage_reader(metadata, is_coordinator, *args, **kwargs)
        tell_alike("dcp.load", "read", str(self.path), LOAD_OUTCOME)

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        read(self.fs._client, bucket_and_key(self.path)[0], plan.items, self.storage_data, planner)
        done: Future[None] = Future()
        done.set_result(None)
        return done


__all__ = ["S3HuggingFaceStorageReader", "S3HuggingFaceStorageWriter"]
