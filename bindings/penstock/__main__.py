"""The ``penstock`` command, also run by ``python -m penstock``: file commands, ``checkpoint``, ``simulate``, ``conformance``."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence

from . import _commands


def _add_simulate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from . import _argument_values

    parser = commands.add_parser(
        "simulate",
        help="compare prefix strategies for a checkpoint job",
        description="Simulates a checkpoint job against a model of S3's partitions in virtual time. Prints the duration and the "
        "number of refused requests for each prefix strategy. Needs neither AWS nor the emulator.",
    )
    add = parser.add_argument
    add("--operation", choices=("save", "load", "list"), default="save")
    add("--ranks", type=int, default=8, metavar="N")
    add(
        "--strategy",
        action="append",
        metavar="NAME",
        help="default, binary, hex or round-robin; repeat the option to compare several (default: the first three)",
    )
    add("--prefix", action="append", dest="prefixes", metavar="TEXT", help="a prefix of round-robin; repeat for more")
    add("--prefix-count", type=int, metavar="N", help="number of prefixes of binary and hex (default: one per rank)")
    add("--files-per-rank", type=int, default=1, metavar="N")
    add("--file-size", type=_argument_values.size, default=1 << 30, metavar="SIZE", dest="file_bytes", help="default: 1GiB")
    add("--part-size", type=_argument_values.size, default=32 << 20, metavar="SIZE", dest="part_bytes", help="default: 32MiB")
    add("--connections", type=int, default=8, metavar="N", dest="connections_per_rank", help="per rank (default: 8)")
    add("--rounds", type=int, default=1, metavar="N", help="number of checkpoints, run in sequence (default: 1)")
    add("--every", type=float, default=0.0, metavar="S", dest="round_every_s", help="seconds between the starts of checkpoints")
    add(
        "--start-spread", type=float, default=0.0, metavar="S", dest="start_spread_s", help="seconds within which all ranks start"
    )
    add("--limits", default="aws-standard", metavar="PRESET", help="aws-standard, aws-strict, aws-express")
    add(
        "--split-after",
        type=float,
        metavar="S",
        dest="split_after_s",
        help="seconds of overload before S3 splits a partition",
    )
    add(
        "--warm-partitions",
        type=int,
        metavar="N",
        help="partitions that earlier saves of the same job created, at the names of each strategy (default: none)",
    )
    add("--path", metavar="TEXT", help="default: checkpoint/step_{round}, or checkpoint with a prefix strategy")
    add("--latency", default="s3-standard", metavar="PROFILE", help="s3-standard, s3-express, none")
    add(
        "--client",
        default="standard",
        metavar="NAME",
        help="retry behaviour: standard, legacy, adaptive, crt (s3torchconnector), penstock",
    )
    add("--seed", type=int, default=1, metavar="N")
    add("--json", action="store_true", help="print the reports as JSON")
    add("--plot", metavar="FILE", help="write a chart: .html, or .png with matplotlib")
    parser.set_defaults(run=_simulate)


def _add_conformance(commands: argparse._SubParsersAction[argparse.ArgumentParser], wanted: str | None) -> None:
    try:
        installed = importlib.util.find_spec("penstock_conformance") is not None
    except (ModuleNotFoundError, ValueError):  # an import hook, or None in sys.modules, prevents the import
        installed = False
    if not installed:
        # Another prefix character makes options such as --emulator plain arguments.
        parser = commands.add_parser("conformance", help="not installed", add_help=False, prefix_chars="+")
        parser.add_argument("arguments", nargs="*")
        parser.set_defaults(run=_no_conformance)
    elif wanted == "conformance":
        from penstock_conformance.__main__ import add_command

        add_command(commands)
    else:  # its modules take half of the time of `penstock --help`
        commands.add_parser("conformance", help="test an S3 server or client with the conformance suites")


def _no_conformance(options: argparse.Namespace) -> int:
    raise ModuleNotFoundError(
        "the package penstock_conformance is not installed; run pip install --force-reinstall 'penstock[conformance]'"
    )


ONE_PARTITION = (
    "One partition received all requests, whatever the files were named: a new bucket has one partition, and S3 splits it only "
    "after minutes of overload. Use --warm-partitions N to simulate a bucket whose partitions earlier saves have already split "
    "(docs/simulate.md)."
)
_NOT_JOB_OPTIONS = {"command", "run", "json", "plot", "strategy"}


def _simulate(options: argparse.Namespace) -> int:
    import json

    from . import simulate

    job = {name: value for name, value in vars(options).items() if name not in _NOT_JOB_OPTIONS and value is not None}
    strategies = options.strategy or simulate.STRATEGIES
    if options.prefixes and "round-robin" not in strategies:
        raise ValueError(f"--prefix has no effect on {', '.join(strategies)}; add --strategy round-robin, or leave --prefix out")
    if options.prefix_count is not None and not {"binary", "hex"} & set(strategies):
        raise ValueError(
            f"--prefix-count has no effect on {', '.join(strategies)}; add --strategy hex, or leave --prefix-count out"
        )
    reports = simulate.compare(strategies, **job)
    if options.plot:
        simulate.write_plot(reports, options.plot)
    if options.json:
        print(json.dumps([report.document for report in reports]))
    else:
        print(simulate.table(reports))
        one_partition = all(report.max_partitions == 1 for report in reports)
        if len(reports) > 1 and one_partition and any(report.refused for report in reports):
            print(ONE_PARTITION, file=sys.stderr)
    return 0 if all(report.completed for report in reports) else 1


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        The exit status. 0: success; 1: a job, a check, a file or an object failed, or a checkpoint is damaged; 2: an error;
        130: interrupted.
    """
    completing = "_ARGCOMPLETE" in os.environ  # set by the script of `penstock completion`
    words = list(sys.argv[1:] if arguments is None else arguments)
    words = os.environ.get("COMP_LINE", "").split()[1:] if completing else words
    wanted = next((word for word in words if not word.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="penstock", description="S3 for PyTorch, with an S3 emulator to test it.", formatter_class=_commands.Formatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _commands.add_commands(commands, wanted)
    if wanted not in _commands.NAMES:  # the file commands start without the modules of the others
        from . import __version__, _checkpoint_cli

        parser.add_argument("--version", action="version", version=f"penstock {__version__}")
        _checkpoint_cli.add_commands(commands)
        _add_simulate(commands)
        _add_conformance(commands, wanted)
        _add_completion(commands)
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
        return 2


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
