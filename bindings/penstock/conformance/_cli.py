"""``penstock conformance --endpoint URL [SUITE...]``: judges a server, or clients against it, and reports."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._admin import Admin
    from ._bench import Access, Bench

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds ``conformance`` to a command line."""
    parser = commands.add_parser(
        "conformance",
        help="does this client, this server, do what S3 does?",
        description="Judges an S3 endpoint, and clients that talk to it, by named checks. It makes buckets named conf-... and "
        "removes them.",
        epilog="Exit status: 0, 1 where a check failed, 2 for an error. docs/conformance.md says what each suite asks.",
    )
    add = parser.add_argument
    add("suites", nargs="*", metavar="SUITE", help="all unless given; --list names them; MODULE:ATTRIBUTE is one of your own")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--endpoint", metavar="URL", help="http://host:port or https://host")
    where.add_argument("--emulator", action="store_true", help="judge an emulator that is started for it")
    add("--access-key", metavar="ID", default=os.environ.get("AWS_ACCESS_KEY_ID"), help="AWS_ACCESS_KEY_ID unless given")
    add("--secret-key", metavar="SECRET", default=os.environ.get("AWS_SECRET_ACCESS_KEY"), help="or AWS_SECRET_ACCESS_KEY")
    add("--region", default="us-east-1", help="us-east-1 unless given")
    add("--admin", metavar="URL", help="the endpoint's admin listener, of a Penstock emulator")
    add("--second-access-key", metavar="ID", help="of another account, for the wire cases that need one")
    add("--second-secret-key", metavar="SECRET")
    add("--ca", metavar="FILE", help="PEM certificate to trust over https, for the wire cases")
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
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from . import suites

    if options.list:
        print("\n".join(f"{name:10} {about}" for name, about in suites.KNOWN.items()))
        return 0
    from . import _html, clients
    from ._bench import run
    from ._report import tell

    chosen = [suites.find(name) for name in options.suites or suites.KNOWN]
    under_test = [clients.find(name) for name in options.clients or ["penstock"]]
    with _bench(options) as bench:
        report = run(chosen, bench, under_test, only=options.only, tell=lambda v: _print(tell(v, options.verbose)))
    if not report.verdicts:
        print(f"no check's name contains {' or '.join(options.only)}", file=sys.stderr)
        return 2
    print(report.text())
    if options.json:
        Path(options.json).write_text(json.dumps(report.document(), indent=1) + "\n", encoding="utf-8")
    if options.junit:
        Path(options.junit).write_text(report.junit(), encoding="utf-8")
    if options.html:
        Path(options.html).write_text(_html.page(report), encoding="utf-8")
    return 1 if report.failed else 0


@contextmanager
def _bench(options: argparse.Namespace) -> Iterator[Bench]:
    from ._bench import Bench

    sample = {"seed": options.seed, "thorough": options.thorough, "ca": options.ca}
    with _target(options) as (access, second, admin), Bench(access, admin=admin, second=second, **sample) as bench:
        yield bench


@contextmanager
def _target(options: argparse.Namespace) -> Iterator[tuple[Access, Access | None, Admin | None]]:
    """Who is judged, a second account there, and its admin API."""
    from ._admin import Admin
    from ._bench import Access

    if options.emulator:
        with _emulator() as target:
            yield target
        return
    if not options.endpoint:
        raise ValueError("which endpoint? Give --endpoint URL, or --emulator for one that is started here")
    if not (options.access_key and options.secret_key):
        raise ValueError("which key? Give --access-key and --secret-key, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    endpoint = options.endpoint.rstrip("/")
    access = Access(endpoint, options.access_key, options.secret_key, options.region, os.environ.get("AWS_SESSION_TOKEN"))
    second = Access(endpoint, options.second_access_key, options.second_secret_key) if options.second_access_key else None
    yield access, second, Admin(options.admin) if options.admin else None


@contextmanager
def _emulator() -> Iterator[tuple[Access, Access, Admin]]:
    from ..testing import Emulator
    from ._admin import Admin
    from ._bench import Access

    keys = [("CONFORMANCE", "conformance-secret"), ("SECONDACCOUNT", "second-secret")]
    with Emulator(access_keys=keys) as emulator:
        first, second = (Access(emulator.endpoint, *key, emulator.region) for key in keys)
        yield first, second, Admin(emulator.admin_endpoint)


def _print(text: str) -> None:
    if text:
        print(text, flush=True)
