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
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ._access import Access
    from ._admin import Admin
    from ._bench import Bench
    from ._report import Report
    from ._verdict import Verdict

__all__ = ["add_command", "main"]

STDOUT = "-"
INTERRUPTED = 130  # exit status that shells report for a program ended by SIGINT
MISSING_BUCKET = "conf-this-bucket-does-not-exist"


_DESCRIPTION = (
    "Runs named checks against an S3 endpoint and the clients under test. Creates buckets named conf-... and deletes them."
)
_EPILOG = (
    "Exit status: 0 when all checks passed, 1 when a check or the run failed, 2 for wrong arguments, 130 when interrupted. "
    "docs/how-to/conformance.md describes each suite."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: None: those of the process.

    Returns:
        The exit status: 0 when all checks passed, 1 when a check or the run failed, 2 for wrong arguments, 130 when interrupted.
    """
    parser = argparse.ArgumentParser(prog="penstock-conformance", description=_DESCRIPTION, epilog=_EPILOG)
    _add_arguments(parser)
    options = parser.parse_args(arguments)
    from penstock import S3Exception

    try:
        return _run(options)
    except (ValueError, OSError, ModuleNotFoundError, S3Exception) as error:
        print(f"penstock-conformance: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) and not isinstance(error, S3Exception) else 1
    except KeyboardInterrupt:
        return INTERRUPTED


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command ``conformance`` to the command line of ``penstock``."""
    parser = commands.add_parser(
        "conformance", help="test an S3 server or client with the conformance suites", description=_DESCRIPTION, epilog=_EPILOG
    )
    _add_arguments(parser)
    parser.set_defaults(run=_run)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("suites", nargs="*", metavar="SUITE", help="suites to run, by name (--list) or as MODULE:ATTRIBUTE; default: all")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--endpoint", metavar="URL", help="http://host:port or https://host")
    where.add_argument("--emulator", action="store_true", help="start an emulator and test it")
    add("--access-key", metavar="ID", help="default: AWS_ACCESS_KEY_ID")
    add("--secret-key", metavar="SECRET", help="default: AWS_SECRET_ACCESS_KEY")
    add("--region", help="default: us-east-1")
    add("--admin", metavar="URL", help="admin listener of the endpoint, if it is a Penstock emulator")
    add("--admin-token", metavar="TOKEN", help="token for the admin listener; default: PENSTOCK_ADMIN_TOKEN")
    add("--second-access-key", metavar="ID", help="credentials of another account, for the wire cases that need one")
    add("--second-secret-key", metavar="SECRET", help="secret key of that account")
    add("--ca", metavar="FILE", help="PEM certificates to trust over HTTPS; default: AWS_CA_BUNDLE, or the system's")
    add(
        "--client",
        action="append",
        dest="clients",
        metavar="NAME",
        help="client under test: penstock (default), s3torchconnector, boto3 or MODULE:CLASS; can be repeated",
    )
    add("--only", action="append", default=[], metavar="TEXT", help="only checks with TEXT in suite/check; can be repeated")
    add("--thorough", action="store_true", help="run everything instead of a sample")
    add("--seed", type=int, default=1, metavar="N", help="seed of the sample; default: 1")
    add(
        "--json",
        metavar="FILE",
        help="write all verdicts with their evidence as JSON; -: to standard output, the text to standard error",
    )
    add("--junit", metavar="FILE", help="write a JUnit XML report")
    add("--html", metavar="FILE", help="write a self-contained HTML page with charts")
    add("--list", action="store_true", help="list the suites and exit")
    add("-v", "--verbose", action="store_true", help="also print the checks that pass or are not run")


def _run(options: argparse.Namespace) -> int:
    try:
        return _judge(options)
    except SystemExit as ended:  # raised by code of a custom suite or client; its status is unrelated to this run
        raise OSError(f"a suite or client called sys.exit with {ended.code!r}") from ended


def _judge(options: argparse.Namespace) -> int:
    from . import suites

    out = sys.stderr if options.json == STDOUT else sys.stdout
    if options.list:
        print("\n".join(f"{name:{max(map(len, suites.KNOWN))}} {about}" for name, about in suites.KNOWN.items()), file=out)
        if options.json:
            _write_json([{"suite": name, "about": about} for name, about in suites.KNOWN.items()], options.json)
        return 0
    from . import clients
    from ._report import Report, check_writable
    from ._run import run

    _check_arguments(options)
    for path in (options.json, options.junit, options.html):
        if path and path != STDOUT:
            check_writable(Path(path))
    chosen = [suites.find(name) for name in options.suites or suites.KNOWN]
    under_test = [clients.find(name) for name in options.clients or ["penstock"]]
    report = Report("", options.seed, options.thorough)
    try:
        with _bench(options) as bench:
            report.endpoint = bench.access.endpoint
            on_verdict = functools.partial(_print, verbose=options.verbose, out=out)
            run(chosen, bench, under_test, only=options.only, on_verdict=on_verdict, report=report)
    except KeyboardInterrupt:
        report.interrupted = True
    if not report.verdicts and not report.interrupted:
        print(f"no check name contains {' or '.join(options.only)}", file=sys.stderr)
        return 2
    if report.verdicts:
        print(report.text(), file=out)
    _write(report, options)
    if report.interrupted:
        print(f"interrupted after {len(report.verdicts)} checks; the reports contain only these", file=sys.stderr)
        return INTERRUPTED
    return 1 if report.failed else 0


def _check_arguments(options: argparse.Namespace) -> None:
    """Raises ValueError for options that conflict or have no effect."""
    if "" in options.only:
        raise ValueError("--only '' matches every check; omit it, or give a part of suite/check")
    if bool(options.second_access_key) != bool(options.second_secret_key):
        raise ValueError("--second-access-key and --second-secret-key must be given together")
    if options.admin_token and not (options.admin or options.emulator):
        raise ValueError("--admin-token needs --admin URL")
    if options.emulator:
        own = ["access_key", "secret_key", "region", "admin", "admin_token", "ca", "second_access_key", "second_secret_key"]
        if given := [f"--{name.replace('_', '-')}" for name in own if getattr(options, name)]:
            raise ValueError(f"{', '.join(given)}: not allowed with --emulator, which sets them; use --endpoint URL instead")


def _write(report: Report, options: argparse.Namespace) -> None:
    from . import _html

    if options.json:
        _write_json(report.document(), options.json)
    if options.junit:
        Path(options.junit).write_text(report.junit(), encoding="utf-8")
    if options.html:
        Path(options.html).write_text(_html.page(report), encoding="utf-8")


def _write_json(document: object, path: str) -> None:
    text = json.dumps(document, indent=1) + "\n"
    if path == STDOUT:
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")


def _check_reachable(access: Access, admin: Admin | None) -> None:
    """Sends one request to the endpoint and one to its admin API.

    Raises:
        OSError: the endpoint does not respond like S3.
        S3Exception: the endpoint does not respond, or rejects the credentials.
    """
    from penstock import S3Exception, S3UnauthenticatedError

    from ._store import client

    try:
        next(client(access, max_attempts=1).list_objects(MISSING_BUCKET), None)
    except S3Exception as error:
        if isinstance(error, S3UnauthenticatedError) or not error.status:
            raise
        if not error.code or error.code.isdigit():  # neither a listing nor an S3 error document, whose code is a name
            raise OSError(f"{access.endpoint} does not respond like S3: {error}") from None
    if admin:
        admin.request("GET", f"limits/{admin.namespace}")


@contextmanager
def _bench(options: argparse.Namespace) -> Iterator[Bench]:
    from ._bench import Bench

    sample = {"seed": options.seed, "thorough": options.thorough}
    with _target(options) as (access, second, admin), Bench(access, admin=admin, second=second, **sample) as bench:
        yield bench


@contextmanager
def _target(options: argparse.Namespace) -> Iterator[tuple[Access, Access | None, Admin | None]]:
    """Yields the endpoint under test, credentials of a second account, and the admin API."""
    from ._access import Access
    from ._admin import Admin
    from ._tls import tls_context

    if options.emulator:
        with _emulator() as target:
            yield target
        return
    if not options.endpoint:
        raise ValueError("no endpoint: give --endpoint URL, or --emulator to start one")
    access_key = options.access_key or os.environ.get("AWS_ACCESS_KEY_ID")
    secret_key = options.secret_key or os.environ.get("AWS_SECRET_ACCESS_KEY")
    if not (access_key and secret_key):
        raise ValueError("no credentials: give --access-key and --secret-key, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    endpoint = options.endpoint.rstrip("/")
    if options.ca:
        tls_context(options.ca)  # raises an error that names the file
    trusted = {"ca": options.ca} if options.ca else {}
    token = os.environ.get("AWS_SESSION_TOKEN")
    access = Access(endpoint, access_key, secret_key, options.region or "us-east-1", token, **trusted)
    second = Access(endpoint, options.second_access_key, options.second_secret_key) if options.second_access_key else None
    admin_token = options.admin_token or os.environ.get("PENSTOCK_ADMIN_TOKEN", "")
    admin = Admin(options.admin, token=admin_token) if options.admin else None
    _check_reachable(access, admin)
    yield access, second, admin


@contextmanager
def _emulator() -> Iterator[tuple[Access, Access, Admin]]:
    from penstock.testing import Emulator

    from ._access import Access
    from ._admin import Admin

    keys = [("CONFORMANCE", "conformance-secret"), ("SECONDACCOUNT", "second-secret")]
    with Emulator(access_keys=keys) as emulator:
        first, second = (Access(emulator.endpoint, *key, emulator.region) for key in keys)
        yield first, second, Admin(emulator.admin_endpoint)


def _print(verdict: Verdict, verbose: bool, out: TextIO) -> None:
    from ._report import verdict_text

    if text := verdict_text(verdict, verbose):
        print(text, file=out, flush=True)
