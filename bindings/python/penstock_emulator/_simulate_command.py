"""The command ``penstock simulate``."""

from __future__ import annotations

import argparse
import json
import sys

from . import simulate
from ._sizes import duration, size

_ONE_PARTITION = (
    "One partition received all requests, whatever the files were named: a new bucket has one partition, and S3 splits it only "
    "after minutes of overload. Use --warm-partitions N to simulate a bucket whose partitions earlier saves have already split "
    "(docs/how-to/simulate.md)."
)
_NOT_JOB_OPTIONS = {"command", "run", "json", "plot", "strategy"}


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of ``penstock``."""
    parser = commands.add_parser(
        "simulate",
        help="compare prefix strategies for a checkpoint job",
        description="Simulates a checkpoint job against a model of S3's partitions in virtual time. Prints the duration and the "
        "number of refused requests for each prefix strategy. Needs neither AWS nor the emulator.",
    )
    add = parser.add_argument
    add("--operation", choices=("save", "load", "list"), default="save", help="what the job does (default: save)")
    add("--ranks", type=int, default=8, metavar="N", help="number of processes of the job (default: 8)")
    add(
        "--strategy",
        action="append",
        metavar="NAME",
        help="default, binary, hex or round-robin; repeat the option to compare several (default: the first three)",
    )
    add("--prefix", action="append", dest="prefixes", metavar="TEXT", help="a prefix of round-robin; repeat for more")
    add("--prefix-count", type=int, metavar="N", help="number of prefixes of binary and hex (default: one per rank)")
    add("--files-per-rank", type=int, default=1, metavar="N", help="number of files of each rank (default: 1)")
    add("--file-size", type=size, default=1 << 30, metavar="SIZE", dest="file_bytes", help="default: 1GiB")
    add("--part-size", type=size, default=32 << 20, metavar="SIZE", dest="part_bytes", help="default: 32MiB")
    add("--connections", type=int, default=8, metavar="N", dest="connections_per_rank", help="per rank (default: 8)")
    add("--rounds", type=int, default=1, metavar="N", help="number of checkpoints, run in sequence (default: 1)")
    add(
        "--every",
        type=duration,
        default=0.0,
        metavar="TIME",
        dest="round_every_s",
        help="time between starts of checkpoints: 30s, 5m",
    )
    add(
        "--start-spread",
        type=duration,
        default=0.0,
        metavar="TIME",
        dest="start_spread_s",
        help="time within which all ranks start, for example 500ms",
    )
    add("--limits", default="aws-standard", metavar="PRESET", help="aws-standard, aws-strict, aws-express")
    add(
        "--split-after",
        type=duration,
        metavar="TIME",
        dest="split_after_s",
        help="time of overload before S3 splits a partition, for example 10m",
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
    add("--seed", type=int, default=1, metavar="N", help="seed of the simulated delays (default: 1)")
    add("--json", action="store_true", help="print the reports as JSON")
    add("--plot", metavar="FILE", help="write a chart: .html, or .png with matplotlib")
    parser.set_defaults(run=_simulate)


def _simulate(options: argparse.Namespace) -> int:
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
            print(_ONE_PARTITION, file=sys.stderr)
    return 0 if all(report.completed for report in reports) else 1
