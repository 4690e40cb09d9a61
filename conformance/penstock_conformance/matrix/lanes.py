"""Runs many cells, in one process or several. The cells of an operation share an emulator; each connection fault has its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from .actions import Action, every_action
from .cells import CONNECTION, Cell, cells_of, traffic
from .judge import Outcome, run_cell
from .trials import Environment, Operation

FRESH_AFTER = 50  # cells per emulator


def every_operation() -> tuple[Operation, ...]:
    """All operations of the matrix."""
    from . import directory_operations, operations, training

    return (*operations.OPERATIONS, *training.OPERATIONS, *directory_operations.OPERATIONS)


def plan(operations: Sequence[Operation], actions: Sequence[Action] | None = None, *, product: bool = False) -> list[Cell]:
    """The cells of these operations (see `cells_of`). Runs each operation once without faults to record its requests."""
    actions = actions or every_action()
    cells: list[Cell] = []
    with Environment(ATTEMPTS_WITHOUT_FAULTS) as environment:
        for operation in operations:
            for size in operation.sizes:
                cells += cells_of(operation, size, traffic(environment, operation, size), actions, product=product)
    return cells


ATTEMPTS_WITHOUT_FAULTS = 10


def run_cells(cells: Sequence[Cell], on_outcome: Callable[[Outcome], None] = lambda outcome: None) -> list[Outcome]:
    """Runs cells in this process, grouped by operation and size."""
    outcomes = []
    for outcome in _outcomes(cells):
        on_outcome(outcome)
        outcomes.append(outcome)
    return outcomes


def run_in_processes(cells: Sequence[Cell], processes: int, on_outcome: Callable[[Outcome], None]) -> list[Outcome]:
    """Runs cells in several processes."""
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_cells, group) for group in _groups(cells)]):
            for outcome in future.result():
                on_outcome(outcome)
                outcomes.append(outcome)
    return outcomes


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    by_name: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_name.setdefault((cell.operation, cell.size), []).append(cell)
    return [group[i : i + FRESH_AFTER] for group in by_name.values() for i in range(0, len(group), FRESH_AFTER)]


def _outcomes(cells: Sequence[Cell]) -> Iterator[Outcome]:
    known = {operation.name: operation for operation in every_operation()}
    for group in _groups(cells):
        yield from _of_requests([cell for cell in group if cell.target != CONNECTION], known)
        yield from _of_connections([cell for cell in group if cell.target == CONNECTION], known)


def _of_requests(cells: Sequence[Cell], known: dict[str, Operation]) -> Iterator[Outcome]:
    environment = None
    for cell in cells:
        environment = environment or Environment(ATTEMPTS_WITHOUT_FAULTS)
        outcome = run_cell(environment, known[cell.operation], cell)
        yield outcome
        if outcome.verdict == "hang":
            environment = None  # the hung operation still uses it
    if environment is not None:
        environment.emulator.stop()


def _of_connections(cells: Sequence[Cell], known: dict[str, Operation]) -> Iterator[Outcome]:
    """Each cell has a new emulator, to which the client has no open connection."""
    for cell in cells:
        with Environment(ATTEMPTS_WITHOUT_FAULTS) as environment:
            yield run_cell(environment, known[cell.operation], cell)
