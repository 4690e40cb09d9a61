"""The ``penstock`` command, also run by ``python -m penstock``: file commands, ``checkpoint``, and those of other packages."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence

from . import _commands

# Commands of other distributions, which their entry points of this group provide: functions that take the object that
# `add_subparsers` returned and add one parser, whose name is the entry point's.
_COMMANDS_GROUP = "penstock.commands"
# Those of this project: the distribution, and the line of `penstock --help`.
_OTHER_COMMANDS = {
    "simulate": ("penstock-emulator", "compare prefix strategies for a checkpoint job"),
    "conformance": ("penstock-conformance", "test an S3 server or client with the conformance suites"),
}


def _add_other_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser], wanted: str | None) -> None:
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=_COMMANDS_GROUP)}
    for name in sorted({*_OTHER_COMMANDS, *found}):
        distribution, text = _OTHER_COMMANDS.get(name, ("", "a command of another package"))
        if name not in found:
            # Another prefix character makes options such as --emulator plain arguments.
            parser = commands.add_parser(
                name, help=f"not installed: pip install {distribution}", add_help=False, prefix_chars="+"
            )
            parser.add_argument("arguments", nargs="*")
            parser.set_defaults(run=_not_installed)
        elif name == wanted:
            found[name].load()(commands)
        else:  # loading them all takes half of the time of `penstock --help`
            commands.add_parser(name, help=text)


def _not_installed(options: argparse.Namespace) -> int:
    distribution, _ = _OTHER_COMMANDS[options.command]
    raise ModuleNotFoundError(f"this command is part of another package; run pip install {distribution}")


def _add_completion(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "completion",
        help="print a script that completes commands, options, buckets and keys in a shell",
        description="Prints a script that completes commands, options, files, buckets and keys. Needs the package argcomplete.",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(run=_completion)


def _completion(options: argparse.Namespace) -> int:
    try:
        import argcomplete
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the package argcomplete is not installed; run pip install 'penstock[completion]' in the environment of penstock"
        ) from None
    print(argcomplete.shellcode(["penstock"], shell=options.shell))
    return 0


def make_parser(
    wanted: str | None,
) -> tuple[argparse.ArgumentParser, argparse._SubParsersAction[argparse.ArgumentParser]]:
    """Returns the parser of the command line, and its commands.

    Args:
        wanted: The command whose options the parser gets; None: none. The others have only their names and summaries.
    """
    parser = argparse.ArgumentParser(
        prog="penstock", description="S3 for PyTorch, with an S3 emulator to test it.", formatter_class=_commands.Formatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _commands.add_commands(commands, wanted)
    if wanted not in _commands.NAMES:  # the file commands start without the modules of the others
        from . import __version__, _checkpoint_cli

        parser.add_argument("--version", action="version", version=f"penstock {__version__}")
        _checkpoint_cli.add_commands(commands)
        _add_completion(commands)
        if wanted not in commands.choices:  # the search in all installed packages takes a while
            _add_other_commands(commands, wanted)
    return parser, commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit status. 0: success; 1: a job, a check, a request, a file or an object failed, or a checkpoint is damaged;
        2: wrong arguments; 130: interrupted.
    """
    completing = "_ARGCOMPLETE" in os.environ  # set by the script of `penstock completion`
    words = list(sys.argv[1:] if arguments is None else arguments)
    words = os.environ.get("COMP_LINE", "").split()[1:] if completing else words
    wanted = next((word for word in words if not word.startswith("-")), None)
    parser, _ = make_parser(wanted)
    if completing:
        from ._commands import _completion

        _completion.complete(parser)
    options = parser.parse_args(words)
    from ._exceptions import S3Exception

    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except (ValueError, OSError, ModuleNotFoundError, S3Exception) as error:
        print(f"penstock {options.command}: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) and not isinstance(error, S3Exception) else 1


def run() -> None:
    """Runs the command line and ends the process.

    After a file command that has succeeded, nothing is in progress. The process then ends at once: the interpreter would
    take about an eighth of the CPU time of a short command to free its memory.
    """
    gc.set_threshold(100_000)  # imports make many objects and no garbage
    try:
        status = main()
    except KeyboardInterrupt:  # the file commands end their transfers themselves
        status = 130
    if status == 0 and sys.argv[1] in _commands.NAMES:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    sys.exit(status)


if __name__ == "__main__":
    run()
