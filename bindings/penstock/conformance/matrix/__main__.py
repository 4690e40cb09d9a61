"""``python -m penstock.conformance.matrix``: the whole matrix, or some of its cells, in processes beside each other."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
import warnings
from pathlib import Path

from .cells import Cell, sample
from .judge import Outcome
from .lanes import every_operation, plan, run_in_processes
from .report import as_html, as_json, as_markdown, defects


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 where a cell is a defect."""
    options = _parser().parse_args(arguments)
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    known = [one for one in every_operation() if not options.operation or one.name in options.operation]
    cells = [cell for cell in plan(known, product=options.product) if options.cell in cell.name]
    if options.sample:
        cells = sample(cells, options.sample, options.seed)
    if not cells:
        print(f"no cell's name contains {options.cell!r}", file=sys.stderr)
        return 2
    began, outcomes = time.monotonic(), _before(options.resume, cells)
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


def _before(path: str | None, cells: list[Cell]) -> list[Outcome]:
    if not path or not Path(path).exists():
        return []
    wanted = {cell.name for cell in cells}
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [outcome for outcome in (Outcome(**json.loads(line)) for line in lines) if outcome.cell in wanted]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m penstock.conformance.matrix", description=__doc__)
    add = parser.add_argument
    add("--operation", action="append", metavar="NAME", help="only these operations of the client")
    add("--cell", default="", metavar="TEXT", help="only cells whose name contains this")
    add("--product", action="store_true", help="every value of every parameter at every request")
    add("--sample", type=int, metavar="N", help="about so many cells")
    add("--seed", type=int, default=1, metavar="N", help="of the sample")
    add("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    add("--resume", metavar="FILE", help="keep what was run here, and do not run again what is there")
    add("--json", metavar="FILE")
    add("--markdown", metavar="FILE")
    add("--html", metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
