"""The command line: judges an endpoint and prints what differs. Exit status 1 where anything does."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from .cases import PROVENANCES, load
from .laws import LAWS
from .runner import Report, Runner, Verdict
from .signing import Identity


def main(arguments: list[str] | None = None) -> int:
    """Runs the cases the command line asks for."""
    options = _parser().parse_args(arguments)
    cases = [case for pattern in options.pattern or [""] for case in load(pattern=pattern)]
    if not cases:
        print(f"no case's name contains {' or '.join(options.pattern)}", file=sys.stderr)
        return 2
    second = Identity(options.second_access_key, options.second_secret_key) if options.second_access_key else None
    runner = Runner(options.endpoint, Identity(options.access_key, options.secret_key), options.region, second, options.ca)
    started = time.monotonic()
    try:
        report = runner.run(cases, tell=lambda verdict: _tell(verdict, options.verbose))
    finally:
        runner.close()
    print(summary(report, time.monotonic() - started))
    if options.json:
        Path(options.json).write_text(json.dumps(as_json(report), indent=1) + "\n")
    return 1 if report.failed or report.laws_broken else 0


def summary(report: Report, seconds: float) -> str:
    """The laws, then the counts per provenance, as text."""
    lines = [""]
    for law in LAWS:
        broken = report.laws_broken.get(law.name, [])
        lines.append(f"law: {law.name}: {report.laws_checked[law.name]} answers, {len(broken)} broke it")
        lines += [f"    {where}" for where in broken[:5]]
    lines.append("")
    for provenance in PROVENANCES:
        mine = [verdict for verdict in report.verdicts if verdict.case.provenance == provenance and not verdict.not_run]
        bad = sum(1 for verdict in mine if verdict.problems)
        lines.append(f"{provenance:20} {len(mine) - bad:4} of {len(mine):4} passed")
    reasons = Counter(verdict.not_run for verdict in report.verdicts if verdict.not_run)
    lines += [f"not run: {count} ({reason})" for reason, count in reasons.items()]
    run = len(report.verdicts) - sum(reasons.values())
    lines.append(f"{'all':20} {run - len(report.failed):4} of {run:4} passed in {seconds:.1f} s")
    return "\n".join(lines)


def as_json(report: Report) -> dict[str, Any]:
    """The report for other programs."""
    return {
        "cases": [
            {
                "name": v.case.name,
                "provenance": v.case.provenance,
                "source": v.case.source,
                "problems": v.problems,
                "not_run": v.not_run,
            }
            for v in report.verdicts
        ],
        "laws": {
            law.name: {"checked": report.laws_checked[law.name], "broken": report.laws_broken.get(law.name, [])} for law in LAWS
        },
    }


def _tell(verdict: Verdict, verbose: bool) -> None:
    if verdict.problems:
        print(f"FAILED {verdict.case.name} [{verdict.case.provenance}: {verdict.case.source}]")
        for problem in verdict.problems:
            print(f"    {problem}")
    elif verbose:
        print(f"{'passed' if not verdict.not_run else 'not run'} {verdict.case.name}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m conformance", description="Judges an S3 endpoint by recorded and documented answers."
    )
    parser.add_argument("pattern", nargs="*", help="run the cases whose topic/name contains this; default: all")
    parser.add_argument("--endpoint", required=True, help="http://host:port")
    parser.add_argument("--access-key", default=os.environ.get("AWS_ACCESS_KEY_ID"), help="default: AWS_ACCESS_KEY_ID")
    parser.add_argument("--secret-key", default=os.environ.get("AWS_SECRET_ACCESS_KEY"), help="default: AWS_SECRET_ACCESS_KEY")
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--second-access-key", help="an access key of another account, for the cases that need one")
    parser.add_argument("--second-secret-key")
    parser.add_argument("--ca", help="PEM certificate to trust over https")
    parser.add_argument("--json", metavar="FILE", help="write every verdict there")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the cases that pass, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
