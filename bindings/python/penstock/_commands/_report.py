"""Output of a command: a line per file, errors, a summary, and the exit status. Safe from any thread."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from .._checkpoint_cli._output import many, one_line
from ._urls import Place

if TYPE_CHECKING:
    from ._progress_meter import Meter


def write_line(text: str) -> None:
    """Writes a line to standard output. Characters of keys that its encoding lacks are escaped."""
    try:
        sys.stdout.write(text + "\n")
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def json_line(document: dict[str, Any]) -> str:
    """Formats a JSON object as one line of ASCII. None values are left out."""
    import json

    return json.dumps({name: value for name, value in document.items() if value is not None}, ensure_ascii=True)


def error_text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.strerror}: {error.filename!r}"
    return str(error) or type(error).__name__


def _places(source: Place, target: Place | None, version_id: str | None) -> str:
    version = "" if version_id is None else f" (version {version_id})"
    return one_line(str(source)) + version + ("" if target is None else f" to {one_line(str(target))}")


class Report:
    """Prints and counts the results of a command.

    Args:
        command: Name of the command, for messages.
        as_json: Write one JSON object per line.
        quiet: Write errors only.
        dry_run: Say what would be done.
        meter: Shows the progress; None: it is not shown.
    """

    def __init__(
        self, command: str, *, as_json: bool = False, quiet: bool = False, dry_run: bool = False, meter: Meter | None = None
    ) -> None:
        self.dry_run = dry_run
        self.done_count = 0
        self.failed_count = 0
        self.skipped_count = 0
        self._command = command
        self._json = as_json
        self._quiet = quiet
        self._meter = meter
        self._lock = threading.Lock()

    def done(self, operation: str, source: Place, target: Place | None = None, **facts: Any) -> None:
        """Reports a success: ``upload: a.txt to s3://bucket/a.txt``.

        Args:
            facts: More members of the JSON document. A deletion's line also has its `version_id`.
        """
        if etag := facts.get("etag"):
            facts["etag"] = etag.strip('"')
        with self._lock:
            self.done_count += 1
            if self._quiet:
                return
            if self._json:
                line = json_line(self._document(operation, source, target) | facts | ({"dry_run": True} if self.dry_run else {}))
            else:
                begin = "(dryrun) " if self.dry_run else ""
                version_id = facts.get("version_id") if operation == "delete" else None
                line = f"{begin}{operation}: {_places(source, target, version_id)}"
            self._hide_meter()
            write_line(line)
            self._show_meter()

    def failed(
        self, operation: str, source: Place, target: Place | None, error: Exception | str, version_id: str | None = None
    ) -> None:
        """Reports the failure of one file or object on standard error. The command goes on, and ends with status 1."""
        text = error if isinstance(error, str) else error_text(error)
        with self._lock:
            self.failed_count += 1
            self._complain("failed", operation, source, target, text, getattr(error, "code", None) or None, version_id)

    def skipped(self, operation: str, source: Place, text: str, target: Place | None = None) -> None:
        """Reports on standard error that a file or object was left out on purpose."""
        with self._lock:
            self.skipped_count += 1
            if not self._quiet:
                self._complain("skipped", operation, source, target, text.removeprefix("skipped: "))

    def note(self, text: str, code: str | None = None) -> None:
        """Writes a message of the whole command to standard error."""
        with self._lock:
            self._hide_meter()
            if self._json:
                print(json_line({"operation": self._command, "error": text, "code": code}), file=sys.stderr)
            else:
                print(f"penstock {self._command}: {text}", file=sys.stderr)
            self._show_meter()

    def finish(self) -> int:
        """Writes the summary if some of several failed. Returns the exit status."""
        if self._meter is not None:
            self._meter.close()
        sys.stdout.flush()
        if not self.failed_count:
            return 0
        if self.failed_count + self.done_count > 1:
            self.note(f"{many(self.failed_count, 'failure')}, {self.done_count:,} succeeded")
        return 1

    def _document(self, operation: str, source: Place, target: Place | None) -> dict[str, Any]:
        return {"operation": operation, "source": str(source), "target": None if target is None else str(target)}

    def _complain(
        self,
        status: str,
        operation: str,
        source: Place,
        target: Place | None,
        text: str,
        code: str | None = None,
        version_id: str | None = None,
    ) -> None:
        self._hide_meter()
        if self._json:
            facts = {"error" if status == "failed" else "skipped": text, "code": code, "version_id": version_id}
            print(json_line(self._document(operation, source, target) | facts), file=sys.stderr)
        else:
            print(f"{operation} {status}: {_places(source, target, version_id)}: {text}", file=sys.stderr)
        self._show_meter()

    def _hide_meter(self) -> None:
        if self._meter is not None:
            self._meter.hide()

    def _show_meter(self) -> None:
        if self._meter is not None:
            self._meter.show()
