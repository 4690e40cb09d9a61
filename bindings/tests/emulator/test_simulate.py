"""``penstock simulate``: the report, the table, the plots and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from penstock.__main__ import main
from penstock_emulator import simulate

STRICT = {"limits": "aws-strict", "latency": "none", "file_bytes": 1 << 20}


def test_a_small_job_is_not_throttled_and_a_large_one_is() -> None:
    small = simulate.simulate(ranks=2, **STRICT)
    assert (small.completed, small.requests, small.refused, small.ranks_failed) == (True, 3, 0, 0)
    large = simulate.simulate(ranks=256, client="crt", **STRICT)
    assert large.completed
    assert large.refused > 200
    assert large.requests == large.refused + 257
    assert large.retries == large.refused
    assert large.time_s > 5


def test_a_client_with_few_attempts_loses_the_checkpoint() -> None:
    report = simulate.simulate(ranks=256, client="standard", **STRICT)
    assert not report.completed
    assert 0 < report.ranks_failed < 256


def test_compare_runs_one_job_under_each_strategy() -> None:
    reports = simulate.compare(ranks=4, **STRICT)
    assert [r.label for r in reports] == ["default", "binary", "hex"]
    assert {r.document["ranks"] for r in reports} == {4}


def test_the_same_seed_has_the_same_report() -> None:
    assert simulate.simulate(ranks=64, seed=5).document == simulate.simulate(ranks=64, seed=5).document


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"ranks": 0}, "ranks must be 1 to 65536, not 0"),
        ({"strategy": "octal"}, "unknown prefix strategy 'octal'"),
        ({"rank": 1}, "unknown field 'rank'"),
        ({"strategy": "round-robin"}, "add at least one"),
        ({"path": "checkpoint/{foo}"}, "has '{foo}', which is not a field; only {round} is supported"),
        ({"start_spread_s": float("nan")}, "job.start_spread_s is nan, which JSON cannot represent"),
    ],
)
def test_an_invalid_field_is_named(job: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate.simulate(**job)


def test_the_table_has_a_line_for_each_report() -> None:
    lines = simulate.table(simulate.compare(ranks=4, **STRICT)).splitlines()
    assert len(lines) == 4
    assert lines[0].split()[:3] == ["strategy", "result", "time"]
    assert lines[3].startswith("hex       completed")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_html_plot_is_well_formed_and_self_contained(tmp_path: Path) -> None:
    path = tmp_path / "plot.html"
    simulate.write_plot([simulate.simulate(label="a<b", ranks=64, client="crt", **STRICT)], path)
    text = path.read_text()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.seen.count("svg") == 3
    assert "polyline" in tags.seen
    assert "a&lt;b" in text
    assert "http" not in text.replace("http://www.w3.org", "")


def test_a_plot_with_another_extension_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected a path that ends in \.html or \.png"):
        simulate.write_plot([simulate.simulate(ranks=1)], tmp_path / "plot.pdf")


def test_a_png_is_written_or_the_missing_package_is_named(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    try:
        simulate.write_plot([simulate.simulate(ranks=1)], path)
    except ModuleNotFoundError as error:
        assert "pip install matplotlib" in str(error)
        assert not path.exists()
    else:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_exit_status_of_the_command_is_1_if_a_job_failed(capsys: pytest.CaptureFixture[str]) -> None:
    common = ["simulate", "--limits", "aws-strict", "--latency", "none", "--file-size", "1MiB"]
    assert main([*common, "--ranks", "3", "--strategy", "hex"]) == 0
    assert "hex" in capsys.readouterr().out
    assert main([*common, "--ranks", "256"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_the_command_writes_json_and_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "p.html"
    arguments = [
        "simulate",
        "--ranks",
        "4",
        "--json",
        "--plot",
        str(plot),
        "--strategy",
        "round-robin",
        "--prefix",
        "a",
        "--prefix",
        "b",
    ]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)[0]["strategy"] == "round-robin"
    assert plot.stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prefix", "a", "--strategy", "hex"], "--prefix has no effect on hex; add --strategy round-robin"),
        (["--prefix", "a"], "--prefix has no effect on default, binary, hex"),
        (["--prefix-count", "2", "--strategy", "default"], "--prefix-count has no effect on default; add --strategy hex"),
    ],
)
def test_options_without_an_effect_are_refused(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--ranks", "4", *options]) == 2
    assert message in capsys.readouterr().err


def test_warm_partitions_favour_the_hashed_prefixes() -> None:
    job = {"ranks": 256, "client": "crt", "warm_partitions": 16, **STRICT}
    by_step, binary, hexadecimal = simulate.compare(**job)
    assert by_step.refused > 3 * binary.refused
    assert binary.refused == hexadecimal.refused
    below_the_step = simulate.simulate(strategy="hex", path="checkpoint/step_{round}", **job)
    assert below_the_step.refused == by_step.refused


def test_the_hint_is_printed_only_if_it_applies(capsys: pytest.CaptureFixture[str]) -> None:
    def hint(*arguments: str) -> bool:
        main(["simulate", "--limits", "aws-strict", "--latency", "none", "--file-size", "1MiB", *arguments])
        return "--warm-partitions" in capsys.readouterr().err

    assert hint("--ranks", "256")
    assert hint("--ranks", "64", "--client", "crt"), "completed, but no strategy was better"
    assert not hint("--ranks", "256", "--warm-partitions", "4")
    assert not hint("--ranks", "2"), "no request was refused"
    assert not hint("--ranks", "256", "--strategy", "hex"), "only one strategy"
    assert not hint("--ranks", "256", "--client", "crt", "--files-per-rank", "20", "--split-after", "2"), "partitions were split"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ranks", "0"], "ranks must be 1 to 65536, not 0"),
        (["--plot", "x.pdf"], "unsupported plot"),
        (["--client", "curl"], "unknown client 'curl'"),
    ],
)
def test_a_wrong_argument_is_status_2_and_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("penstock simulate: ")
    assert message in error
    assert error.count("\n") == 1


def test_a_size_is_parsed_with_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--json", "--ranks", "1", "--strategy", "hex", "--file-size", "1.5GiB", "--latency", "none"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["bytes"] == 3 << 29
    with pytest.raises(SystemExit):
        main(["simulate", "--file-size", "12 parsecs"])


def test_durations_are_parsed_with_their_units(capsys: pytest.CaptureFixture[str]) -> None:
    def reports(*durations: str) -> str:
        words = [word for pair in zip(("--every", "--start-spread", "--split-after"), durations, strict=True) for word in pair]
        assert main(["simulate", "--json", "--ranks", "64", "--rounds", "2", "--strategy", "hex", *words]) == 0
        return capsys.readouterr().out

    numbers = reports("90", "0.25", "7")
    assert reports("1.5m", "250ms", "7s") == numbers
    assert reports("2m", "250ms", "7s") != numbers
    for wrong in ("-1", "nan", "inf", "5 parsecs", "1e9"):
        with pytest.raises(SystemExit) as ended:
            main(["simulate", f"--every={wrong}"])
        assert ended.value.code == 2
        assert f"invalid duration '{wrong}'" in capsys.readouterr().err


def test_the_module_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "simulate", "--ranks", "1"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("strategy")
