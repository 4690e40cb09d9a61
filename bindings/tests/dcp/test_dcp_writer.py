"""S3StorageWriter in one process: object names, counts, content, overwriting, errors. Read back by torch's own reader."""

from __future__ import annotations

import inspect
import io
import pickle
import re
import time
import zipfile
from pathlib import Path

import bucket_io
import dcp_io
import penstock
import pytest
import safetensors.torch
import torch
import torch.distributed.checkpoint as dcp
from penstock.dcp import (
    BinaryPrefixStrategy,
    DefaultPrefixStrategy,
    HexPrefixStrategy,
    RoundRobinPrefixStrategy,
    S3FileSystem,
    S3PrefixStrategyBase,
    S3StorageReader,
    S3StorageWriter,
    _staging,
)
from penstock.dcp._shard import item_bytes, split
from penstock.testing import Emulator
from torch.distributed.checkpoint._extension import ZStandard
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemWriter, SerializationFormat
from torch.distributed.checkpoint.planner import SavePlan

GENERATION = re.compile(r"__0_g[0-9a-f]{8}_0\.distcp")


class Folder(S3PrefixStrategyBase):
    def generate_prefix(self, rank: int) -> str:
        return f"custom_x/{rank}/"


STRATEGIES = {
    "none": (None, "__0_"),
    "default": (DefaultPrefixStrategy(), "__0_"),
    "binary": (BinaryPrefixStrategy(4, 4, 4), "0000/epoch_4/__0_"),
    "hex": (HexPrefixStrategy(), "0000000000/__0_"),
    "round robin": (RoundRobinPrefixStrategy(["p1", "p2"]), "p1/__0_"),
    "custom": (Folder(), "custom_x/0/"),
}


@pytest.fixture
def own_emulator() -> Emulator:
    """An emulator with a journal and faults that no other test uses."""
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def test_arguments_are_those_of_the_reference_plus_endpoint(emulator):
    names = list(inspect.signature(S3StorageWriter.__init__).parameters)[1:]
    assert names == ["region", "path", "s3client_config", "prefix_strategy", "thread_count", "endpoint", "kwargs"]
    writer = dcp_io.writer_of(emulator, "s3://bucket/x", thread_count=3, prefix_strategy=Folder())
    assert isinstance(writer, FileSystemWriter)
    assert isinstance(writer.fs, S3FileSystem)
    assert (writer.path, writer.thread_count, writer.sync_files) == ("s3://bucket/x", 3, False)
    assert isinstance(writer.prefix_strategy, Folder)
    assert isinstance(S3StorageWriter("us-east-1", "s3://b/k").prefix_strategy, DefaultPrefixStrategy)
    assert writer.checkpoint_id == "s3://bucket/x"


def test_arguments_of_torch_are_forwarded():
    writer = S3StorageWriter(
        "us-east-1",
        "s3://b/k",
        single_file_per_rank=False,
        per_thread_copy_ahead=7,
        cache_staged_state_dict=True,
        overwrite=False,
    )
    assert (writer.single_file_per_rank, writer.per_thread_copy_ahead, writer.overwrite) == (False, 7, False)
    assert writer.cache_staged_state_dict is True


def test_sync_files_raises():
    with pytest.raises(TypeError, match="sync_files"):
        S3StorageWriter("us-east-1", "s3://b/k", sync_files=True)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/tmp/checkpoint", "not '/tmp/checkpoint'; write s3://bucket/key"),
        (Path("s3://b/k"), "a Path merges the slashes of a URI; pass the string 's3://b/k'"),
        ("s3://", "Bucket name must be non-empty"),
    ],
)
def test_path_that_is_not_a_uri_raises_in_the_constructor(path, message):
    for storage in (S3StorageWriter, S3StorageReader):
        with pytest.raises(ValueError, match=re.escape(message)):
            storage("us-east-1", path)


