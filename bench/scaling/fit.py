"""Fits of the points of an axis, and what follows from them. Pure arithmetic."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

MIN_POINTS = 3  # of a fit of the universal scalability law, within the cores


@dataclasses.dataclass(frozen=True)
class Line:
    """y = at_one x (1 + growth x (n - 1)): `growth` is the relative increase for each further thread, process or rank."""

    at_one: float
    growth: float

    def at(self, n: float) -> float:
        return self.at_one * (1 + self.growth * (n - 1))


@dataclasses.dataclass(frozen=True)
class Usl:
    """The universal scalability law: X(n) = rate x n / (1 + contention x (n - 1) + coherency x n x (n - 1)).

    N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007, chapter 4. With coherency 0 it is Amdahl's law.
    """

    rate: float
    contention: float
    coherency: float

    def at(self, n: float) -> float:
        return self.rate * n / (1 + self.contention * (n - 1) + self.coherency * n * (n - 1))

    @property
    def peak(self) -> float:
        """The n with the largest rate; infinite if more of it always helps."""
        return math.sqrt((1 - self.contention) / self.coherency) if self.coherency > 0 and self.contention < 1 else math.inf

    @property
    def limit(self) -> float:
        """The rate that no n exceeds."""
        if self.coherency > 0:
            return self.at(max(1.0, self.peak if self.contention < 1 else 1.0))
        return self.rate / self.contention if self.contention > 0 else math.inf


def _least_squares(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Returns (intercept, slope). Requires two different xs."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    return mean_y - slope * mean_x, slope


def line(points: Sequence[tuple[int, float]]) -> Line | None:
    """Fits a line by least squares. None: fewer than two points, or a value of 0 at n = 1."""
    if len({n for n, _ in points}) < 2:
        return None
    at_one, slope = _least_squares([n - 1 for n, _ in points], [value for _, value in points])
    return Line(at_one, slope / at_one) if at_one > 0 else None


def usl(points: Sequence[tuple[int, float]], cores: int) -> Usl | None:
    """Fits the law to the rates at n <= `cores`, relative to the first of them. None: fewer than MIN_POINTS.

    A point beyond the cores shows that there are no more cores, not that the program does not scale.
    """
    within = sorted((n, rate) for n, rate in points if n <= cores and rate > 0)
    if len(within) < MIN_POINTS or within[0][0] != 1:
        return None
    rate = within[0][1]
    # n x rate / X(n) - 1 = (n - 1) x (contention + coherency x n), so the quotient by n - 1 is a line.
    losses = [(n * rate / measured - 1) / (n - 1) for n, measured in within[1:]]
    contention, coherency = _least_squares([n for n, _ in within[1:]], losses)
    if coherency < 0:  # noise, or Amdahl's law
        contention, coherency = sum(losses) / len(losses), 0.0
    return Usl(rate, max(0.0, contention), coherency)


def serial_limit(rate: float, busiest: float) -> float:
    """The rate that is never exceeded while one thread does the share of the work that it did here.

    `busiest` is that thread's CPU time per second at `rate`. The utilization law, U = X x D: P. J. Denning and J. P. Buzen, "The
    Operational Analysis of Queueing Network Models", ACM Computing Surveys 10 (3), 1978.
    """
    return rate / busiest if busiest > 0 else math.inf
