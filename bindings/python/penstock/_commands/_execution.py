"""Executes what a command has planned."""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._exceptions import S3Exception
from . import Abandoned, ends_soon
from ._plan import Entry, Transfer
from ._pool import LIMIT, MAX_WEIGHT, Pool, Stopped, Work, weight_of
from ._progress_meter import Meter
from ._report import Report, error_text
from ._resumable_common import Progress
from ._small_downloads import QUEUE, Ended, SmallDownloads
from ._transfers import Skipped, Transfers, remove_partial_files
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import ObjectToDelete

DELETE_AT_ONCE = 1000  # S3's limit of DeleteObjects
DELETION_DELAYS_S = (0.5, 1.0, 2.0)  # longest waits before a deletion is tried again; the wait is random
TRANSIENT = {"InternalError", "ServiceUnavailable", "SlowDown"}  # codes of single keys


def _attempts() -> int:
    """Returns the number of attempts that the environment allows. The client has checked it."""
    return int(os.environ.get("AWS_MAX_ATTEMPTS") or len(DELETION_DELAYS_S) + 1)


Run = Callable[[Progress], dict[str, Any]]  # a transfer; returns facts for the report


def _raise(error: Exception, progress: Progress) -> dict[str, Any]:
    del progress
    raise error


def _end_move(transfers: Transfers, ended: Ended, progress: Progress) -> dict[str, Any]:
    return transfers.end_move(ended.transfer, ended.result(progress))


class _Listed:
    """A plan that ends where its listing fails, so that the transfers before it are made.

    Attributes:
        failure: Why the listing failed; None: it has not failed.
    """

    def __init__(self, plan: Iterable[Transfer]) -> None:
        self._plan = plan
        self.failure: S3Exception | OSError | None = None

    def __iter__(self) -> Iterator[Transfer]:
        try:
            yield from self._plan
        except (S3Exception, OSError) as error:
            self.failure = error


