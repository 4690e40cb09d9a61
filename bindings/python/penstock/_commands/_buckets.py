"""``penstock mb`` and ``penstock rb``."""

from __future__ import annotations

import argparse

from .._exceptions import S3Exception
from . import _options
from ._execution import Execution
from ._rm import delete_all
from ._urls import UsageError, parse_s3


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urls", nargs="+", metavar="S3URI", help="s3://bucket")
    if parser.prog.endswith("rb"):
        parser.add_argument("--force", action="store_true", help="delete the objects of the bucket first")
        parser.add_argument("--all-versions", action="store_true", help="with --force: delete all versions, too")
    _options.add_output(parser)
    _options.add_connection(parser)


def run(options: argparse.Namespace) -> int:
    urls = [parse_s3(text) for text in options.urls]
    for url in urls:
        if url.key:
            raise UsageError(f"{url} is not a bucket; write s3://{url.bucket}")
    remove = options.command == "rb"
    if remove and options.all_versions and not options.force:
        raise UsageError("--all-versions needs --force")
    execution = Execution(_options.client_of(options), options)
    for url in urls:
        bucket = f"s3://{url.bucket}"
        try:
            if remove:
                _remove(execution, url.bucket, options)
            elif not options.dry_run:
                execution.client.create_bucket(url.bucket)
        except S3Exception as error:
            execution.report.failed("remove_bucket" if remove else "make_bucket", bucket, None, error)
        else:
            execution.report.done("remove_bucket" if remove else "make_bucket", bucket)
    return execution.report.finish()


def _remove(execution: Execution, bucket: str, options: argparse.Namespace) -> None:
    if options.force:
        delete_all(execution, bucket, all_versions=options.all_versions)
    if options.dry_run:
        return
    try:
        execution.client.delete_bucket(bucket)
    except S3Exception as error:
        if error.code != "BucketNotEmpty":
            raise
        hint = "--force --all-versions deletes all versions" if options.force else "--force deletes its objects"
        raise S3Exception(f"the bucket is not empty; {hint}") from error
