"""Runs the fault matrix, or a part of it, in parallel processes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from .._report import check_writable
from .actions import every_action
from .cells import may_name_a_cell, sample
from .judge import Outcome
from .lanes import every_operation, plan, run_in_processes
from .report import as_html, as_json, as_markdown, defects
from .trials import Operation


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 if no cell has a defect, 1 if one has. Exits with 1 on an error, 2 for wrong arguments."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        chosen = _operations(options.operation)
        for path in filter(None, (options.json, options.markdown, options.html, options.resume)):
            check_writable(Path(path))
        if not may_name_a_cell(options.cell, chosen, every_action()):
            raise ValueError(f"no cell name contains {options.cell!r}")  # before the operations run to find the cells
        earlier = _earlier_outcomes(options.resume)
    except (ValueError, OSError) as error:
        parser.exit(1 if isinstance(error, OSError) else 2, f"{parser.prog}: error: {error}\n")
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    cells = [cell for cell in plan(chosen, product=options.product) if options.cell in cell.name]
    if options.sample:
        cells = sample(cells, options.sample, options.seed)
    if not cells:
        parser.error(f"no cell name contains {options.cell!r}")
    wanted = {cell.name for cell in cells}
    began, outcomes = time.monotonic(), [outcome for outcome in earlier if outcome.cell in wanted]
    done = {outcome.cell for outcome in outcomes}
    with Path(options.resume or os.devnull).open("a", encoding="utf-8") as log:

        def record(outcome: Outcome) -> None:
            log.write(json.dumps(vars(outcome)) + "\n")
            log.flush()
            for each in defects([outcome]):
                print(f"{each.verdict}: {each.cell}\n    {each.note}", flush=True)

        outcomes += run_in_processes([cell for cell in cells if cell.name not in done], options.processes, record)
    print(as_markdown(cells, outcomes) + f"\n{time.monotonic() - began:.0f} s in {options.processes} processes")
    for path, text in ((options.json, as_json), (options.markdown, as_markdown), (options.html, as_html)):
        if path:
            Path(path).write_text(text(cells, outcomes), encoding="utf-8")
    return 1 if defects(outcomes) else 0


def _operations(names: Sequence[str] | None) -> list[Operation]:
    known = every_operation()
    unknown = sorted(set(names or ()) - {one.name for one in known})
    if unknown:
        names_of_all = ", ".join(one.name for one in known)
        raise ValueError(f"unknown operation {', '.join(map(repr, unknown))}: expected {names_of_all}")
    return [one for one in known if not names or one.name in names]


def _earlier_outcomes(path: str | None) -> list[Outcome]:
    """Reads the outcomes of an earlier run. Removes an incomplete last line, which a killed run can leave.

    Raises:
        ValueError: another line is not an outcome.
        OSError: the file cannot be read or written.
    """
    if not path or not Path(path).exists():
        return []
    text = Path(path).read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        Path(path).write_text(whole, encoding="utf-8")
        print(f"the last line of '{path}' is incomplete; its cell runs again", file=sys.stderr)
    return [_outcome(line, f"line {number} of '{path}'") for number, line in enumerate(whole.splitlines(), 1)]


def _outcome(line: str, where: str) -> Outcome:
    try:
        return Outcome(**json.loads(line))
    except (ValueError, TypeError):
        raise ValueError(f"{where} is not an outcome; remove it, or give --resume another file") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"invalid count '{text}': expected a number of at least 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m penstock_conformance.matrix", description=__doc__)
    add = parser.add_argument
    add("--operation", action="append", metavar="NAME", help="only this operation of the client; can be repeated")
    add("--cell", default="", metavar="TEXT", help="only cells whose name contains TEXT")
    add("--product", action="store_true", help="each value of each fault parameter at each request")
    add(
        "--sample",
        type=_count,
        metavar="N",
        help="a sample of N cells, with each fault and each request of each operation at least once",
    )
    add("--seed", type=int, default=1, metavar="N", help="seed of the sample")
    add("--processes", type=_count, default=os.cpu_count() or 1, metavar="N", help="number of processes; default: one per CPU")
    add("--resume", metavar="FILE", help="append outcomes to FILE, and skip the cells that it contains")
    add("--json", metavar="FILE", help="write all outcomes as JSON")
    add("--markdown", metavar="FILE", help="write tables in Markdown")
    add("--html", metavar="FILE", help="write a page with a table of faults and operations")
    return parser


if __name__ == "__main__":
    sys.exit(main())
