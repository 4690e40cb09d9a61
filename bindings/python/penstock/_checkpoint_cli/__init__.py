"""``penstock checkpoint ls|inspect|verify|restore|prune URI``: manages checkpoints in a bucket."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from .. import _argument_values

__all__ = ["add_commands"]

_EPILOG = (
    "Credentials are taken from the environment, the profile or the instance metadata. "
    "--json prints one JSON document to standard output. "
    "Exit status: 0 for success, 1 if an object is missing or damaged, a request failed or the deletion was not confirmed, "
    "2 for wrong arguments, 130 after Ctrl-C."
)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command ``checkpoint`` with its subcommands to an argument parser."""
    parser = commands.add_parser("checkpoint", help="list, inspect, verify, restore and prune checkpoints", epilog=_EPILOG)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add(verbs, "ls", "list the checkpoints below a prefix: step, kind, size, objects, time")
    _add(verbs, "inspect", "list the tensors of a checkpoint: name, shape, dtype, bytes; does not download the tensors")
    _add(verbs, "verify", "check that every object of a checkpoint exists, is complete and is undamaged; reads all bytes")
    restore = _add(verbs, "restore", "make an older version of a checkpoint the current one")
    which = restore.add_mutually_exclusive_group(required=True)
    which.add_argument("--version", metavar="ID", dest="version_id", help="version ID of the file, or of a directory's .metadata")
    which.add_argument(
        "--as-of",
        type=_argument_values.time,
        metavar="TIME",
        help="restore the state at this time: 2026-01-31T12:00:00Z or seconds since 1970",
    )
    restore.add_argument("--dry-run", action="store_true", help="print what would be restored")
    prune = _add(verbs, "prune", "delete all but the newest checkpoints of a run; all checkpoints below URI are one run")
    add = prune.add_argument
    add("--keep", type=_count, required=True, metavar="N", help="number of newest complete checkpoints to keep, at least 1")
    add(
        "--older-than",
        type=_argument_values.age,
        metavar="AGE",
        help="also delete shards that no checkpoint refers to, and abort open uploads, if older than AGE: 36h, 7d, 30m",
    )
    add("--dry-run", action="store_true", help="print what would be deleted")
    add("--yes", action="store_true", help="do not ask for confirmation")
    parser.set_defaults(run=_run)


def _add(verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", epilog=_EPILOG)
    parser.add_argument("uri", metavar="URI", help="s3://bucket/folder or s3://bucket/file")
    parser.add_argument("--region", default="", help="AWS region; default: from the environment or the profile")
    parser.add_argument(
        "--endpoint", metavar="URL", help="URL of an S3-compatible service; default: from the environment, else AWS"
    )
    parser.add_argument("--profile", metavar="NAME", help="profile of the AWS configuration files")
    parser.add_argument("--path-style", action="store_true", help="use path-style URLs: host/bucket/key")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _run(options: argparse.Namespace) -> int:
    from . import _inspect, _ls, _prune, _restore, _verify

    verbs: dict[str, Callable[[argparse.Namespace], int]] = {
        "ls": _ls.run,
        "inspect": _inspect.run,
        "verify": _verify.run,
        "restore": _restore.run,
        "prune": _prune.run,
    }
    return verbs[options.verb](options)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"invalid number of checkpoints to keep '{text}': expected 1 or more")
    return int(text)
