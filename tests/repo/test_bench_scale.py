"""`./dev bench scale`: fits of made-up points, tables, waits in the output of perf and strace, and refused arguments."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"
OURS = ("chart", "doc", "goals", "harness", "run", "scale", "scenarios", "servers", "groups", "scaling")
BUILD = os.environ.get("PENSTOCK_BUILD_DIR", "build")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("PENSTOCK_BUILD_DIR", BUILD)
    monkeypatch.syspath_prepend(str(BENCH))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]


@pytest.fixture
def fit():
    return importlib.import_module("scaling.fit")


@pytest.fixture
def report():
    return importlib.import_module("scaling.report")


def make_point(
    n: int, rate: float, *, cpu: float = 0.2, share: float = 0.3, busiest: float = 0.9, tool: str = "perf trace"
) -> Any:
    scale = importlib.import_module("groups.scale")
    side = scale.Side(cpu, 1.5, 0.25, busiest, "io", share)
    return scale.Point(n, rate, 1000.0, side, dataclasses.replace(side, cpu_per_unit=cpu / 2), tool, float(n), 0.01, 1.0)


def axis(name: str = "threads") -> Any:
    return importlib.import_module("groups.scale").AXES[name]


# ---- fits


def test_a_line_has_its_value_at_one_and_its_relative_growth(fit):
    found = fit.line([(n, 2.0 * (1 + 0.05 * (n - 1))) for n in (1, 2, 4, 8)])
    assert (found.at_one, found.growth) == (pytest.approx(2.0), pytest.approx(0.05))
    assert found.at(16) == pytest.approx(3.5)


@pytest.mark.parametrize("points", [[], [(1, 2.0)], [(4, 2.0), (4, 3.0)], [(1, 0.0), (2, 0.0)]])
def test_a_line_needs_two_different_points_and_a_value(fit, points):
    assert fit.line(points) is None


@pytest.mark.parametrize(("contention", "coherency"), [(0.05, 0.002), (0.2, 0.0), (0.0, 0.01), (0.0, 0.0)])
def test_the_universal_scalability_law_is_found_again(fit, contention, coherency):
    law = fit.Usl(7.0, contention, coherency)
    found = fit.usl([(n, law.at(n)) for n in (1, 2, 4, 8, 16)], cores=16)
    assert (found.rate, found.contention, found.coherency) == pytest.approx((7.0, contention, coherency), abs=1e-9)


def test_peak_and_limit_follow_from_the_law(fit):
    law = fit.Usl(10.0, 0.1, 0.001)
    assert law.peak == pytest.approx(30.0)
    assert law.limit == pytest.approx(law.at(30))
    assert law.at(29) < law.limit > law.at(31)
    amdahl = fit.Usl(10.0, 0.1, 0.0)
    assert (amdahl.peak, amdahl.limit) == (math.inf, pytest.approx(100.0))
    assert fit.Usl(10.0, 0.0, 0.0).limit == math.inf
    assert fit.Usl(10.0, 1.0, 0.1).limit == pytest.approx(10.0)


def test_points_beyond_the_cores_are_not_fitted(fit):
    flat = [(1, 10.0), (2, 20.0), (4, 20.0), (8, 20.0)]
    assert fit.usl(flat, cores=2) is None
    assert fit.usl([(n, 10.0 * n) for n in (1, 2, 4)] + [(8, 40.0)], cores=4).contention == pytest.approx(0)


def test_noise_does_not_make_a_negative_coherency(fit):
    found = fit.usl([(1, 10.0), (2, 15.0), (4, 33.0), (8, 70.0)], cores=8)
    assert found.coherency == 0
    assert found.contention >= 0


def test_one_busy_thread_limits_the_rate(fit):
    assert fit.serial_limit(4.0, 0.8) == pytest.approx(5.0)
    assert fit.serial_limit(4.0, 0.0) == math.inf


# ---- tables


def test_an_axis_has_a_row_for_each_point(report):
    text = report.table(axis(), [make_point(1, 2.0), make_point(2, 3.5)])
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()]
    assert [len(row) for row in (rows[0], rows[2], rows[3])] == [10] * 3
    assert rows[3] == [
        "2", "3.5", "0.2", "0.1", "1.5 + 0.25", "1.5 + 0.25", "90% of a core, 30% of its CPU time",
        "90% of a core, 30% of its CPU time", "2", "0.01",
    ]  # fmt: skip


def test_locks_that_could_not_be_observed_have_no_number(report):
    text = report.section(axis(), [make_point(n, 1.0, tool="") for n in (1, 2)], 2)
    assert text.count("| not permitted here | not permitted here |") == 2
    assert "mutexes" not in text


def test_slopes_are_stated_with_their_formula(report):
    points = [make_point(n, n * 10 / (1 + 0.1 * (n - 1)), cpu=0.2 * (1 + 0.03 * (n - 1))) for n in (1, 2, 4, 8)]
    text = "\n".join(report.conclusions(axis(), points, 8))
    assert "CPU time of the client per GB: +3.0% for each further n" in text
    assert "Waits for the emulator's mutexes: +1 per 1,000 requests for each further n (perf trace)" in text
    assert "Universal scalability law (Gunther 2007), fitted to n <= 8: contention 0.1, coherency" in text
    assert f"16 cores for client and emulator carry at most {16 / (0.3 * 1.45):.3g} GB/s" in text


def test_falling_costs_are_not_extrapolated(report):
    points = [make_point(n, 1.0, cpu=0.2 - 0.01 * (n - 1)) for n in (1, 2, 4)]  # and half as much of the emulator
    assert report.capacity(axis(), points).startswith(f"16 cores for client and emulator carry at most {16 / 0.3:.3g} GB/s")


def test_too_few_cores_say_what_is_not_known(report):
    text = report.scalability(axis(), [make_point(n, 10.0) for n in (1, 2, 4, 8)], 2)
    assert text.startswith("Not known: where contention would flatten the rate")
    assert "this machine has 2 cores" in text


@pytest.mark.parametrize(
    ("name", "share", "said"), [("threads", 0.96, True), ("threads", 0.4, False), ("processes", 0.96, False)]
)
def test_a_serial_thread_of_the_client_is_named_only_if_n_adds_none(report, name, share, said):
    points = [make_point(n, 2.0, share=share if n > 1 else 1.0, busiest=0.8) for n in (1, 8)]
    found = [each for each in report.serial(axis(name), points) if "client's" in each]
    assert bool(found) is said
    if said:
        assert "96% of the client's CPU time. At most 2.5 GB/s" in found[0]


# ---- observed waits

PERF = """\
     0.382 ( 0.019 ms): penstock-emula/11 futex(uaddr: 0x10, op: WAKE|PRIVATE_FLAG, val: 1)           = 0
    60.730 ( 2.500 ms): penstock-emula/11 futex(uaddr: 0x10, op: WAIT|PRIVATE_FLAG, val: 2)           = -1 EAGAIN (Resource)
    61.000 ( 9.000 ms): penstock-emula/11 futex(uaddr: 0x10, op: WAIT|PRIVATE_FLAG, val: 7)           = 0
    62.000 ( 9.000 ms): penstock-emula/11 futex(uaddr: 0x20, op: WAIT_BITSET|PRIVATE_FLAG, utime: 0x1, val3: MATCH_ANY) = 0
    63.000 (         ): penstock-emula/12 futex(uaddr: 0x20, op: WAIT|PRIVATE_FLAG, val: 2)           ...
    64.000 ( 1.500 ms): penstock-emula/12  ... [continued]: futex())                                            = 0
    65.000 ( 7.000 ms): penstock-emula/11  ... [continued]: futex())                                            = 0
    66.000 ( 8.000 ms): other/99 futex(uaddr: 0x20, op: WAIT|PRIVATE_FLAG, val: 2)           = 0