@pytest.mark.parametrize("thread_count", [0, -1, 1025, 10**9])
def test_thread_count_out_of_range_raises_in_the_constructor(emulator, thread_count):
    with pytest.raises(ValueError, match=f"^thread_count must be 1 to 1024, not {thread_count}$"):
        dcp_io.writer_of(emulator, "s3://bucket/x", thread_count=thread_count)


@pytest.mark.parametrize("thread_count", [None, "3", 1.5, True])
def test_thread_count_of_another_type_raises_in_the_constructor(emulator, thread_count):
    with pytest.raises(TypeError, match=f"^thread_count must be int, not {type(thread_count).__name__}$"):
        dcp_io.writer_of(emulator, "s3://bucket/x", thread_count=thread_count)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("thread_count", [1, 4])
def test_objects_at_a_new_path(emulator, client, bucket, name, thread_count):
    strategy, prefix = STRATEGIES[name]
    state = dcp_io.some_state(1)
    dcp_io.save(emulator, f"s3://{bucket}/ck", state, prefix_strategy=strategy, thread_count=thread_count)
    wanted = [".metadata", *(f"{prefix}{number}.distcp" for number in range(thread_count))]
    assert sorted(dcp_io.names(client, bucket, "ck")) == sorted(wanted)
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_more_threads_than_tensors_create_empty_objects(emulator, client, bucket):
    state = {"only": torch.ones(3)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state, thread_count=4)
    sizes = [info.size for page in client.list_objects(bucket, "ck/__") for info in page.object_info]
    assert (len(sizes), sizes.count(0)) == (4, 3)
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


@pytest.mark.parametrize("thread_count", [1, 3])
def test_an_object_per_item(emulator, client, bucket, thread_count):
    state = dcp_io.some_state(2)
    dcp_io.save(emulator, f"s3://{bucket}/ck", state, single_file_per_rank=False, thread_count=thread_count)
    assert sorted(dcp_io.names(client, bucket, "ck")) == sorted([".metadata", *(f"__0_{i}.distcp" for i in range(9))])
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_large_tensors_are_uploaded_in_parts(emulator, client, bucket):
    state = {f"t{i}": torch.arange(6_000_000, dtype=torch.float32) + i for i in range(5)} | {"small": torch.ones(5)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state)
    assert client.head_object(bucket, "ck/__0_0.distcp").size > 5 * 24_000_000
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_uploads_run_while_later_tensors_are_staged(own_emulator, monkeypatch):
    """The planner does not return the last tensor before the emulator has received a part of the first one."""
    parts = []

    def held_back(item, tensor, fresh=False):
        if item.index.fqn == "z":
            until = time.monotonic() + 30
            while not parts and time.monotonic() < until:
                parts.extend(own_emulator.journal().entries(operations="UploadPart"))
                time.sleep(0.01)
        return dense(item, tensor, fresh)

    dense = _staging.dense
    monkeypatch.setattr(_staging, "dense", held_back)
    state = {"a": torch.arange(18_000_000, dtype=torch.float32), "z": torch.ones(5)}  # enough for a multipart upload
    dcp_io.save(own_emulator, "s3://bucket/ck", state)
    assert parts, "no part was sent before the last tensor was available"
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", state), state)


def test_each_item_is_an_archive_at_the_offset_in_the_metadata(emulator, client, bucket):
    state = {"a": torch.randn(50, 50), "b": torch.randn(9)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state)
    data = bucket_io.get(client, bucket, "ck/__0_0.distcp")
    metadata = pickle.loads(bucket_io.get(client, bucket, "ck/.metadata"))
    covered = 0
    for index, info in metadata.storage_data.items():
        item = data[info.offset : info.offset + info.length]
        assert zipfile.ZipFile(io.BytesIO(item)).testzip() is None
        assert torch.equal(torch.load(io.BytesIO(item), weights_only=True), state[index.fqn])
        covered += info.length
    assert covered == len(data)
    assert metadata.version == "1.0.0"
    assert metadata.storage_meta.checkpoint_id == f"s3://{bucket}/ck"


# ---- requests


