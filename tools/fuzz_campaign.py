"""Runs fuzz targets until they cover no new edges: `./dev fuzz --campaign [TARGET]`.

The campaign of a target ends after at least --executions executions (default: 10 million) if the last third of them covered no
new edge. A crash or a violated property ends it too, and the script exits with 1. Prints one row per target: executions, edges,
and the execution that covered the last new edge.

An interrupted campaign continues from the progress in --work. After a rebuild of the program the count starts again with the
learned inputs, because edges of two builds cannot be compared.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

_STATUS = re.compile(r"^#(\d+)\s+\S+\s+cov: (\d+)")
_DONE = re.compile(r"^Done (\d+) runs")


@dataclass
class Progress:
    """The progress of one target, from the logs of its rounds."""

    executions: int = 0
    edges: int = 0
    last_new_edge: int = 0  # execution

    def read(self, line: str, before: int) -> None:
        """Reads one line of libFuzzer's log.

        Args:
            line: the line.
            before: executions of earlier rounds.
        """
        if match := _STATUS.match(line):
            self.executions = max(self.executions, before + int(match[1]))
            if int(match[2]) > self.edges:
                self.edges = int(match[2])
                self.last_new_edge = before + int(match[1])
        elif match := _DONE.match(line):
            self.executions = before + int(match[1])

    def is_finished(self, least: int) -> bool:
        """Whether there were at least `least` executions, and no new edge in the last third of all."""
        return self.executions >= least and self.last_new_edge * 3 <= self.executions * 2

    def next_round(self, least: int) -> int:
        """The number of further executions that ends the campaign if they cover no new edge."""
        return max(least, (self.last_new_edge * 3 + 1) // 2) - self.executions


def load(file: Path, build: str) -> Progress:
    """The progress that an earlier campaign with the same build saved in `file`; without one, no progress."""
    if not file.exists():
        return Progress()
    kept = json.loads(file.read_text())
    return Progress(**kept["progress"]) if kept["build"] == build else Progress()


def run_target(program: Path, target: str, folders: list[Path], options: list[str], least: int, work: Path) -> Progress | None:
    """Runs one target until it covers no new edges. None: an input violated a property."""
    status = program.stat()
    build = f"{status.st_size} {status.st_mtime_ns}"
    file = work / f"{target}.progress"
    progress = load(file, build)
    saved = time.monotonic()
    with (work / f"{target}.log").open("a") as kept:
        while not progress.is_finished(least):
            before = progress.executions
            command = [str(program), f"-runs={progress.next_round(least)}", *options, *map(str, folders)]
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
                assert process.stderr is not None
                for line in process.stderr:
                    kept.write(line)
                    progress.read(line, before)
                    if time.monotonic() - saved > 1:
                        saved = time.monotonic()
                        kept.flush()
                        file.write_text(json.dumps({"build": build, "progress": asdict(progress)}))
            if process.returncode != 0 or progress.executions == before:
                return None
            file.write_text(json.dumps({"build": build, "progress": asdict(progress)}))
    return progress


def main() -> int:
    """Runs the targets of the command line one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the build folder with fuzz/fuzz_TARGET")
    parser.add_argument("--work", type=Path, required=True, help="the folder for corpora, logs and failing inputs")
    parser.add_argument("--executions", type=int, default=10_000_000, help="the minimum for each target; default: 10 million")
    parser.add_argument("--max-len", type=int, default=0, help="bytes of the longest input; 0: of the longest seed, at most 4096")
    parser.add_argument("targets", nargs="*", help="default: all")
    arguments = parser.parse_args()
    seeds = {folder.name: folder for side in ("emulator", "client") for folder in sorted(Path(side, "fuzz/corpus").iterdir())}
    if unknown := [target for target in arguments.targets if target not in seeds]:
        parser.error(f"unknown targets {', '.join(unknown)}; the targets are {', '.join(sorted(seeds))}")
    failed = False
    for target in arguments.targets or sorted(seeds):
        folder = seeds[target]
        corpus = arguments.work / "corpus" / target
        corpus.mkdir(parents=True, exist_ok=True)
        longest = arguments.max_len or min(4096, max(seed.stat().st_size for seed in folder.iterdir()))
        # Entropic scheduling takes half of the CPU time of targets with 100,000 executions per second.
        options = [f"-max_len={longest}", "-entropic=0", "-rss_limit_mb=2048", f"-artifact_prefix={arguments.work}/{target}-"]
        dictionary = folder.parent.parent / "dictionaries" / target
        if dictionary.exists():
            options.append(f"-dict={dictionary}")
        program = arguments.build / "fuzz" / f"fuzz_{target}"
        progress = run_target(program, target, [corpus, folder], options, arguments.executions, arguments.work)
        if progress is None:
            failed = True
            print(f"{target}: FAILED, see {arguments.work}/{target}.log", flush=True)
            continue
        print(
            f"{target}: {progress.executions:,} executions, {progress.edges} edges, the last new one at execution"
            f" {progress.last_new_edge:,}, inputs of up to {longest} bytes",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
