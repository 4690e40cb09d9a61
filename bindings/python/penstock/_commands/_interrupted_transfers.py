"""``penstock transfers``: the interrupted transfers of ``--resume``."""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

from .. import _argument_values
from .._checkpoint_cli._output import one_line, time_text
from .._exceptions import S3Exception
from . import _options, _state_files
from ._report import Report, json_line, write_line

if TYPE_CHECKING:
    from .._client import S3Client


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--discard", action="store_true", help="abort their uploads, and remove their partial files and states")
    parser.add_argument("--older-than", type=_argument_values.age, metavar="AGE", help="only without progress for 30m, 36h, 7d")
    _options.add_output(parser, progress=False)
    _options.add_connection(parser)


def run(options: argparse.Namespace) -> int:
    report = Report(options.command, as_json=options.json)
    before = None if options.older_than is None else time.time() - options.older_than
    clients: dict[tuple[str | None, str | None], S3Client] = {}
    for path in _state_files.paths():
        header, changed = _state_files.peek(path)
        if before is not None and changed > before:
            continue
        if options.discard:
            _discard(path, header, report, options, clients)
        elif header:
            _show(header, changed, as_json=options.json)
    return report.finish()


def _show(header: dict[str, Any], changed: float, *, as_json: bool) -> None:
    facts = {name: header.get(name) for name in ("operation", "source", "target", "endpoint", "upload_id", "partial")}
    if as_json:
        write_line(json_line(facts | {"started": header["started"], "changed": int(changed)}))
    else:
        names = one_line(f"{header['source']} to {header['target']}")
        write_line(f"{time_text(int(changed))}  {header['operation']}: {names}")


def _discard(
    path: str,
    header: dict[str, Any],
    report: Report,
    options: argparse.Namespace,
    clients: dict[tuple[str | None, str | None], S3Client],
) -> None:
    from ._resumable_common import discard

    names = header.get("source", os.path.basename(path)), header.get("target")  # noqa: PTH119
    try:
        state = _state_files.State(path)
    except _state_files.Busy as error:
        report.skipped("discard", names[0], str(error), names[1])
        return
    try:
        service = state.header.get("endpoint"), state.header.get("profile")
        if service not in clients:
            connection = vars(options) | {
                "endpoint_url": options.endpoint_url or service[0] or None,
                "profile": options.profile or service[1] or None,
            }
            clients[service] = _options.client_of(argparse.Namespace(**connection))
        discard(clients[service], state)
        state.remove()
    except (S3Exception, OSError) as error:
        report.failed("discard", *names, error)
    else:
        report.done("discard", *names)
    finally:
        state.close()