def test_every_object_is_sent_by_one_request_with_a_checksum(own_emulator):
    dcp_io.save(own_emulator, "s3://bucket/ck", dcp_io.some_state(), thread_count=2)
    journal = own_emulator.journal()
    operations = [entry.operation for entry in journal.entries(key_prefix="ck")]
    of_the_lock = [entry.operation for entry in journal.entries(key_prefix="ck/.metadata.saving")]
    assert operations == ["PutObject", "HeadObject", *["PutObject"] * 3, "HeadObject", "DeleteObject"]
    assert of_the_lock == ["PutObject", "HeadObject", "DeleteObject"]
    puts = journal.entries(operations="PutObject")
    assert (puts[0].key, puts[-1].key) == ("ck/.metadata.saving", "ck/.metadata")
    assert all("x-amz-checksum-crc64nvme" in {name.lower() for name in entry.checksums} for entry in puts)


def test_constructor_sends_no_request(own_emulator):
    before = own_emulator.journal().count()
    dcp_io.writer_of(own_emulator, "s3://bucket/ck")
    assert own_emulator.journal().count() == before


def test_metadata_is_published_by_a_conditional_request(own_emulator):
    first, second = dcp_io.some_state(1), dcp_io.some_state(2)
    writer = dcp_io.writer_of(own_emulator, "s3://bucket/ck")

    class InterferingPlanner(DefaultSavePlanner):
        """A planner that runs another save between the first check and the last step."""

        def finish_plan(self, new_plan: SavePlan) -> SavePlan:
            dcp_io.save(own_emulator, "s3://bucket/ck", second)
            return super().finish_plan(new_plan)

    with pytest.raises(CheckpointException, match=r"another save has written or removed s3://bucket/ck/.metadata"):
        dcp.save(first, storage_writer=writer, planner=InterferingPlanner())
    assert own_emulator.client().list_objects("bucket")
    assert dcp_io.names(own_emulator.client(), "bucket", "ck").count(".metadata") == 1


@pytest.mark.filterwarnings("ignore:Detected an existing checkpoint")
@pytest.mark.parametrize("there", [False, True])
def test_metadata_is_sent_again_while_another_request_for_it_is_in_progress(own_emulator, there):
    if there:
        dcp_io.save(own_emulator, "s3://bucket/ck", dcp_io.some_state(0))
    conflict = {"error": {"code": "ConditionalRequestConflict"}}
    when = {"operation": "PutObject", "key": {"exactly": "ck/.metadata"}}
    own_emulator.faults().set([{"when": when, "do": conflict, "limit": {"times": 2}}])
    state = dcp_io.some_state(1)
    dcp_io.save(own_emulator, "s3://bucket/ck", state)
    own_emulator.faults().clear()
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", state), state)


@pytest.mark.filterwarnings("ignore:Detected an existing checkpoint")
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    "when", [{"operation": "PutObject", "key": "ck/.metadata"}, {"operation": "@write"}], ids=["metadata", "all"]
)
def test_save_whose_requests_are_applied_twice_succeeds(own_emulator, there, when):
    if there:
        dcp_io.save(own_emulator, "s3://bucket/ck", dcp_io.some_state(0))
    state = dcp_io.some_state(1)
    own_emulator.faults().set([{"when": when, "do": {"duplicate_apply": {}}}])
    dcp_io.save(own_emulator, "s3://bucket/ck", state)
    own_emulator.faults().clear()
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", state), state)


@pytest.mark.parametrize("there", [False, True])
def test_losing_save_keeps_the_other_checkpoint(own_emulator, there):
    if there:
        dcp_io.save(own_emulator, "s3://bucket/ck", dcp_io.some_state(0))
    second = dcp_io.some_state(2)

    class InterferingPlanner(DefaultSavePlanner):
        def finish_plan(self, new_plan: SavePlan) -> SavePlan:
            dcp_io.save(own_emulator, "s3://bucket/ck", dcp_io.some_state(1))
            dcp_io.save(own_emulator, "s3://bucket/ck", second)
            return super().finish_plan(new_plan)

    with pytest.raises(CheckpointException, match="another save"):
        dcp_io.save(own_emulator, "s3://bucket/ck", dcp_io.some_state(3), {"planner": InterferingPlanner()})
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", second), second)


