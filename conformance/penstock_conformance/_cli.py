"""The command line: ``python -m penstock_conformance --endpoint URL [SUITE...]``, also as ``penstock conformance``."""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._admin import Admin
    from ._bench import Access, Bench
    from ._report import Report
    from ._suite import Verdict

__all__ = ["add_command", "main"]

INTERRUPTED = 130  # as shells tell that SIGINT ended a program
NO_BUCKET = "conf-nobody-has-this-bucket"


_DESCRIPTION = (
    "Runs named checks against an S3 endpoint and the clients under test. Creates buckets named conf-... and deletes them."
)
_EPILOG = (
    "Exit status: 0 when all checks passed, 1 when a check failed, 2 on an error, 130 when interrupted. "
    "docs/conformance.md describes each suite."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: None: those of the process.

    Returns:
        The exit status: 0 when all checks passed, 1 when a check failed, 2 on an error, 130 when interrupted.
    """
    parser = argparse.ArgumentParser(prog="penstock-conformance", description=_DESCRIPTION, epilog=_EPILOG)
    _add_arguments(parser)
    options = parser.parse_args(arguments)
    from penstock import S3Exception

    try:
        return _run(options)
    except (ValueError, OSError, ModuleNotFoundError, S3Exception) as error:
        print(f"penstock-conformance: {error}", file=sys.stderr)
        return 2


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command ``conformance`` to the command line of ``penstock``."""
    parser = commands.add_parser(
        "conformance", help="test an S3 server or client with the conformance suites", description=_DESCRIPTION, epilog=_EPILOG
    )
    _add_arguments(parser)
    parser.set_defaults(run=_run)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("suites", nargs="*", metavar="SUITE", help="all unless given; --list names them; MODULE:ATTRIBUTE is one of your own")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--endpoint", metavar="URL", help="http://host:port or https://host")
    where.add_argument("--emulator", action="store_true", help="judge an emulator that is started for it")
    add("--access-key", metavar="ID", help="AWS_ACCESS_KEY_ID unless given")
    add("--secret-key", metavar="SECRET", help="AWS_SECRET_ACCESS_KEY unless given")
    add("--region", help="us-east-1 unless given")
    add("--admin", metavar="URL", help="the endpoint's admin listener, of a Penstock emulator")
    add("--admin-token", metavar="TOKEN", help="that the admin listener asks for; PENSTOCK_ADMIN_TOKEN unless given")
    add("--second-access-key", metavar="ID", help="of another account, for the wire cases that need one")
    add("--second-secret-key", metavar="SECRET")
    add("--ca", metavar="FILE", help="PEM certificate to trust over https; AWS_CA_BUNDLE unless given, else the system's")
    add(
        "--client",
        action="append",
        dest="clients",
        metavar="NAME",
        help="under test: penstock (unless given), s3torchconnector, boto3, or MODULE:CLASS; again for another",
    )
    add("--only", action="append", default=[], metavar="TEXT", help="checks whose suite/check contains this; again for more")
    add("--thorough", action="store_true", help="everything, not a sample")
    add("--seed", type=int, default=1, metavar="N", help="of the sample; 1 unless given")
    add("--json", metavar="FILE", help="write every verdict with its evidence")
    add("--junit", metavar="FILE", help="write JUnit XML")
    add("--html", metavar="FILE", help="write a page with charts that needs nothing else")
    add("--list", action="store_true", help="name the suites and stop")
    add("-v", "--verbose", action="store_true", help="name the checks that pass, too")


def _run(options: argparse.Namespace) -> int:
    try:
        return _judge(options)
    except SystemExit as ended:  # of a suite's or client's own code: its status says nothing of this run
        raise ValueError(f"a suite or client ended the program, with {ended.code!r}") from ended


def _judge(options: argparse.Namespace) -> int:
    from . import suites

    if options.list:
        print("\n".join(f"{name:{max(map(len, suites.KNOWN))}} {about}" for name, about in suites.KNOWN.items()))
        return 0
    from . import clients
    from ._bench import run
    from ._report import Report, check_writable

    _check_arguments(options)
    for path in filter(None, (options.json, options.junit, options.html)):
        check_writable(Path(path))
    chosen = [suites.find(name) for name in options.suites or suites.KNOWN]
    under_test = [clients.find(name) for name in options.clients or ["penstock"]]
    report = Report("", options.seed, options.thorough)
    try:
        with _bench(options) as bench:
            report.endpoint = bench.access.endpoint
            told = functools.partial(_tell, verbose=options.verbose)
            run(chosen, bench, under_test, only=options.only, tell=told, report=report)
    except KeyboardInterrupt:
        report.interrupted = True
    if not report.verdicts and not report.interrupted:
        print(f"no check's name contains {' or '.join(options.only)}", file=sys.stderr)
        return 2
    if report.verdicts:
        print(report.text())
    _write(report, options)
    if report.interrupted:
        print(f"penstock conformance: interrupted after {len(report.verdicts)} checks; reports have these alone", file=sys.stderr)
        return INTERRUPTED
    return 1 if report.failed else 0


def _check_arguments(options: argparse.Namespace) -> None:
    """Raises ValueError where two of them do not go together, or one says nothing."""
    if "" in options.only:
        raise ValueError("--only '' is in every check's name; leave it out, or name a part of suite/check")
    if bool(options.second_access_key) != bool(options.second_secret_key):
        raise ValueError("--second-access-key and --second-secret-key belong together; give both or neither")
    if options.admin_token and not (options.admin or options.emulator):
        raise ValueError("--admin-token is for the listener that --admin URL names; give both")
    if options.emulator:
        own = ["access_key", "secret_key", "region", "admin", "admin_token", "ca", "second_access_key", "second_secret_key"]
        if given := [f"--{name.replace('_', '-')}" for name in own if getattr(options, name)]:
            raise ValueError(
                f"{', '.join(given)}: the emulator that --emulator starts has its own; give --endpoint URL, or not these"
            )


def _write(report: Report, options: argparse.Namespace) -> None:
    from . import _html

    if options.json:
        Path(options.json).write_text(json.dumps(report.document(), indent=1) + "\n", encoding="utf-8")
    if options.junit:
        Path(options.junit).write_text(report.junit(), encoding="utf-8")
    if options.html:
        Path(options.html).write_text(_html.page(report), encoding="utf-8")


def _check_answers(access: Access, admin: Admin | None) -> None:
    """One request to the endpoint and one to its admin API: whether there is anything to judge.

    Raises:
        OSError: nobody answers as S3 does.
        S3Exception: nobody answers, or the key is none.
    """
    from penstock import S3Exception, S3UnauthenticatedError

    from ._store import client

    try:
        next(client(access, max_attempts=1).list_objects(NO_BUCKET), None)
    except S3Exception as error:
        if isinstance(error, S3UnauthenticatedError) or not error.status:
            raise
        if not error.code or error.code.isdigit():  # no listing, and no error document, whose code is a name
            raise OSError(f"{access.endpoint} does not answer as S3 does: {error}") from None
    if admin:
        admin.ask("GET", f"limits/{admin.namespace}")


@contextmanager
def _bench(options: argparse.Namespace) -> Iterator[Bench]:
    from ._bench import Bench

    sample = {"seed": options.seed, "thorough": options.thorough}
    with _target(options) as (access, second, admin), Bench(access, admin=admin, second=second, **sample) as bench:
        yield bench


@contextmanager
def _target(options: argparse.Namespace) -> Iterator[tuple[Access, Access | None, Admin | None]]:
    """Who is judged, a second account there, and its admin API."""
    from . import _tls
    from ._admin import Admin
    from ._bench import Access

    if options.emulator:
        with _emulator() as target:
            yield target
        return
    if not options.endpoint:
        raise ValueError("which endpoint? Give --endpoint URL, or --emulator for one that is started here")
    access_key = options.access_key or os.environ.get("AWS_ACCESS_KEY_ID")
    secret_key = options.secret_key or os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not (access_key and secret_key):
        raise ValueError("which key? Give --access-key and --secret-key, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    endpoint = options.endpoint.rstrip("/")
    if options.ca:
        _tls.context(options.ca)  # so that one that cannot be read is told by its name
    trusted = {"ca": options.ca} if options.ca else {}
    token = os.environ.get("AWS_SESSION_TOKEN")
    access = Access(endpoint, access_key, secret_key, options.region or "us-east-1", token, **trusted)
    second = Access(endpoint, options.second_access_key, options.second_secret_key) if options.second_access_key else None
    admin_token = options.admin_token or os.environ.get("PENSTOCK_ADMIN_TOKEN", "")
    admin = Admin(options.admin, token=admin_token) if options.admin else None
    _check_answers(access, admin)
    yield access, second, admin


@contextmanager
def _emulator() -> Iterator[tuple[Access, Access, Admin]]:
    from penstock.testing import Emulator

    from ._admin import Admin
    from ._bench import Access

    keys = [("CONFORMANCE", "conformance-secret"), ("SECONDACCOUNT", "second-secret")]
    with Emulator(access_keys=keys) as emulator:
        first, second = (Access(emulator.endpoint, *key, emulator.region) for key in keys)
        yield first, second, Admin(emulator.admin_endpoint)


def _tell(verdict: Verdict, verbose: bool) -> None:
    from ._report import tell

    if text := tell(verdict, verbose):
        print(text, flush=True)
