"""Measures the start time and the idle memory of emulator programs: `measure_emulator.py [--rounds N] PROGRAM...`.

Prints, for each program, the median and the range of the time from its start to the line that says that it is ready, and the
resident (RSS) and proportional (PSS) memory after it.
"""

import argparse
import re
import statistics
import subprocess
import time
from pathlib import Path


def measure(program: str) -> tuple[float, float, float]:
    """Returns milliseconds to the ready line, and RSS and PSS in MiB."""
    started = time.perf_counter()
    with subprocess.Popen([program, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        ready_ms = (time.perf_counter() - started) * 1000
        memory = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        process.terminate()
    rss, pss = (int(re.search(rf"^{name}:\s+(\d+) kB", memory, re.M)[1]) / 1024 for name in ("Rss", "Pss"))
    return ready_ms, rss, pss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="+")
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    rounds = {program: [] for program in arguments.program}
    for _ in range(arguments.rounds):  # in turn, so that a busy machine slows down all of them
        for program, results in rounds.items():
            results.append(measure(program))
    for program, results in rounds.items():
        times = sorted(one[0] for one in results)
        rss, pss = (statistics.median(one[index] for one in results) for index in (1, 2))
        spread = f"{statistics.median(times):.1f} ms ({times[0]:.1f} to {times[-1]:.1f})"
        print(f"{program}: ready in {spread}, RSS {rss:.1f} MiB, PSS {pss:.1f} MiB")


if __name__ == "__main__":
    main()