def test_service_without_conditional_writes_gets_unconditional_requests(own_emulator, caplog):
    own_emulator.faults().set(
        [
            {
                "id": "unconditional",
                "when": {"operation": "PutObject", "header": {"if-none-match": "*"}},
                "do": {"error": {"code": "NotImplemented", "status": 501}},
            }
        ]
    )
    state = dcp_io.some_state()
    dcp_io.save(own_emulator, "s3://bucket/ck", state)
    own_emulator.faults().check()
    assert "does not support conditional writes" in caplog.text
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", state), state)


# ---- overwriting


def test_save_over_a_checkpoint_replaces_it_completely(emulator, client, bucket):
    uri = f"s3://{bucket}/ck"
    dcp_io.save(emulator, uri, dcp_io.some_state(1), thread_count=2, prefix_strategy=RoundRobinPrefixStrategy(["p"]))
    before = set(dcp_io.names(client, bucket, "ck"))
    for seed in (2, 3):
        state = dcp_io.some_state(seed)
        dcp_io.save(emulator, uri, state)
        names = set(dcp_io.names(client, bucket, "ck"))
        assert len(names) == 2
        assert names & before == {".metadata"}
        assert all(GENERATION.fullmatch(name) for name in names - {".metadata"})
        assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)
        before = names


def test_generation_follows_the_prefix_of_the_strategy(emulator, client, bucket):
    for _ in range(2):
        dcp_io.save(emulator, f"s3://{bucket}/ck", {"a": torch.ones(3)}, prefix_strategy=HexPrefixStrategy(epoch_num=1))
    names = [name for name in dcp_io.names(client, bucket, "ck") if name != ".metadata"]
    assert re.fullmatch(r"0000000000/epoch_1/__0_g[0-9a-f]{8}_0\.distcp", names[0])


def test_empty_objects_of_the_replaced_checkpoint_are_deleted(emulator, client, bucket):
    for thread_count in (5, 1):
        dcp_io.save(emulator, f"s3://{bucket}/ck", {"a": torch.ones(3)}, thread_count=thread_count)
    assert len(dcp_io.names(client, bucket, "ck")) == 2


def test_other_objects_at_the_path_are_kept(emulator, client, bucket):
    for key in ("ck/notes.txt", "ck/__9_0.distcp", "ck2/.metadata"):
        bucket_io.put(client, bucket, key, b"mine")
    for _ in range(2):
        dcp_io.save(emulator, f"s3://{bucket}/ck", {"a": torch.ones(3)})
    assert {"notes.txt", "__9_0.distcp"} < set(dcp_io.names(client, bucket, "ck"))
    assert bucket_io.get(client, bucket, "ck2/.metadata") == b"mine"


def test_failed_deletions_are_logged_and_retried_by_the_next_save(own_emulator, caplog):
    uri, client = "s3://bucket/ck", own_emulator.client()
    dcp_io.save(own_emulator, uri, dcp_io.some_state(1))
    own_emulator.faults().set(
        [{"id": "no", "when": {"operation": "DeleteObjects"}, "do": {"error": {"code": "AccessDenied", "status": 403}}}]
    )
    state = dcp_io.some_state(2)
    dcp_io.save(own_emulator, uri, state)
    own_emulator.faults().check()
    assert "cannot delete 1 replaced objects below s3://bucket/ck" in caplog.text
    assert dcp_io.same(dcp_io.loaded(client, "bucket", "ck", state), state)
    assert len(dcp_io.names(client, "bucket", "ck")) == 3
    own_emulator.faults().clear()
    dcp_io.save(own_emulator, uri, state)
    assert len(dcp_io.names(client, "bucket", "ck")) == 2


