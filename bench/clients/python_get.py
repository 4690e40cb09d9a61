"""Downloads one object several times and prints the cost as one JSON line.

python_get.py READER ENDPOINT BUCKET KEY ROUNDS; READER: the name of a function below without `_reader`.

`peak_mib` is the peak of memory above that before the first read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from cost import cost_of


def boto3_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    return lambda: len(client.get_object(Bucket=bucket, Key=key)["Body"].read())


def s3torchconnector_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    client = S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(force_path_style=True))
    return lambda: len(client.get_object(bucket, key).read())


def s3torchconnector_into_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    from s3torchconnector import S3ClientConfig, S3ReaderConstructor
    from s3torchconnector._s3client import S3Client

    client = S3Client("us-east-1", endpoint=endpoint, s3client_config=S3ClientConfig(force_path_style=True))
    memory = bytearray(client.head_object(bucket, key).size)

    def read() -> int:
        return client.get_object(bucket, key, reader_constructor=S3ReaderConstructor.range_based()).readinto(memory)

    return read


def obstore_into_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    """Reads into new `bytes`: obstore has no read into existing memory."""
    from obstore.store import S3Store

    store = S3Store(bucket, endpoint=endpoint, region="us-east-1", client_options={"allow_http": True})
    return lambda: len(store.get(key).bytes())


def awscrt_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    """Reads into memory that is reused, in parts that arrive at the same time, as the CRT's client does."""
    import crt
    from awscrt.s3 import S3RequestType

    client = crt.make_client(endpoint)
    memory = bytearray()

    def keep(chunk: bytes, offset: int, **_: object) -> None:
        memory[offset : offset + len(chunk)] = chunk

    def read() -> int:
        request = crt.make_request("GET", endpoint, bucket, key)
        client.make_request(type=S3RequestType.GET_OBJECT, request=request, on_body=keep).finished_future.result()
        return len(memory)

    return read


def penstock_into_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    import penstock

    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    memory = bytearray(client.head_object(bucket, key).size)
    constructor = penstock.S3ReaderConstructor.range_based()
    return lambda: client.get_object(bucket, key, reader_constructor=constructor).readinto(memory)


def penstock_reader(endpoint: str, bucket: str, key: str) -> Callable[[], int]:
    import penstock

    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    return lambda: len(client.get_object(bucket, key).read())


def main() -> None:
    name, endpoint, bucket, key, rounds = sys.argv[1:]
    read = globals()[f"{name}_reader"](endpoint, bucket, key)
    print(json.dumps(cost_of(read, int(rounds))))


if __name__ == "__main__":
    main()
