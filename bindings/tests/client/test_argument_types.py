"""An argument of a wrong type is a TypeError with only the parameter and both types, never the value."""

from __future__ import annotations

import re

import penstock
import pytest
from bucket_io import get, put
from penstock import S3BucketKeyData, S3MapDataset
from reader_kinds import KINDS, every_kind


class Secretive:
    def __repr__(self):
        return "SECRET"


VERBS = {
    "put_object": ("bucket", "key"),
    "head_object": ("bucket", "key"),
    "delete_object": ("bucket", "key"),
    "copy_object": ("src_bucket", "src_key", "dst_bucket", "dst_key"),
    "create_bucket": ("bucket",),
    "delete_bucket": ("bucket",),
    "head_bucket": ("bucket",),
    "get": ("bucket", "key"),
    "list_parts": ("bucket", "key", "upload_id"),
    "presign_post": ("bucket", "key"),
    "list_objects": ("bucket", "prefix", "delimiter"),
}
TEXTS = [(verb, names, name) for verb, names in VERBS.items() for name in names]


@pytest.mark.parametrize(("verb", "names", "wrong"), TEXTS, ids=[f"{verb}-{name}" for verb, _, name in TEXTS])
@pytest.mark.parametrize("value", [5, None, b"bytes", Secretive()], ids=["int", "None", "bytes", "object"])
def test_a_wrong_type_of_a_text_argument_is_named(client, verb, names, wrong, value):
    arguments = dict.fromkeys(names, "some-text") | {wrong: value}
    with pytest.raises(TypeError) as error:
        getattr(client, verb)(**arguments)
    assert str(error.value) == f"{wrong} must be str, not {type(value).__name__}"


CORE = {
    "delete_objects": {"bucket": "b", "keys": ["k"]},
    "list_multipart_uploads": {"bucket": "b", "prefix": ""},
    "abort_multipart_upload": {"bucket": "b", "key": "k", "upload_id": "u"},
    "read": {"bucket": "b", "key": "k", "start": 0, "end": 1, "size": 1, "etag": "e", "part_size": 1, "parallel": 1},
    "read_into": {"bucket": "b", "key": "k", "buffer": b"", "start": 0, "size": 1, "etag": "e", "part_size": 1, "parallel": 1},
}
ARGUMENTS = [(verb, name) for verb, arguments in CORE.items() for name in arguments if name != "buffer"]


@pytest.mark.parametrize(("verb", "wrong"), ARGUMENTS)
def test_a_wrong_type_of_a_core_argument_is_named(client, verb, wrong):
    with pytest.raises(TypeError) as error:
        getattr(client._client, verb)(**CORE[verb] | {wrong: Secretive()})
    assert re.fullmatch(rf"{re.escape(wrong)} must be .+, not Secretive", str(error.value))


def test_a_wrong_number_is_named(client):
    with pytest.raises(TypeError, match=r"^max_keys must be int, not str$"):
        client.list_objects("b", max_keys="10")
    for listing in (client.list_objects, client.list_object_versions):
        with pytest.raises(penstock.S3InvalidArgumentError, match=rf"^max_keys must be 0 to {2**31 - 1}, not {2**80}$"):
            listing("b", max_keys=2**80)


@pytest.mark.parametrize("value", ["VALUE_X", [1], Secretive()])
def test_a_wrong_type_of_a_flag_is_named(client, value):
    """pybind11's own error printed all values."""
    with pytest.raises(TypeError) as error:
        client.put_object("b", "k", if_none_match=value)
    assert str(error.value) == f"if_none_match must be bool, not {type(value).__name__}"


@pytest.mark.parametrize("value", [3, [], {}, 0, False])
def test_a_wrong_type_of_an_optional_text_is_named(client, value):
    for name in ("storage_class", "content_type"):
        with pytest.raises(TypeError, match=rf"^{name} must be str or None, not {type(value).__name__}$"):
            client.put_object("b", "k", **{name: value})


@pytest.mark.parametrize("value", [5, 0, "", []])
def test_a_wrong_type_of_a_callable_is_named(client, value):
    said = f"must be a callable or None, not {type(value).__name__}$"
    with pytest.raises(TypeError, match=f"^reader_constructor {said}"):
        client.get_object("b", "k", reader_constructor=value)
    for verb in (client.get_object, client.put_object):
        with pytest.raises(TypeError, match=f"^progress {said}"):
            verb("b", "k", progress=value)