def test_invalid_metadata_is_replaced(emulator, client, bucket, caplog):
    bucket_io.put(client, bucket, "ck/.metadata", b"not a pickle")
    state = dcp_io.some_state()
    dcp_io.save(emulator, f"s3://{bucket}/ck", state)
    assert "cannot read" in caplog.text
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_overwriting_warns_like_torch(emulator, bucket):
    dcp_io.save(emulator, f"s3://{bucket}/ck", {"a": torch.ones(1)})
    with pytest.warns(UserWarning, match="Detected an existing checkpoint in s3://.*, overwriting since self.overwrite=True"):
        dcp.save({"a": torch.ones(1)}, storage_writer=dcp_io.writer_of(emulator, f"s3://{bucket}/ck"))


def test_overwrite_false_raises(emulator, client, bucket):
    state = dcp_io.some_state(1)
    dcp_io.save(emulator, f"s3://{bucket}/ck", state, overwrite=False)
    with pytest.raises(CheckpointException, match=re.escape("Checkpoint already exists and self.overwrite=False.")):
        dcp_io.save(emulator, f"s3://{bucket}/ck", dcp_io.some_state(2), overwrite=False)
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_writer_saves_several_checkpoints(emulator, client, bucket):
    writer = dcp_io.writer_of(emulator, f"s3://{bucket}/0")
    for step in range(3):
        state = dcp_io.some_state(step)
        dcp.save(state, storage_writer=writer, checkpoint_id=f"s3://{bucket}/{step}")
        assert sorted(dcp_io.names(client, bucket, str(step))) == [".metadata", "__0_0.distcp"]
        assert dcp_io.same(dcp_io.loaded(client, bucket, str(step), state), state)


def test_planner_that_caches_plans_does_not_overwrite_the_checkpoint(emulator, client, bucket):
    uri = f"s3://{bucket}/ck"

    class CachingPlanner(DefaultSavePlanner):
        """Like enable_plan_caching on a rank that is not the coordinator: returns its first plan again."""

        kept: SavePlan | None = None

        def finish_plan(self, new_plan: SavePlan) -> SavePlan:
            CachingPlanner.kept = CachingPlanner.kept or new_plan
            return super().finish_plan(CachingPlanner.kept)

    seen: set[str] = set()
    for seed in range(3):
        state = dcp_io.some_state(seed)
        dcp_io.save(emulator, uri, state, {"planner": CachingPlanner()})
        names = {name for name in dcp_io.names(client, bucket, "ck") if name != ".metadata"}
        assert not names & seen
        seen |= names
        assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


# ---- formats


