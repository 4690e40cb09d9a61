"""Uploads the same memory several times as one object and prints the cost as one JSON line.

python_upload.py CLIENT ENDPOINT BUCKET MIB ROUNDS; CLIENT: the name of a function below without `_uploader`. Each upload has a
CRC64NVME, the checksum that Penstock sends, except for boto3's, which has its default.
"""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable

from cost import cost_of


def penstock_uploader(endpoint: str, bucket: str, data: bytes) -> Callable[[], object]:
    import penstock

    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))

    def put() -> None:
        with client.put_object(bucket, "penstock") as writer:
            writer.write(data)

    return put


def boto3_uploader(endpoint: str, bucket: str, data: bytes) -> Callable[[], object]:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    return lambda: client.upload_fileobj(io.BytesIO(data), bucket, "boto3")


def awscrt_uploader(endpoint: str, bucket: str, data: bytes) -> Callable[[], object]:
    import crt
    from awscrt.s3 import S3ChecksumAlgorithm, S3ChecksumConfig, S3ChecksumLocation, S3RequestType

    client = crt.make_client(endpoint)
    checksum = S3ChecksumConfig(algorithm=S3ChecksumAlgorithm.CRC64NVME, location=S3ChecksumLocation.TRAILER)

    def put() -> None:
        request = crt.make_request("PUT", endpoint, bucket, "awscrt", body_stream=io.BytesIO(data))
        request.headers.add("content-length", str(len(data)))
        client.make_request(type=S3RequestType.PUT_OBJECT, request=request, checksum_config=checksum).finished_future.result()

    return put


def main() -> None:
    name, endpoint, bucket, mebibytes, rounds = sys.argv[1:]
    data = random.Random(1).randbytes(1 << 20) * int(mebibytes)
    put = globals()[f"{name}_uploader"](endpoint, bucket, data)

    def upload() -> int:
        put()
        return len(data)

    print(json.dumps(cost_of(upload, int(rounds))))


if __name__ == "__main__":
    main()
