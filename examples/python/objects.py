"""Objects with one request each: attributes, ranges, conditions, tags, deletions, and a presigned URL; files and folders."""

from __future__ import annotations

import tempfile
import urllib.request
from pathlib import Path

import common
import penstock


def main() -> None:
    common.make_bucket()
    client = common.client()
    bucket, _, prefix = common.uri("objects").removeprefix("s3://").partition("/")
    report = f"{prefix}/report.csv"

    stored = client.put(
        bucket, report, b"a,b\n1,2\n", content_type="text/csv", metadata={"step": "7"}, tagging={"team": "vision"}
    )
    print(f"stored {report}, ETag {stored.etag}")
    print(f"the first line: {client.get(bucket, report, range=(0, 3)).body.decode()}")
    try:
        client.get(bucket, report, if_none_match=stored.etag)
    except penstock.S3NotModifiedError:
        print("not modified since it was stored")
    try:
        client.put(bucket, report, b"", if_none_match=True)
    except penstock.S3PreconditionFailedError:
        print("not overwritten")

    # A program without credentials can fetch this URL for ten minutes.
    signed = client.presign("get", bucket, report, expires_in=600, response_content_disposition="attachment")
    with urllib.request.urlopen(urllib.request.Request(signed.url, headers=dict(signed.headers))) as response:
        assert response.read() == b"a,b\n1,2\n"

    with tempfile.TemporaryDirectory() as folder:
        for number in range(3):
            (Path(folder) / f"{number}.txt").write_text(str(number))
        print(f"uploaded {client.upload_directory(folder, bucket, f'{prefix}/files').files} files")
        client.download_file(bucket, f"{prefix}/files/2.txt", Path(folder) / "copy.txt")
        assert (Path(folder) / "copy.txt").read_text() == "2"

    keys = [info.key for page in client.list_objects(bucket, f"{prefix}/") for info in page.object_info]
    result = client.delete_objects(bucket, keys)
    print(f"ok: {len(result.deleted)} objects deleted, {len(result.failures)} failures")


if __name__ == "__main__":
    main()
