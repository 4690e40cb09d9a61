"""``penstock checkpoint ls|inspect|verify|restore|prune URI``: what lies in a bucket of checkpoints, and what may go."""

from __future__ import annotations

import argparse
from collections.abc import Callable

__all__ = ["add_commands"]

_EPILOG = (
    "Credentials come from the environment, the profile or the instance, as everywhere. "
    "--json prints one document on standard output. "
    "Exit status: 0, 1 where something is missing, damaged or was not agreed to, 2 for an error."
)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``checkpoint`` and its verbs to a command line."""
    parser = commands.add_parser("checkpoint", help="list, inspect, verify, restore and prune checkpoints", epilog=_EPILOG)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add(verbs, "ls", "the checkpoints below a prefix: step, kind, size, objects, time")
    _add(verbs, "inspect", "the tensors of a checkpoint: name, shape, dtype, bytes; fetches none of them")
    _add(verbs, "verify", "is every object of a checkpoint there, whole and undamaged? Reads all of it")
    restore = _add(verbs, "restore", "an older version of a checkpoint becomes the current one again")
    which = restore.add_mutually_exclusive_group(required=True)
    which.add_argument("--version", metavar="ID", dest="version_id", help="a version of the file, or of a directory's .metadata")
    which.add_argument("--as-of", type=_time, metavar="TIME", help="as it was then: 2026-01-31T12:00:00Z, or seconds since 1970")
    restore.add_argument("--dry-run", action="store_true", help="tell what would be restored")
    prune = _add(verbs, "prune", "deletes all but the newest checkpoints of a run, which is all that lie below URI together")
    add = prune.add_argument
    add("--keep", type=_count, required=True, metavar="N", help="complete checkpoints that stay, the newest; 1 at least")
    add(
        "--older-than",
        type=_age,
        metavar="AGE",
        help="also delete shards that no checkpoint refers to, and give up open uploads, both older than 36h, 7d, 30m",
    )
    add("--dry-run", action="store_true", help="tell what would be deleted")
    add("--yes", action="store_true", help="do not ask")
    parser.set_defaults(run=_run)


def _add(verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", epilog=_EPILOG)
    parser.add_argument("uri", metavar="URI", help="s3://bucket/folder or s3://bucket/file")
    parser.add_argument("--region", default="", help="AWS region; the environment's or profile's unless given")
    parser.add_argument("--endpoint", metavar="URL", help="an S3-compatible service; the environment's, or AWS, unless given")
    parser.add_argument("--profile", metavar="NAME", help="of the AWS configuration files")
    parser.add_argument("--path-style", action="store_true", help="address objects as host/bucket/key")
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


_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def _age(text: str) -> float:
    """Seconds: "90s", "30m", "36h", "7d", "2w"."""
    number, unit = text[:-1], text[-1:]
    try:
        age = float(number) * _UNITS_S[unit]
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' is no age; write 30m, 36h or 7d") from None
    if not 0 <= age < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no age; write 30m, 36h or 7d")
    return age


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of checkpoints to keep; write 1 or more")
    return int(text)


def _time(text: str) -> float:
    """Seconds since the epoch, of those or of an ISO 8601 time with its zone."""
    from datetime import datetime

    try:
        return float(text)
    except ValueError:
        pass
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no time; write 2026-01-31T12:00:00Z") from None
    if time.tzinfo is None:
        raise argparse.ArgumentTypeError(f"'{text}' has no time zone; write {text}Z for UTC, or {text}+01:00")
    return time.timestamp()
