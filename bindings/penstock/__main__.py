"""The ``penstock`` command: ``simulate``, ``checkpoint``, ``conformance``; ``python -m penstock`` is the same."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence

from penstock_conformance import _cli as conformance_cli

from . import __version__, _checkpoint_cli, simulate
from ._exceptions import S3Exception

_UNITS = {
    "": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)")


def _size(text: str) -> int:
    """Bytes: "1048576", "64MiB", "1.5 GiB", "10GB"."""
    match = _SIZE.fullmatch(text)
    if match is None or match[2].lower() not in _UNITS:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; write 1048576, 64MiB or 1GiB")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def _add_simulate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "simulate",
        help="which prefix strategy survives on my job?",
        description="Runs a checkpoint job against a model of S3's partitions in virtual time and tells how long it takes and "
        "how many requests are refused, for each prefix strategy. Needs neither AWS nor the emulator.",
    )
    add = parser.add_argument
    add("--operation", choices=("save", "load", "list"), default="save")
    add("--ranks", type=int, default=8, metavar="N")
    add(
        "--strategy",
        action="append",
        metavar="NAME",
        help="default, binary, hex, round-robin; again for another. Without it: the first three",
    )
    add("--prefix", action="append", dest="prefixes", metavar="TEXT", help="one of round-robin's prefixes; again for another")
    add("--prefix-count", type=int, metavar="N", help="prefixes of binary and hex; one per rank unless given")
    add("--files-per-rank", type=int, default=1, metavar="N")
    add("--file-size", type=_size, default=1 << 30, metavar="SIZE", dest="file_bytes", help="1GiB unless given")
    add("--part-size", type=_size, default=32 << 20, metavar="SIZE", dest="part_bytes", help="32MiB unless given")
    add("--connections", type=int, default=8, metavar="N", dest="connections_per_rank", help="of each rank; 8 unless given")
    add("--rounds", type=int, default=1, metavar="N", help="checkpoints, one after the other")
    add("--every", type=float, default=0.0, metavar="S", dest="round_every_s", help="seconds between the begins of checkpoints")
    add("--start-spread", type=float, default=0.0, metavar="S", dest="start_spread_s", help="ranks begin within this time")
    add("--limits", default="aws-standard", metavar="PRESET", help="aws-standard, aws-strict, aws-express")
    add(
        "--split-after",
        type=float,
        metavar="S",
        dest="split_after_s",
        help="seconds of overload before a partition is cut in two",
    )
    add(
        "--warm-partitions",
        type=int,
        metavar="N",
        help="partitions that earlier saves of the same job have left, under each strategy's own names; none unless given",
    )
    add("--path", metavar="TEXT", help="checkpoint/step_{round} unless given; checkpoint under a prefix strategy")
    add("--latency", default="s3-standard", metavar="PROFILE", help="s3-standard, s3-express, none")
    add(
        "--client",
        default="standard",
        metavar="NAME",
        help="how it retries: standard, legacy, adaptive, crt (s3torchconnector), penstock",
    )
    add("--seed", type=int, default=1, metavar="N")
    add("--json", action="store_true", help="print the reports as JSON")
    add("--plot", metavar="FILE", help="write a chart: .html, or .png with matplotlib")
    parser.set_defaults(run=_simulate)


ONE_PARTITION = (
    "One partition met everything, whatever the files were called: a new bucket has one, and S3 cuts it in two only after "
    "minutes of overload. With --warm-partitions N the bucket has a past of earlier saves, cut at the names these had "
    "(docs/simulate.md)."
)
_NOT_OF_THE_JOB = {"command", "run", "json", "plot", "strategy"}


def _simulate(options: argparse.Namespace) -> int:
    job = {name: value for name, value in vars(options).items() if name not in _NOT_OF_THE_JOB and value is not None}
    reports = simulate.compare(options.strategy or simulate.STRATEGIES, **job)
    if options.plot:
        simulate.write_plot(reports, options.plot)
    if options.json:
        print(json.dumps([report.document for report in reports]))
    else:
        print(simulate.table(reports))
        one_partition = all(report.most_partitions == 1 for report in reports)
        if len(reports) > 1 and one_partition and any(report.refused for report in reports):
            print(ONE_PARTITION, file=sys.stderr)
    return 0 if all(report.completed for report in reports) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0, 1 where a job or check failed or a checkpoint is damaged, 2: error."""
    parser = argparse.ArgumentParser(prog="penstock", description="S3 for PyTorch, and the S3 emulator that proves it.")
    parser.add_argument("--version", action="version", version=f"penstock {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_simulate(commands)
    _checkpoint_cli.add_commands(commands)
    conformance_cli.add_command(commands)
    options = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except (ValueError, OSError, ModuleNotFoundError, S3Exception) as error:
        print(f"penstock {options.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