"""
STRACE = """\
11    futex(0x10, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000010>
11    futex(0x10, FUTEX_WAIT_PRIVATE, 2, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.002500>
12    futex(0x20, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
11    futex(0x20, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 0, NULL, FUTEX_BITSET_MATCH_ANY) = 0 <0.900000>
12    <... futex resumed>)              = 0 <0.001500>
99    futex(0x20, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.008000>
"""


@pytest.mark.parametrize(("read", "text"), [("read_perf", PERF), ("read_strace", STRACE)])
def test_only_waits_for_mutexes_of_the_process_are_counted(read, text):
    waits = getattr(importlib.import_module("scaling.probe"), read)(text, {11, 12}, 1.0)
    assert (waits.count, waits.wait_s, waits.locks) == (2, pytest.approx(0.004), {"0x10": 1, "0x20": 1})


def test_nothing_is_observed_without_perf_and_strace(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert importlib.import_module("scaling.probe").lock_waits(os.getpid(), 0.1) is None


def test_a_sample_has_the_cpu_time_and_switches_of_this_process():
    probe = importlib.import_module("scaling.probe")
    before = probe.sample([os.getpid()])
    end = before.cpu_s + 0.1
    while probe.sample([os.getpid()]).cpu_s < end:
        sum(range(10_000))
    used = probe.used(before, probe.sample([os.getpid()]))
    assert used.cpu_s >= 0.09
    assert 0 < used.busiest_s <= used.cpu_s + 0.02
    assert used.busiest


# ---- arguments


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--values", "1,x"], "invalid values '1,x': expected ascending numbers from 1 to 64, for example 1,2,4,8"),
        (["--values", "0,1"], "invalid value 0 in '0,1': expected ascending numbers from 1 to 64"),
        (["--values", "65"], "invalid value 65 in '65'"),
        (["--values", "4,2"], "the values '4,2' do not ascend"),
        (["--values", ""], "invalid values ''"),
        (["sockets"], "unknown name 'sockets': expected one of threads, processes, workers"),
        (["--table", "gpus"], "unknown name 'gpus': expected one of readinto, "),
        (["--seconds", "0.5"], "--seconds must be 1 to 60, not 0.5"),
        (["--rounds", "10"], "--rounds must be 1 to 9, not 10"),
        (["--mib", "0"], "--mib must be 1 or more, not 0"),
        (["--mib", "100000000"], "MiB, a quarter of the available memory: use at most --mib "),
    ],
)
def test_wrong_arguments_are_refused(capsys, given, message):
    with pytest.raises(SystemExit):
        importlib.import_module("scale").arguments(given)
    assert message in capsys.readouterr().err


def test_figures_of_another_machine_are_not_mixed(tmp_path):
    scale, file = importlib.import_module("scale"), tmp_path / "figures.json"
    file.write_text(json.dumps({"machine": "another", "axes": {}, "table": {}}))
    with pytest.raises(SystemExit, match=r"has figures of 'another', and this is .*: choose another file"):
        scale.main(["--table", "gpu", "--json", str(file)])


def test_rows_without_a_gpu_say_so(monkeypatch, tmp_path, capsys):
    scale, file = importlib.import_module("scale"), tmp_path / "figures.json"
    monkeypatch.setattr(scale.machine, "gpu", lambda: "")
    for row in ("gpu", "gpu"):  # the second run adds to the file of the first
        scale.main(["--table", row, "--json", str(file), "--markdown", str(tmp_path / "figures.md")])
    kept = json.loads(file.read_text())
    assert set(kept["table"]) == {"dcp-load-gpu", "dcp-save-gpu", "stall-gpu"}
    assert all(row["ours"] == "not measured: no GPU" for row in kept["table"].values())
    text = (tmp_path / "figures.md").read_text()
    assert text.startswith(kept["machine"])
    assert "| `dcp.load` to GPU, one process, GB/s | not measured: no GPU | not measured: no GPU | " in text
    assert text in capsys.readouterr().out


def test_rows_that_would_exceed_the_limit_are_not_started(monkeypatch, capsys):
    scale = importlib.import_module("scale")
    monkeypatch.setattr(scale.machine, "gpu", lambda: "")
    scale.main(["--table", "loader", "--limit", "30"])
    printed = capsys.readouterr().out
    assert "loader: no time left (about 208 s); run `./dev bench scale --table loader`" in printed
    assert "| row loader | not measured: no time left |" in printed


def test_points_of_several_runs_are_one_axis():
    merged = importlib.import_module("scale").merged
    first, second = {"points": [{"n": 1, "rate": 1}, {"n": 8, "rate": 2}]}, {"points": [{"n": 4, "rate": 3}, {"n": 8, "rate": 4}]}
    assert merged(None, first) == first
    assert [(each["n"], each["rate"]) for each in merged(first, second)["points"]] == [(1, 1), (4, 3), (8, 4)]


def test_an_axis_is_measured_and_kept(tmp_path):
    """The smallest sizes, in processes of its own."""
    file = tmp_path / "figures.json"
    command = [
        sys.executable,
        BENCH / "run.py",
        "scale",
        "threads",
        "--values",
        "1,2",
        "--seconds",
        "1",
        "--mib",
        "2",
        "--json",
        file,
    ]
    env = os.environ | {"PENSTOCK_BUILD_DIR": str(Path(BUILD).resolve())}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    kept = json.loads(file.read_text())["axes"]["threads"]
    assert [point["n"] for point in kept["points"]] == [1, 2]
    assert all(point["rate"] > 0 and point["client"]["cpu_per_unit"] > 0 for point in kept["points"])
    assert "**threads**: n threads of one process" in done.stdout
    assert "| 2 | " in done.stdout