@pytest.mark.parametrize("thread_count", [1, 2])
def test_zstandard(emulator, client, bucket, thread_count):
    state = dcp_io.some_state(4) | {"zeros": torch.zeros(1000, 1000)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state, _extensions=[ZStandard()], thread_count=thread_count)
    assert sum(info.size for page in client.list_objects(bucket, "ck/__") for info in page.object_info) < 1_000_000
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_safetensors(emulator, client, bucket):
    state = {"a": torch.randn(30, 40), "b": torch.arange(7).bfloat16(), "t": torch.randn(4, 5).t(), "none": torch.zeros(0)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", state, serialization_format=SerializationFormat.SAFETENSORS)
    data = bucket_io.get(client, bucket, "ck/__0_0.distcp")
    assert dcp_io.same(safetensors.torch.load(data), {key: value.contiguous() for key, value in state.items()})
    metadata = pickle.loads(bucket_io.get(client, bucket, "ck/.metadata"))
    info = next(info for index, info in metadata.storage_data.items() if index.fqn == "a")
    assert data[info.offset : info.offset + info.length] == state["a"].numpy().tobytes()


def test_safetensors_rejects_other_objects(emulator, bucket):
    with pytest.raises(CheckpointException, match="'step' is not a tensor; safetensors supports tensors only"):
        dcp_io.save(
            emulator, f"s3://{bucket}/ck", {"a": torch.ones(2), "step": 3}, serialization_format=SerializationFormat.SAFETENSORS
        )


# ---- internals


def test_items_are_distributed_by_size():
    writer = DefaultSavePlanner()
    writer.set_up_planner({f"t{i}": torch.zeros(1 << i) for i in range(8)} | {"x": 1, "y": 2}, is_coordinator=True)
    items = writer.create_local_plan().items
    lists = split(items, 3)
    assert sorted(item.index.fqn for each in lists for item in each) == sorted(item.index.fqn for item in items)
    assert [sum(map(item_bytes, each)) for each in lists] == [512, 256, 252]
    assert split(items, 1) == [list(items)]
    assert split([], 2) == [[], []]


def test_it_pickles_before_and_after_use(emulator, client, bucket):
    writer = dcp_io.save(emulator, f"s3://{bucket}/ck", dcp_io.some_state(), prefix_strategy=HexPrefixStrategy())
    copy = pickle.loads(pickle.dumps(writer))
    state = dcp_io.some_state(5)
    dcp.save(state, storage_writer=copy, checkpoint_id=f"s3://{bucket}/copy")
    assert dcp_io.same(dcp_io.loaded(client, bucket, "copy", state), state)


def test_replaced_file_system_is_used(emulator, client, bucket):
    writer = S3StorageWriter("us-east-1", f"s3://{bucket}/ck")
    writer.fs = S3FileSystem("us-east-1", s3_client=client)
    state = dcp_io.some_state()
    dcp.save(state, storage_writer=writer)
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


def test_errors_of_s3_are_raised(emulator):
    with pytest.raises(CheckpointException, match=r"The bucket does not exist|The object was not found"):
        dcp_io.save(emulator, "s3://no-such-bucket/ck", dcp_io.some_state())


def test_failing_planner_leaves_no_objects(emulator, client, bucket):
    class FailingPlanner(DefaultSavePlanner):
        def resolve_data(self, write_item):
            if write_item.index.fqn == "model.half":
                raise MemoryError("no more")
            return super().resolve_data(write_item)

    state = dcp_io.some_state() | {"large": torch.zeros(30_000_000)}
    with pytest.raises(CheckpointException, match="no more"):
        dcp_io.save(emulator, f"s3://{bucket}/ck", state, {"planner": FailingPlanner()}, thread_count=3)
    assert ".metadata" not in dcp_io.names(client, bucket, "ck")
    assert client._client.list_multipart_uploads(bucket) == []


def test_tensors_are_not_copied_by_python(emulator, bucket):
    """No bytes of a large tensor are passed to write()."""
    seen: list[int] = []
    writer = dcp_io.writer_of(emulator, f"s3://{bucket}/ck")
    original = penstock.S3Writer.write

    def counting(self: penstock.S3Writer, data: object) -> int:
        seen.append(memoryview(data).nbytes)  # type: ignore[arg-type]
        return original(self, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(penstock.S3Writer, "write", counting)
        dcp.save({"a": torch.zeros(5_000_000), "b": torch.zeros(1000, 1000)[:500]}, storage_writer=writer)
    assert max(seen) < 2000


class OnePrefix(S3PrefixStrategyBase):
    def generate_prefix(self, rank):
        return "all_"


def test_strategy_with_the_same_prefix_for_two_ranks_raises(emulator, bucket):
    writer = dcp_io.writer_of(emulator, f"s3://{bucket}/ck", prefix_strategy=OnePrefix())
    writer.set_up_storage_writer(True)
    with pytest.raises(ValueError, match="returns the same prefix 'all_' for rank 0 and rank 1"):
        writer.prepare_global_plan([SavePlan([]), SavePlan([])])


def test_save_without_collectives_keeps_a_checkpoint_of_all_ranks(emulator, client, bucket):
    saved = {"weight": torch.full((1000,), 1.0)}
    dcp_io.save(emulator, f"s3://{bucket}/ck", saved)
    dcp_io.save(emulator, f"s3://{bucket}/ck", {"weight": torch.full((1000,), 2.0)}, {"use_collectives": False})
    assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", saved), saved)
