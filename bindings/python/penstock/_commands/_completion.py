"""Completion in shells, by argcomplete: files, buckets and keys."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import argcomplete

from .._client import S3Client
from .._exceptions import S3Exception
from . import _options

_TIMEOUT_S = 5.0


def complete(parser: argparse.ArgumentParser) -> None:
    """Writes what can follow the words of the environment variable ``COMP_LINE``, and ends the process."""
    argcomplete.autocomplete(parser, default_completer=_place)


def _place(prefix: str, parsed_args: argparse.Namespace, **more: Any) -> Iterable[str]:
    """Returns the files, or the buckets and keys, that begin with `prefix`."""
    if not prefix.startswith("s3:"):
        files: Iterable[str] = argcomplete.FilesCompleter()(prefix, parsed_args=parsed_args, **more)
        return files
    bucket, slash, key = prefix.removeprefix("s3://").partition("/")
    try:
        client = _client_of(parsed_args)
        if not slash:
            return [f"s3://{info.name}/" for info in client.list_buckets()]
        page = next(iter(client.list_objects(bucket, key, "/")))
    except (S3Exception, OSError, ValueError) as error:
        argcomplete.warn(str(error))
        return []
    names = (*page.common_prefixes, *(info.key for info in page.object_info))
    return [f"s3://{bucket}/{name}" for name in names if name.isprintable()]


def _client_of(options: argparse.Namespace) -> S3Client:
    """Returns a client that does not keep the user waiting."""
    client = _options.client_of(options)
    config = replace(client.s3client_config, operation_timeout=_TIMEOUT_S)
    return S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
