"""S3 URI, region and endpoint of the examples, from the environment."""

from __future__ import annotations

import os
import sys

import penstock

REGION = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def uri(*parts: str) -> str:
    """Returns the URI of `parts` below S3_URI, without a trailing slash."""
    base = os.environ.get("S3_URI", "")
    if not base.startswith("s3://"):
        sys.exit(f"S3_URI is {base!r}; set it to a prefix where this example may write, for example s3://my-bucket/some/prefix")
    return "/".join([base.rstrip("/"), *parts])


def client() -> penstock.S3Client:
    return penstock.S3Client(REGION)


def make_bucket() -> None:
    """Creates the bucket of S3_URI if it does not exist."""
    bucket = uri().removeprefix("s3://").partition("/")[0]
    try:
        next(client().list_objects(bucket, max_keys=1))
    except penstock.S3NotFoundError:
        client().create_bucket(bucket)


def put(object_uri: str, data: bytes) -> None:
    bucket, _, key = object_uri.removeprefix("s3://").partition("/")
    with client().put_object(bucket, key) as writer:
        writer.write(data)


def end_rank() -> None:
    """Ends this process of a torch.distributed job, after all ranks have called it.

    Skips the finalization of the interpreter, during which a thread of Gloo can abort the process
    (docs/how-to/troubleshooting.md).
    """
    import torch.distributed as dist

    dist.barrier()  # no rank exits while another still communicates with it
    dist.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
