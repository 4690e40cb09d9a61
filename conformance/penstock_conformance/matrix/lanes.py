"""Runs many cells, in processes beside each other: an operation at a time on one emulator, connections' faults on their own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from .actions import Action, every_action
from .cells import CONNECTION, Cell, cells_of, traffic
from .judge import Outcome, run_cell
from .trials import Operation, World

FRESH_AFTER = 50  # cells of one emulator


def every_operation() -> tuple[Operation, ...]:
    """All operations that the matrix knows."""
    from . import directory_operations, operations, training

    return (*operations.OPERATIONS, *training.OPERATIONS, *directory_operations.OPERATIONS)


def plan(operations: Sequence[Operation], actions: Sequence[Action] | None = None, *, product: bool = False) -> list[Cell]:
    """The cells of these operations, as `cells_of` has them; runs each operation once to see what it asks for."""
    actions = actions or every_action()
    cells: list[Cell] = []
    with World(ATTEMPTS_WITHOUT_FAULTS) as world:
        for operation in operations:
            for size in operation.sizes:
                cells += cells_of(operation, size, traffic(world, operation, size), actions, product=product)
    return cells


ATTEMPTS_WITHOUT_FAULTS = 10


def run_cells(cells: Sequence[Cell], tell: Callable[[Outcome], None] = lambda outcome: None) -> list[Outcome]:
    """Runs cells in this process, those of one operation, size and plane together."""
    outcomes = []
    for outcome in _outcomes(cells):
        tell(outcome)
        outcomes.append(outcome)
    return outcomes


def run_in_processes(cells: Sequence[Cell], processes: int, tell: Callable[[Outcome], None]) -> list[Outcome]:
    """As `run_cells`, in so many processes."""
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run_cells, group) for group in _groups(cells)]):
            for outcome in future.result():
                tell(outcome)
                outcomes.append(outcome)
    return outcomes


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    by_name: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        by_name.setdefault((cell.operation, cell.size, cell.plane), []).append(cell)
    return [group[i : i + FRESH_AFTER] for group in by_name.values() for i in range(0, len(group), FRESH_AFTER)]


def _outcomes(cells: Sequence[Cell]) -> Iterator[Outcome]:
    known = {operation.name: operation for operation in every_operation()}
    plane_before = os.environ.get("PENSTOCK_DATA_PLANE")
    try:
        for group in _groups(cells):
            os.environ["PENSTOCK_DATA_PLANE"] = group[0].plane
            yield from _of_requests([cell for cell in group if cell.target != CONNECTION], known)
            yield from _of_connections([cell for cell in group if cell.target == CONNECTION], known)
    finally:
        if plane_before is None:
            os.environ.pop("PENSTOCK_DATA_PLANE", None)
        else:
            os.environ["PENSTOCK_DATA_PLANE"] = plane_before


def _of_requests(cells: Sequence[Cell], known: dict[str, Operation]) -> Iterator[Outcome]:
    world = None
    for cell in cells:
        world = world or World(ATTEMPTS_WITHOUT_FAULTS)
        outcome = run_cell(world, known[cell.operation], cell)
        yield outcome
        if outcome.verdict == "hang":
            world = None  # somebody is still in there
    if world is not None:
        world.emulator.stop()


def _of_connections(cells: Sequence[Cell], known: dict[str, Operation]) -> Iterator[Outcome]:
    """Each on a port of its own, to which no connection is kept."""
    for cell in cells:
        with World(ATTEMPTS_WITHOUT_FAULTS) as world:
            yield run_cell(world, known[cell.operation], cell)
