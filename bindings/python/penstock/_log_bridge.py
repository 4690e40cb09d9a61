"""Log lines of the core as records of Python's ``logging``."""

from __future__ import annotations

import json
import logging

from . import _core, _events
from ._exceptions import S3InvalidArgumentError

LOGGER = "penstock.client"

_logger = logging.getLogger(LOGGER)

# By LogLevel of penstock/base/log.h.
_LEVELS = (logging.DEBUG, logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_NAMES = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warning", logging.ERROR: "error"}


def enable_logging(level: str = "info") -> None:
    """Sends the log of all clients of this process to the logger ``penstock.client``.

    Without this call the log is off, or goes to standard error if ``PENSTOCK_LOG`` is set. The value ``logging`` of that variable
    has the effect of this call when the package is imported. Another value is a level, which replaces `level` when a client is
    made.

    The level and the handlers of Python's loggers apply too: Python shows nothing below a warning before a call such as
    ``logging.basicConfig(level=logging.INFO)``.

    The message of a record is the event and its fields, ``request.retry operation=GetObject bucket=data …``. The record has them
    also as attributes: ``event``, and ``fields``, a dict. Secrets are replaced by ``***``.

    Records are delivered by the thread ``penstock-events``, which also calls observers. A slow handler therefore does not delay
    transfers. If 16,384 events wait, further lines are dropped; a warning ``log.dropped`` has their number. ``flush_events()``
    waits for records. A forked child logs too; a spawned process must call this function, or have
    ``PENSTOCK_LOG=logging``.

    Args:
        level: ``"debug"`` (every attempt), ``"info"`` (clients, and failures that programs expect), ``"warning"`` (retries),
            ``"error"`` (failed calls) or ``"off"``, which ends the delivery.

    Raises:
        S3InvalidArgumentError: `level` is another value. Also a ValueError.
    """
    if level not in (*_NAMES.values(), "off"):
        raise S3InvalidArgumentError(f'level must be "debug", "info", "warning", "error" or "off", not {level!r}')
    if level != "off":
        _events.handle_log(_handle)
    _core.log_to_python(level, level != "off")


def _handle(level: int, logged: float, line: str) -> None:
    if dropped := _core.take_dropped_lines():
        _emit(logging.WARNING, logged, {"event": "log.dropped", "lines": dropped})
    _emit(_LEVELS[level], logged, json.loads(line))


def _emit(level: int, logged: float, line: dict[str, object]) -> None:
    if not _logger.isEnabledFor(level):
        return
    line.pop("level", None)
    event = line.pop("event")
    message = " ".join([str(event), *(f"{name}={_text(value)}" for name, value in line.items())])
    record = _logger.makeRecord(LOGGER, level, "penstock", 0, message, (), None, extra={"event": event, "fields": line})
    record.created = logged  # the line may have waited in the queue
    record.msecs = logged % 1 * 1000
    _logger.handle(record)


def _text(value: object) -> str:
    """Quotes a value that is empty, or that would not be one word on one line."""
    text = str(value)
    return text if text.isprintable() and text and " " not in text and '"' not in text else json.dumps(text)