class Execution:
    """One run of a command: client, report and threads.

    Args:
        options: Of :func:`_options.add_connection` and :func:`_options.add_output`.
    """

    def __init__(self, client: S3Client, options: argparse.Namespace) -> None:
        self.client = client
        shown = not (options.quiet or options.no_progress or options.json or options.dry_run) and sys.stderr.isatty()
        self._meter = Meter() if shown else None
        self.report = Report(
            options.command, as_json=options.json, quiet=options.quiet, dry_run=options.dry_run, meter=self._meter
        )
        self._limit: int = options.jobs or LIMIT
        self._in_progress: set[Transfer] = set()
        self._left: deque[tuple[int, Work]] = deque()  # work for the pool

    def on_problem(self, operation: str) -> Callable[[str, str, bool], None]:
        """Returns the receiver of the problems of a listing of files."""

        def report(path: str, text: str, failed: bool) -> None:
            if failed:
                self.report.failed(operation, path, None, text)
            else:
                self.report.skipped(operation, path, text)

        return report

    # ---- transfers

    def transfer(self, plan: Iterable[Transfer], transfers: Transfers, *, single: bool = False) -> None:
        """Makes transfers, or prints them (dry run). The failure of one does not end the others.

        Args:
            plan: The transfers. If it raises, those before are made first.
            single: There is only one: make it on this thread, which Ctrl-C interrupts at once.

        Raises:
            S3Exception: The listing of `plan` failed.
            OSError: The same.
        """
        if single:
            if self._meter is not None:
                self._meter.planning = False
            for transfer in plan:
                for _, work in self._work(transfer, transfers, None):
                    work()
            return
        small = SmallDownloads(self.client, self._limit, transfers.settings)
        pool = Pool(
            self._limit, partial(self._abandon, transfers), lambda: self._end_small(small.take(wait=False), transfers, pool)
        )
        listed = _Listed(plan)
        pool.run(self._works(listed, transfers, pool, small))
        if listed.failure is not None:
            raise listed.failure

    def _abandon(self, transfers: Transfers) -> bool:
        """Removes partial files, unless a transfer in progress must first abort an upload in S3."""
        in_progress = list(self._in_progress)
        if any(transfers.must_end(transfer) for transfer in in_progress):
            return False
        for transfer in in_progress:
            if isinstance(transfer.target, str):
                remove_partial_files(transfer.target)
        return True

    def _works(
        self, plan: Iterable[Transfer], transfers: Transfers, pool: Pool, small: SmallDownloads
    ) -> Generator[tuple[int, Work]]:
        """Makes the small downloads, and yields the work of the other transfers."""
        try:
            for transfer in plan:
                if not self.report.dry_run and small.takes(transfer):
                    self._start_small(transfer, transfers, small)
                    if small.pending >= QUEUE:
                        self._end_small(small.take(wait=True), transfers, pool)
                else:
                    self._left += self._work(transfer, transfers, pool)
                yield from self._yield_left(small, pool)
            if self._meter is not None:
                self._meter.planning = False
            while small.pending:
                self._end_small(small.take(wait=True), transfers, pool)
                yield from self._yield_left(small, pool)
        finally:
            last = [ended for ended in small.close() if ended.error is None and not ended.transfer.move]
            if last and not ends_soon(partial(self._end_small, iter(last), transfers, pool)):
                raise Abandoned

    def _yield_left(self, small: SmallDownloads, pool: Pool) -> Iterator[tuple[int, Work]]:
        """Yields the work for the pool. The requests of small downloads and of the pool share the limit."""
        while self._left:
            weight, work = self._left.popleft()
            small.set_parallel(max(1, self._limit - pool.weight - weight))
            yield weight, work
        small.set_parallel(max(1, self._limit - pool.weight))

    def _start_small(self, transfer: Transfer, transfers: Transfers, small: SmallDownloads) -> None:
        """Starts a small download, or reports why it cannot be made."""
        self._plan(transfer)
        try:
            transfers.prepare_download(transfer)
        except (Skipped, OSError) as error:
            self._make(transfer, partial(_raise, error), None)
        else:
            small.add(transfer)

    def _end_small(self, results: Iterator[Ended], transfers: Transfers, pool: Pool) -> None:
        """Reports small downloads, and leaves the rest of their work to the pool."""
        for ended in results:
            transfer = ended.transfer
            if ended.needs_own_download:  # download the object that the key has now
                work = partial(self._make, transfer, partial(transfers.run, transfer), pool)
                self._left.append((weight_of(transfer.entry.size), work))
            elif transfer.move and ended.error is None:
                self._left.append((1, partial(self._make, transfer, partial(_end_move, transfers, ended), pool)))
            else:
                self._make(transfer, ended.result, None)

    def _plan(self, transfer: Transfer) -> None:
        if self._meter is not None:
            self._meter.plan(transfer.entry.size)

    def _work(self, transfer: Transfer, transfers: Transfers, pool: Pool | None) -> Iterator[tuple[int, Work]]:
        """Yields the work of a transfer, or does it if it sends no request (dry run)."""
        run = partial(transfers.preview, transfer) if self.report.dry_run else partial(transfers.run, transfer)
        if self.report.dry_run and not transfers.asks_before(transfer):
            self._make(transfer, run, pool)
            return
        self._plan(transfer)
        yield weight_of(transfer.entry.size), partial(self._make, transfer, run, pool)

    def _make(self, transfer: Transfer, run: Run, pool: Pool | None) -> None:
        """Runs a transfer, and reports its result."""
        source, target, counted = transfer.entry.place, transfer.target, 0

        def progress(done: int, total: int | None) -> None:
            nonlocal counted
            del total
            if pool is not None and pool.stopping.is_set():
                raise Stopped
            if self._meter is not None:
                self._meter.add(done - counted)
                counted = done

        facts: dict[str, Any] | None = None
        self._in_progress.add(transfer)
        try:
            facts = run(progress)
        except Skipped as reason:
            if str(reason):
                self.report.skipped(transfer.operation, source, str(reason), target)
        except (S3Exception, OSError) as error:
            self.report.failed(transfer.operation, source, target, error)
        finally:
            self._in_progress.discard(transfer)
        if self._meter is not None:
            self._meter.add((transfer.entry.size if facts is not None else 0) - counted)
            self._meter.end_file()
        if facts is not None:
            self.report.done(transfer.operation, source, target, **facts)

    # ---- deletions

    def delete(self, entries: Iterable[Entry], *, bypass_governance_retention: bool = False) -> None:
        """Deletes files and objects, or prints them (dry run)."""
        pool = Pool(self._limit)
        pool.run(self._deletions(iter(entries), bypass_governance_retention, pool))

    def _deletions(self, entries: Iterator[Entry], bypass: bool, pool: Pool) -> Generator[tuple[int, Work]]:
        while batch := list(islice(entries, DELETE_AT_ONCE)):
            if self.report.dry_run:
                for entry in batch:
                    self.report.done("delete", entry.place, size=entry.size, version_id=entry.version_id)
                continue
            by_bucket: dict[str, list[Entry]] = {}
            for entry in batch:
                if isinstance(entry.place, S3Url):
                    by_bucket.setdefault(entry.place.bucket, []).append(entry)
                else:
                    self._delete_file(entry.place)
            for bucket, found in by_bucket.items():
                yield MAX_WEIGHT, partial(self._delete_objects, bucket, found, bypass, pool)

    def _delete_file(self, path: str) -> None:
        try:
            os.unlink(path)  # noqa: PTH108
        except OSError as error:
            self.report.failed("delete", path, None, error)
        else:
            self.report.done("delete", path)

    def _delete_objects(self, bucket: str, entries: list[Entry], bypass: bool, pool: Pool) -> None:
        """Deletes up to 1,000 objects. Those for which the service was only overloaded are tried again."""
        for delay in (*DELETION_DELAYS_S[: _attempts() - 1], None):
            entries = self._delete_once(bucket, entries, bypass, again=delay is not None)
            if not entries:
                return
            if pool.stopping.wait(random.uniform(0, delay or 0)):
                raise Stopped

    def _delete_once(self, bucket: str, entries: list[Entry], bypass: bool, *, again: bool) -> list[Entry]:
        """Sends one request, and reports its results.

        Args:
            again: Do not report failures that may be over soon.

        Returns:
            Their entries.
        """
        from ..requests import ObjectToDelete

        keys = [entry.place.key for entry in entries if isinstance(entry.place, S3Url)]
        wanted: list[str | ObjectToDelete] = [
            ObjectToDelete(key, entry.version_id) if entry.version_id else key for key, entry in zip(keys, entries, strict=True)
        ]
        try:
            result = self.client.delete_objects(bucket, wanted, bypass_governance_retention=bypass)
        except S3Exception as error:
            for entry in entries:
                self.report.failed("delete", entry.place, None, error, entry.version_id)
            return []
        failures = {(each.key, each.version_id or None): each for each in result.failures}
        left = []
        for key, entry in zip(keys, entries, strict=True):
            failure = failures.get((key, entry.version_id))
            if failure is None:
                self.report.done("delete", entry.place, version_id=entry.version_id)
            elif again and failure.code in TRANSIENT:
                left.append(entry)
            else:
                self.report.failed("delete", entry.place, None, f"{failure.message} ({failure.code})", entry.version_id)
        return left


__all__ = ["Execution", "error_text"]