@pytest.mark.parametrize("value", [5, 0, "etag", {}, object()])
def test_a_wrong_type_of_object_info_is_named(client, value):
    with pytest.raises(
        TypeError, match=f"^object_info must be ObjectInfo or HeadObjectResult or None, not {type(value).__name__}$"
    ):
        client.get_object("b", "k", object_info=value)


@pytest.mark.parametrize(
    "metadata", [{"id": "42", "xy": "value", "long-name": ""}, [("id", "42"), ("xy", "value"), ("long-name", "")]]
)
def test_metadata_is_a_mapping_or_pairs(client, bucket, metadata):
    with client.put_object(bucket, "k", metadata=metadata) as writer:
        writer.write(b"x")
    stored = client._client.head_object(bucket, "k").user_metadata
    assert dict(stored) == {"id": "42", "xy": "value", "long-name": ""}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "metadata must be a mapping of str to str, or pairs of str, not NoneType"),
        (5, "metadata must be a mapping of str to str, or pairs of str, not int"),
        ("ab", "metadata must be a mapping of str to str, or pairs of str, not str"),
        (["ab", "cd"], "metadata[0] must be a pair of str, not str"),
        ([("a", "b", "c")], "metadata[0] must be a pair of str, not tuple with 3 elements"),
        ({"a": None}, "metadata['a'] must be str, not NoneType"),
        ({"a": Secretive()}, "metadata['a'] must be str, not Secretive"),
        ({5: "a"}, "a name in metadata must be str, not int"),
        ([("a", b"b")], "metadata['a'] must be str, not bytes"),
    ],
)
def test_a_wrong_type_in_metadata_is_named(client, metadata, message):
    with pytest.raises(TypeError) as error:
        client.put_object("b", "k", metadata=metadata)
    assert str(error.value) == message


def test_metadata_that_utf_8_cannot_encode_is_rejected_without_its_text(client):
    for metadata in ({"a": "SECRET\udc80"}, {"a\udc80": "SECRET"}):
        with pytest.raises(penstock.S3InvalidArgumentError, match="lone surrogate") as error:
            client.put_object("b", "k", metadata=metadata)
        assert "SECRET" not in str(error.value)


class Index:
    def __index__(self):
        return 1


@pytest.mark.parametrize("listed", [True, False])
def test_a_wrong_type_of_an_index_is_named(emulator, client, bucket, listed):
    for key in "abc":
        put(client, bucket, key, key.encode())
    options = {"region": "us-east-1", "endpoint": emulator.endpoint, "s3client_config": emulator.config()}
    if listed:
        dataset = S3MapDataset.from_prefix(f"s3://{bucket}", **options)
    else:
        dataset = S3MapDataset.from_objects([f"s3://{bucket}/{key}" for key in "abc"], **options)
    for value in (None, "1", 1.0, slice(0, 2)):
        for get_item in (dataset.__getitem__, lambda index: dataset.__getitems__([0, index])):
            with pytest.raises(TypeError, match=f"^an index must be int, not {type(value).__name__}$"):
                get_item(value)
    for value in (3, -4, 10**30, -(10**30)):
        for get_item in (dataset.__getitem__, lambda index: dataset.__getitems__([0, index])):
            with pytest.raises(IndexError):
                get_item(value)
    assert [dataset[index].key for index in (0, -1, Index())] == ["a", "c", "b"]


@pytest.mark.parametrize("value", [None, 5, "state", [("position", 1)]])
def test_a_wrong_type_of_a_dataset_state_is_named(value):
    dataset = penstock.S3IterableDataset.from_prefix("s3://b", region="us-east-1")
    with pytest.raises(TypeError, match=f"^state must be a mapping that state_dict returned, not {type(value).__name__}$"):
        dataset.load_state_dict(value)


def test_a_wrong_type_of_keys_to_delete_is_named(client):
    with pytest.raises(TypeError, match=r"^keys must be a list of str, not str$"):
        client._client.delete_objects("b", "abc")
    with pytest.raises(TypeError, match=r"^keys\[1\] must be str, not int$"):
        client._client.delete_objects("b", ["a", 3])


WRONG_OBJECTS = [
    (5, "k", "bucket must be str, not int"),
    ("b", None, "key must be str, not NoneType"),
    ("b", b"k", "key must be str, not bytes"),
]


