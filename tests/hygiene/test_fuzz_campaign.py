"""tools/fuzz_campaign.py: the end, the progress and the continuation of a campaign."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/fuzz_campaign.py"
spec = importlib.util.spec_from_file_location("fuzz_campaign", SCRIPT)
assert spec is not None and spec.loader is not None
campaign = importlib.util.module_from_spec(spec)
sys.modules["fuzz_campaign"] = campaign
spec.loader.exec_module(campaign)

LEAST = 900


def test_reads_executions_edges_and_the_last_new_edge() -> None:
    progress = campaign.Progress()
    for line in (
        "#12\tINITED cov: 30 ft: 40 corp: 3/9b exec/s: 0 rss: 30Mb",
        "#400\tNEW    cov: 31 ft: 44 corp: 4/11b lim: 8 exec/s: 0 rss: 30Mb",
        "#500\tREDUCE cov: 31 ft: 44 corp: 4/10b lim: 8 exec/s: 0 rss: 30Mb",
        "INFO: seed corpus: files: 3",
        "Done 600 runs in 1 second(s)",
    ):
        progress.read(line, 0)
    assert progress == campaign.Progress(executions=600, edges=31, last_new_edge=400)


def test_a_later_round_adds_to_the_counts_of_earlier_rounds() -> None:
    progress = campaign.Progress(executions=900, edges=31, last_new_edge=800)
    progress.read("#20\tINITED cov: 31 ft: 44 corp: 4/10b exec/s: 0 rss: 30Mb", 900)
    assert (progress.executions, progress.last_new_edge) == (920, 800)
    progress.read("#30\tNEW    cov: 32 ft: 45 corp: 5/12b exec/s: 0 rss: 30Mb", 900)
    assert progress == campaign.Progress(executions=930, edges=32, last_new_edge=930)


def test_a_campaign_ends_after_enough_executions_without_a_new_edge_in_the_last_third() -> None:
    assert not campaign.Progress(executions=899, last_new_edge=10).is_finished(LEAST)
    assert campaign.Progress(executions=900, last_new_edge=600).is_finished(LEAST)
    assert not campaign.Progress(executions=900, last_new_edge=601).is_finished(LEAST)


def test_a_round_has_the_executions_that_could_end_the_campaign() -> None:
    assert campaign.Progress().next_round(LEAST) == LEAST
    progress = campaign.Progress(executions=900, last_new_edge=800)
    progress.executions += progress.next_round(LEAST)
    assert progress.is_finished(LEAST)
    assert progress.executions == 1200


def test_an_interrupted_campaign_of_the_same_build_continues(tmp_path: Path) -> None:
    program = tmp_path / "fuzz_x"
    program.write_text('#!/bin/sh\necho "#100 NEW cov: 7 ft: 9" >&2\necho "$1" | sed \'s/-runs=/Done /; s/$/ runs/\' >&2\n')
    program.chmod(0o755)
    first = campaign.run_target(program, "t", [tmp_path], [], 600, tmp_path)
    assert first == campaign.Progress(executions=600, edges=7, last_new_edge=100)
    again = campaign.run_target(program, "t", [tmp_path], [], 900, tmp_path)
    assert again == campaign.Progress(executions=900, edges=7, last_new_edge=100)
    program.write_text(program.read_text() + "# another build\n")
    anew = campaign.run_target(program, "t", [tmp_path], [], 150, tmp_path)
    assert anew == campaign.Progress(executions=150, edges=7, last_new_edge=100)


def test_an_input_that_breaks_a_property_ends_the_campaign(tmp_path: Path) -> None:
    program = tmp_path / "fuzz_x"
    program.write_text('#!/bin/sh\necho "#100 NEW cov: 7 ft: 9" >&2\nexit 77\n')
    program.chmod(0o755)
    assert campaign.run_target(program, "t", [tmp_path], [], 600, tmp_path) is None
