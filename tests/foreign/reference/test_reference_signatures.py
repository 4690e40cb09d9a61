"""Programs for the reference connector work with ours: the names, order, kinds and defaults of parameters are equal.

Ours may have more parameters after those. The comparison uses the installed wheel.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable

import penstock
import pytest
import s3torchconnector
import s3torchconnector.s3reader as their_readers
from penstock import s3reader as our_readers
from penstock._client import S3Client
from penstock._config import DEFAULT_PART_SIZE
from penstock._listing import get_objects_from_prefix, get_objects_from_uris, identity, parse_s3_uri
from penstock._user_agent import UserAgent
from penstock.dcp import S3FileSystem as OurFileSystem
from penstock.dcp import S3StorageReader as OurStorageReader
from s3torchconnector import _s3dataset_common as their_common
from s3torchconnector._s3client import S3Client as TheirClient
from s3torchconnector._user_agent import UserAgent as TheirUserAgent
from s3torchconnector.dcp import S3FileSystem as TheirFileSystem
from s3torchconnector.dcp import S3StorageReader as TheirStorageReader
from s3torchconnector.s3reader import constructor as their_constructor
from s3torchconnector.s3reader import dcp_optimized as their_dcp
from s3torchconnector.s3reader import ranged as their_ranged

METHODS = {
    "S3MapDataset": ("__init__", "from_objects", "from_prefix", "__getitem__", "__len__", "_get_client", "_get_object"),
    "S3IterableDataset": ("__init__", "from_objects", "from_prefix", "__iter__", "_get_client"),
    "S3Checkpoint": ("__init__", "reader", "writer"),
    "S3Writer": ("__init__", "write", "close", "flush", "readable", "writable", "tell"),
    "S3Reader": ("read", "seek", "tell", "readinto", "seekable", "readable", "writable"),
}
CLIENT_METHODS = (
    "__init__", "get_object", "_get_object_stream", "put_object", "list_objects", "head_object", "delete_object", "copy_object",
    "_client_builder",
)  # fmt: skip


def pairs() -> list[tuple[str, Callable, Callable]]:
    found = [
        (f"{name}.{method}", getattr(getattr(penstock, name), method), getattr(getattr(s3torchconnector, name), method))
        for name, methods in METHODS.items()
        for method in methods
    ]
    found += [(f"S3Client.{name}", getattr(S3Client, name), getattr(TheirClient, name)) for name in CLIENT_METHODS]
    for name in ("SequentialS3Reader", "RangedS3Reader"):
        found += [
            (f"{name}.{method}", getattr(getattr(our_readers, name), method), getattr(getattr(their_readers, name), method))
            for method in ("__init__", "read", "seek", "tell", "readinto")
        ]
    found += [
        (f"S3FileSystem.{name}", getattr(OurFileSystem, name), getattr(TheirFileSystem, name))
        for name in ("__init__", "create_stream", "concat_path", "init_path", "rename", "mkdir", "exists", "rm_file")
    ]
    found += [
        ("SequentialS3Reader.prefetch", our_readers.SequentialS3Reader.prefetch, their_readers.SequentialS3Reader.prefetch),
        ("UserAgent", UserAgent.__init__, TheirUserAgent.__init__),
        ("parse_s3_uri", parse_s3_uri, their_common.parse_s3_uri),
        ("get_objects_from_uris", get_objects_from_uris, their_common.get_objects_from_uris),
        ("get_objects_from_prefix", get_objects_from_prefix, their_common.get_objects_from_prefix),
        ("identity", identity, their_common.identity),
    ]
    for name in ("__init__", "read", "seek", "tell", "readinto", "close"):
        found.append(
            (
                f"DCPOptimizedS3Reader.{name}",
                getattr(our_readers.DCPOptimizedS3Reader, name),
                getattr(their_readers.DCPOptimizedS3Reader, name),
            )
        )
    for name in ("__init__", "__call__", "set_item_ranges_by_file"):
        ours, theirs = (getattr(each.DCPOptimizedConstructor, name) for each in (our_readers.constructor, their_constructor))
        found.append((f"DCPOptimizedConstructor.{name}", ours, theirs))
    for name in ("__init__", "read_metadata", "prepare_local_plan", "validate_checkpoint_id"):
        found.append((f"S3StorageReader.{name}", getattr(OurStorageReader, name), getattr(TheirStorageReader, name)))
    for name in ("sequential", "range_based", "default", "dcp_optimized", "get_reader_type_string"):
        ours, theirs = getattr(penstock.S3ReaderConstructor, name), getattr(s3torchconnector.S3ReaderConstructor, name)
        found.append((f"S3ReaderConstructor.{name}", ours, theirs))
    return found


def default(parameter: inspect.Parameter) -> object:
    value = parameter.default
    return value.__name__ if callable(value) and value is not inspect.Parameter.empty else value


@pytest.mark.parametrize(("ours", "theirs"), [pytest.param(ours, theirs, id=name) for name, ours, theirs in pairs()])
def test_parameters_equal_those_of_the_reference(ours, theirs):
    mine, wanted = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
    positional = [name for name, each in wanted.items() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    # The name of an only parameter (`self`, a transform's `obj`) may differ.
    order = list(mine)
    for place, name in enumerate(positional):
        if len(wanted) > 1:
            assert order[place] == name
        assert mine[order[place]].kind is wanted[name].kind
        assert default(mine[order[place]]) == default(wanted[name])
    for name in wanted.keys() - set(positional):
        assert mine[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert default(mine[name]) == default(wanted[name])
    for name in set(order[len(positional) :]) - wanted.keys():
        assert mine[name].default is not inspect.Parameter.empty


def test_the_configuration_has_the_references_fields_in_order():
    theirs = [(each.name, each.default) for each in dataclasses.fields(s3torchconnector.S3ClientConfig)]
    ours = [(each.name, each.default) for each in dataclasses.fields(penstock.S3ClientConfig)]
    unset = {"throughput_target_gbps", "part_size", "max_attempts"}  # None here, a number there
    assert ours[: len(theirs)] == [(name, None if name in unset else default) for name, default in theirs]
    # The newest of its fields is in no release yet.
    assert ours[6] == ("requester_pays", False)


def test_penstock_has_the_public_names_of_the_reference():
    assert set(s3torchconnector.__all__) <= set(penstock.__all__)
    assert set(their_readers.__all__) <= set(our_readers.__all__)


def test_the_constants_equal_those_of_the_reference():
    assert our_readers.ranged.DEFAULT_BUFFER_SIZE == their_ranged.DEFAULT_BUFFER_SIZE == DEFAULT_PART_SIZE == 8 * 1024**2
    assert our_readers.dcp_optimized.DEFAULT_MAX_GAP_SIZE == their_dcp.DEFAULT_MAX_GAP_SIZE
    assert our_readers.dcp_optimized.FIND_ITEM_ERROR_PREFIX == their_dcp.FIND_ITEM_ERROR_PREFIX
