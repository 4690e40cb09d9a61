"""``python -m penstock_conformance.matrix``: the whole matrix, or some of its cells, in processes beside each other."""

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
from .cells import sample
from .judge import Outcome
from .lanes import every_operation, plan, run_in_processes
from .report import as_html, as_json, as_markdown, defects
from .trials import Operation


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 where a cell is a defect, 2 for an error."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        chosen = _operations(options.operation)
        for path in filter(None, (options.json, options.markdown, options.html, options.resume)):
            check_writable(Path(path))
        before = _before(options.resume)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    cells = [cell for cell in plan(chosen, product=options.product) if options.cell in cell.name]
    if options.sample:
        cells = sample(cells, options.sample, options.seed)
    if not cells:
        parser.error(f"no cell's name contains {options.cell!r}")
    wanted = {cell.name for cell in cells}
    began, outcomes = time.monotonic(), [outcome for outcome in before if outcome.cell in wanted]
    done = {outcome.cell for outcome in outcomes}
    with Path(options.resume or os.devnull).open("a", encoding="utf-8") as log:

        def tell(outcome: Outcome) -> None:
            log.write(json.dumps(vars(outcome)) + "\n")
            log.flush()
            for each in defects([outcome]):
                print(f"{each.verdict}: {each.cell}\n    {each.note}", flush=True)

        outcomes += run_in_processes([cell for cell in cells if cell.name not in done], options.processes, tell)
    print(as_markdown(cells, outcomes) + f"\n{time.monotonic() - began:.0f} s in {options.processes} processes")
    for path, text in ((options.json, as_json), (options.markdown, as_markdown), (options.html, as_html)):
        if path:
            Path(path).write_text(text(cells, outcomes), encoding="utf-8")
    return 1 if defects(outcomes) else 0


def _operations(names: Sequence[str] | None) -> list[Operation]:
    known = every_operation()
    unknown = sorted(set(names or ()) - {one.name for one in known})
    if unknown:
        there = ", ".join(one.name for one in known)
        raise ValueError(f"{', '.join(map(repr, unknown))} is no operation; --operation takes {there}")
    return [one for one in known if not names or one.name in names]


def _before(path: str | None) -> list[Outcome]:
    """What an earlier run has kept. A last line that was not written to its end, as when a run is killed, goes.

    Raises:
        ValueError: another line is no outcome.
        OSError: the file cannot be read or written.
    """
    if not path or not Path(path).exists():
        return []
    text = Path(path).read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        Path(path).write_text(whole, encoding="utf-8")
        print(f"the last line of '{path}' was not written to its end; its cell is run again", file=sys.stderr)
    return [_outcome(line, f"line {number} of '{path}'") for number, line in enumerate(whole.splitlines(), 1)]


def _outcome(line: str, where: str) -> Outcome:
    try:
        return Outcome(**json.loads(line))
    except (ValueError, TypeError):
        raise ValueError(f"{where} is no outcome of a cell; take it out, or give --resume another file") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no count; it takes 1 or more")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m penstock_conformance.matrix", description=__doc__)
    add = parser.add_argument
    add("--operation", action="append", metavar="NAME", help="only these operations of the client")
    add("--cell", default="", metavar="TEXT", help="only cells whose name contains this")
    add("--product", action="store_true", help="every value of every parameter at every request")
    add(
        "--sample",
        type=_count,
        metavar="N",
        help="so many cells, but at least one of each fault and of each request of each operation",
    )
    add("--seed", type=int, default=1, metavar="N", help="of the sample")
    add("--processes", type=_count, default=os.cpu_count() or 1, metavar="N")
    add("--resume", metavar="FILE", help="keep what was run here, and do not run again what is there")
    add("--json", metavar="FILE")
    add("--markdown", metavar="FILE")
    add("--html", metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
