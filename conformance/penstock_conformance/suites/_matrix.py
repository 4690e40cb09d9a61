"""The fault matrix as a suite: one check per operation of Penstock's client and object size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from .._bench import Bench
from .._suite import Check, Suite, Trial
from .._verdict import NotRun

SAMPLE = 8  # cells per operation and size, unless the run is thorough

suite = Suite(
    "matrix",
    "The client under every fault",
    "Injects every fault of the emulator into every request of every operation of Penstock's client, with emulators of its "
    "own. Expected: correct data or one clear error in time, no partial objects, no uploads left open.",
)


@suite.generate
def _checks(bench: Bench) -> Iterator[Check]:
    del bench
    from ..matrix.lanes import every_operation

    for operation in every_operation():
        for size in operation.sizes:
            name = re.sub("[^a-z]+", "-", operation.name.lower()).strip("-")
            yield Check(
                f"{name}-{size}", f"{operation.name}, {size}: correct result or one clear error", _of(operation.name, size)
            )


def _of(name: str, size: str) -> Callable[[Trial], None]:
    def run(trial: Trial) -> None:
        if trial.client.name != "penstock":
            raise NotRun("supports only Penstock's client")
        from ..matrix import judge, lanes, report

        [operation] = [one for one in lanes.every_operation() if one.name == name]
        cells = [cell for cell in lanes.plan([operation]) if cell.size == size]
        chosen = trial.sample(cells, SAMPLE)
        outcomes = lanes.run_cells(chosen)
        for outcome in report.defects(outcomes):
            trial.expect(False, f"{outcome.verdict}: {outcome.cell}: {outcome.note}")
        counts = Counter(outcome.verdict for outcome in outcomes)
        trial.evidence(
            summary=report.summary(chosen, outcomes),
            cells=[[outcome.cell, outcome.verdict, outcome.fired, outcome.requests, outcome.note] for outcome in outcomes],
        )
        trial.table(f"{name}, {size}", ["verdict", "cells"], [[v, counts[v]] for v in judge.VERDICTS if counts[v]])

    return run