@every_kind
@pytest.mark.parametrize(("bucket", "key", "message"), WRONG_OBJECTS)
def test_readers_name_a_wrong_type_at_their_first_read(client, bucket, key, message, kind):
    reader = client.get_object(bucket, key, reader_constructor=KINDS[kind])
    with pytest.raises(TypeError, match=f"^{message}$"):
        reader.read()
    with pytest.raises(TypeError, match=f"^{message}$"):
        reader.readinto(bytearray(9))


@pytest.mark.parametrize(("bucket", "key", "message"), WRONG_OBJECTS)
def test_a_wrong_type_in_the_objects_of_a_dataset_is_named(emulator, bucket, key, message):
    def objects(client):
        return [S3BucketKeyData(bucket, key)]

    dataset = S3MapDataset("us-east-1", objects, emulator.endpoint, s3client_config=emulator.config())
    with pytest.raises(TypeError, match=f"^{message}$"):
        dataset[0].read()
    with pytest.raises(TypeError, match=f"^{message}$"):
        dataset.__getitems__([0])


def test_a_key_that_is_not_utf_8_is_sent_unchanged(client, bucket):
    """Such a key of a listing used to be rejected as a wrong type."""
    put(client, bucket, "k", b"x")
    with pytest.raises(penstock.S3Exception, match="InvalidURI"):
        get(client, bucket, "k\udcff")
    assert get(client, bucket, "k") == b"x"


@pytest.mark.parametrize("value", [b"1", 1.5, True, Secretive()])
def test_a_wrong_type_of_a_size_is_named(value):
    name = type(value).__name__
    with pytest.raises(TypeError, match=rf"^S3ClientConfig.look_ahead_bytes must be int or str, not {name}$"):
        penstock.S3ClientConfig(look_ahead_bytes=value)
    with pytest.raises(TypeError, match=rf"^buffer_size must be int or str or None, not {name}$"):
        penstock.S3ReaderConstructor.range_based(buffer_size=value)


def test_a_wrong_type_of_object_uris_is_named(emulator):
    for given, said in ((None, "object_uris must be str or an iterable of str, not NoneType"),
                        ([5], "an s3:// URI must be str, not int")):  # fmt: skip
        dataset = S3MapDataset.from_objects(given, region="us-east-1", endpoint=emulator.endpoint)
        with pytest.raises(TypeError) as error:
            dataset[0]
        assert str(error.value) == said


def test_a_bucket_name_with_a_slash_is_rejected(client, bucket):
    put(client, bucket, "b/k", b"of another")
    with pytest.raises(penstock.S3InvalidArgumentError, match=f"`{bucket}/b` is not a bucket name"):
        client.get_object(f"{bucket}/b", "k").read()


@pytest.mark.parametrize("value", [5, b"bytes", Secretive(), [Secretive()]], ids=["int", "bytes", "object", "list"])
def test_an_operation_of_a_wrong_type_is_not_in_the_message(client, value):
    with pytest.raises(TypeError) as error:
        client.presign(value, "bucket", "key")
    assert str(error.value) == f"operation must be 'get', 'head', 'put', 'delete' or 'upload_part', not {type(value).__name__}"


BUFFERS = {
    "data": lambda client, bucket, buffer: client.put(bucket, "k", buffer),
    "document": lambda client, bucket, buffer: client.put_bucket_configuration(bucket, "cors", buffer),
    "sse_customer_key": lambda client, bucket, buffer: client.head(bucket, "k", sse_customer_key=buffer),
    "buffer": lambda client, bucket, buffer: client.get(bucket, "k", buffer=buffer),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_a_buffer_with_gaps_is_a_type_error(client, bucket, name):
    with pytest.raises(TypeError, match=f"^{name} must be a contiguous .*buffer, and this memoryview is not$"):
        BUFFERS[name](client, bucket, memoryview(bytearray(64))[::2])


@pytest.mark.parametrize("buffer", [b"read-only", "text"])
def test_a_buffer_for_results_must_be_writable(client, bucket, buffer):
    put(client, bucket, "k", b"x")
    with pytest.raises(TypeError, match=f"^buffer must be a contiguous and writable buffer, and this {type(buffer).__name__} is"):
        client.get(bucket, "k", buffer=buffer)
