"""The file commands of ``penstock``: ``cp``, ``mv``, ``sync``, ``ls``, ``cat``, ``rm``, ``du``, ``mb``, ``rb``, ``stat``,
``presign``, ``transfers`` and ``find``; and ``cache``.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import NamedTuple

__all__ = ["NAMES", "add_commands"]

_EPILOG = (
    "Credentials are taken from the environment, the profile or the instance metadata. Exit status: 0 for success, 1 if a file,"
    " an object or the request failed, 2 for wrong arguments, 130 after Ctrl-C. Examples: docs/reference/command-line.md."
)


class _Command(NamedTuple):
    module: str
    add_options: str
    run: str
    text: str


_COMMANDS = {
    "cp": _Command("_cp", "add_options", "run", "copy files and objects: to S3, from S3 and inside S3"),
    "mv": _Command("_cp", "add_options", "run", "move files and objects: copy each, then delete its source"),
    "sync": _Command("_sync", "add_options", "run", "copy what is new or has changed in a folder"),
    "ls": _Command("_ls", "add_ls_options", "run_ls", "list buckets, objects or versions"),
    "cat": _Command("_object", "add_cat_options", "run_cat", "write objects to standard output"),
    "rm": _Command("_rm", "add_options", "run", "delete objects"),
    "du": _Command("_ls", "add_du_options", "run_du", "sum the sizes of objects"),
    "mb": _Command("_buckets", "add_options", "run", "make buckets"),
    "rb": _Command("_buckets", "add_options", "run", "remove empty buckets"),
    "stat": _Command("_object", "add_stat_options", "run_stat", "print the metadata of objects or buckets"),
    "presign": _Command("_object", "add_presign_options", "run_presign", "print a URL that needs no credentials"),
    "transfers": _Command("_interrupted_transfers", "add_options", "run", "list or discard transfers that --resume can continue"),
    "cache": _Command("_cache", "add_options", "run", "list, count, verify or remove what the node cache has"),
    "find": _Command("_ls", "add_find_options", "run_find", "print the URIs of objects by name, size, age and storage class"),
}
NAMES = tuple(_COMMANDS)

# Standard output has the results of these, not only reports.
_RESULTS = {"ls", "cat", "cache", "du", "stat", "presign", "transfers", "find"}

_INTERRUPTED = 128 + signal.SIGINT
_BROKEN_PIPE = 128 + signal.SIGPIPE
_WRITE_S = 2.0  # for the last output of a command that was interrupted


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP arrived. Ends the command as Ctrl-C does.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


class Abandoned(BaseException):
    """The command ends while work is in progress: the process must end without waiting for its threads."""


def ends_soon(work: Callable[[], object]) -> bool:
    """Runs what writes to standard output, whose reader may have stopped reading. Returns False if it still runs after 2 s."""

    def run() -> None:
        with suppress(OSError):
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_WRITE_S)
    return not thread.is_alive()


class Formatter(argparse.HelpFormatter):
    """Formats help. argparse makes one for every option; its own imports shutil to find out the width."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
        except (ValueError, OSError):
            width = 80
        super().__init__(prog, width=width - 2)


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser], wanted: str | None) -> None:
    """Adds the command `wanted` to an argument parser, or all commands without their options if it is none of them."""
    for name, command in _COMMANDS.items():
        if wanted in _COMMANDS and name != wanted:
            continue
        parser = commands.add_parser(
            name,
            help=command.text,
            description=command.text[0].upper() + command.text[1:] + ".",
            epilog=_EPILOG,
            allow_abbrev=False,
            formatter_class=Formatter,
        )
        if name == wanted:
            module = import_module(f".{command.module}", __name__)
            getattr(module, command.add_options)(parser)
            parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    """Runs a command. Returns the exit status."""
    from .._exceptions import S3Exception, S3InvalidArgumentError
    from ._urls import UsageError

    command = _COMMANDS[options.command]
    run: Callable[[argparse.Namespace], int] = getattr(import_module(f".{command.module}", __name__), command.run)
    closed = _replace_closed_streams() & _needed_streams(options)
    if closed:
        _complain(options, OSError(f"{closed.pop()} is closed; open it, for example with a redirection"))
        return 1
    try:
        with _signals():
            try:
                status = run(options)
                sys.stdout.flush()
            except KeyboardInterrupt as interrupt:
                written = False
                with suppress(KeyboardInterrupt):  # a second one ends the wait
                    written = ends_soon(sys.stdout.flush)
                if not written:
                    raise Abandoned from interrupt
                return _status_of(interrupt)
            return status
    except Abandoned as abandoned:
        os._exit(_status_of(abandoned))
    except KeyboardInterrupt as interrupt:
        return _status_of(interrupt)
    except BrokenPipeError:
        # The reader of standard output has ended. Python's own flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except (UsageError, S3InvalidArgumentError) as error:
        _complain(options, error)
        return 1 if getattr(error, "status", 0) else 2
    except (S3Exception, OSError) as error:
        _complain(options, error)
        return 1


def _status_of(error: BaseException | None) -> int:
    """Returns the exit status of an interruption."""
    while error is not None:
        if isinstance(error, Terminated):
            return error.status
        error = error.__context__
    return _INTERRUPTED


def _needed_streams(options: argparse.Namespace) -> set[str]:
    """Returns the standard streams that carry data of a command, not only its reports."""
    needed = {"standard output"} if options.command in _RESULTS else set()
    if "-" in getattr(options, "places", ()):
        needed.add("standard input")
    if getattr(options, "target", None) == "-":
        needed.add("standard output")
    return needed


def _replace_closed_streams() -> set[str]:
    """Replaces closed standard streams by the null device. Their descriptors must not become those of other files.

    Returns:
        The streams that were closed.
    """
    closed = set()
    for name, text, mode in (("stdin", "standard input", "r"), ("stdout", "standard output", "w"), ("stderr", "", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, errors="backslashreplace"))  # noqa: PTH123, SIM115
            closed.add(text)
    return closed


def _complain(options: argparse.Namespace, error: Exception) -> None:
    from ._report import Report, error_text

    report = Report(options.command, as_json=getattr(options, "json", False))
    report.note(error_text(error), getattr(error, "code", None) or None)


@contextmanager
def _signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP end the command as Ctrl-C does, except where they are ignored (nohup) or handled already."""

    def terminate(number: int, frame: object) -> None:
        del frame
        raise Terminated(number)

    changed = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        changed = []  # only the main thread may
    for number in changed:
        signal.signal(number, terminate)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
