"""The fault matrix: its generator, its judge, and a sample of its cells (all with PENSTOCK_LONG=1)."""

from __future__ import annotations

import copy
import os
import time
from collections import Counter

import pytest
from penstock import S3Client
from penstock._append import S3AppendWriter
from penstock.testing import Emulator
from penstock_conformance.matrix import actions, cells, judge, lanes, report
from penstock_conformance.matrix.trials import BUCKET, DIRECTORY, Environment, Trial, written

LONG = bool(os.environ.get("PENSTOCK_LONG"))
SAMPLE, SEED = 330, 9
IN_DIRECTORIES = 2  # cells per operation on directory buckets
OPERATIONS = lanes.every_operation()


# ---- generator


def test_all_actions_and_stages_of_the_schema_are_generated_and_accepted_by_the_emulator(certificate):
    points = actions.every_action()
    assert len({point.name for point in points}) == len(points) > 200
    schema = actions.schema()
    kinds = {reference["$ref"].rpartition("/")[2] for reference in schema["$defs"]["action"]["oneOf"]}
    assert {point.kind for point in points} == kinds
    for kind in kinds:
        stages = {point.stage for point in points if point.kind == kind}
        assert stages >= {stage.rstrip("@") for stage in actions.stages_of(schema["$defs"][kind])}
    with Emulator() as plain, Emulator(tls_cert=str(certificate[0]), tls_key=str(certificate[1])) as with_tls:
        for point in points:
            emulator = with_tls if cells.needs_tls(point) else plain
            emulator.faults().set([{"do": point.rule_action(1000), "must_fire": False}])


def test_an_unknown_parameter_is_an_error_of_the_generator():
    schema = copy.deepcopy(actions.schema())
    schema["$defs"]["reset"]["properties"]["reset"]["properties"]["softly"] = {"type": "integer"}
    with pytest.raises(NotImplementedError, match="'softly'"):
        actions.every_action(schema)


def test_faults_of_tls_handshakes_are_not_applicable_to_plain_http():
    aborts = cell(action=actions.Action("tls_abort", {}), operation="get whole", target=cells.CONNECTION)
    with Environment(2) as plain:
        outcome = judge.run_cell(plain, BY_NAME["get whole"], aborts)
    assert (outcome.verdict, outcome.requests) == (judge.NOT_APPLICABLE, 0)
    assert not report.defects([outcome])
    assert report.summary([aborts], [outcome])["verdicts"] == {"not applicable": 1}
    with (
        Emulator() as emulator,
        pytest.raises(ValueError, match=r"rule 'planted': tls_abort .* plain HTTP\. Start it with --tls-cert"),
    ):
        emulator.faults().set([aborts.rule()])


# ---- judge


def cell(**changed: object) -> cells.Cell:
    given = {"action": actions.Action("reset", {}), "operation": "one", "size": "small"}
    return cells.Cell(**{**given, "target": "PutObject", "nth": 1, "times": cells.ONCE, **changed})


def verdict_of(environment: Environment, trial: Trial, one: cells.Cell | None = None) -> str:
    operation = judge.Operation("one", lambda environment, size: trial, ("small",))
    return judge.run_cell(environment, operation, one or cell()).verdict


def test_the_judge_detects_each_defect(monkeypatch):
    with Environment(2) as environment:
        half = environment.content("small")[:100]

        def left_open() -> None:
            environment.client().create_multipart_upload(BUCKET, "t/left")

        def wrong_key() -> None:
            raise KeyError("k")

        def state() -> str:
            return written(environment, "t/half", None, environment.content("small"))()

        monkeypatch.setattr(judge, "LEFT_OPEN_S", 0.2)
        assert verdict_of(environment, Trial(lambda: b"x", lambda got: got == b"y")) == "wrong"
        assert verdict_of(environment, Trial(lambda: None, lambda got: True, lambda: "before")) == "wrong"
        assert verdict_of(environment, Trial(lambda: environment.put("t/half", half), lambda got: True, state)) == "partial"
        assert verdict_of(environment, Trial(left_open, lambda got: True, lambda: "after")) == "left open"
        assert verdict_of(environment, Trial(wrong_key, lambda got: True)) == "unclear"
        assert verdict_of(environment, Trial(lambda: None, lambda got: True, wrong_key)) == "broken"
        assert verdict_of(environment, Trial(lambda: None, lambda got: True)) == judge.IDLE
        monkeypatch.setattr(judge, "DEADLINE_S", 0.2)
        ended = []
        hung = Trial(lambda: ended or time.sleep(1.5), lambda got: True)
        assert verdict_of(environment, hung) == "hang"


BY_NAME = {operation.name: operation for operation in OPERATIONS}


def verdict_of_operation(name: str) -> str:
    """The verdict of an operation with a fault that has no effect."""
    slow = cell(action=actions.Action("latency", {"ms": 1}), operation=name, target="CreateSession")
    with Environment(2) as environment:
        return judge.run_cell(environment, BY_NAME[name], slow).verdict


@pytest.mark.parametrize("name", ["get whole", "directory get whole"])
def test_a_stale_version_is_served_and_detected(name):
    stale = actions.Action("corrupt", {"mode": "stale-version"}, stage="body_out")
    one = cell(action=stale, operation=name, target="GetObject", times=cells.ALWAYS)
    with Environment(2) as environment:
        outcome = judge.run_cell(environment, BY_NAME[name], one)
    assert (outcome.verdict, outcome.fired > 0) == ("error", True), outcome


@pytest.mark.parametrize("name", ["append", "append to nothing", "append three records"])
def test_the_judge_detects_a_record_that_was_appended_twice(monkeypatch, name):
    once = S3AppendWriter._append

    def twice(writer: S3AppendWriter) -> None:
        gathered = bytes(writer._buffer)
        once(writer)
        writer._buffer += gathered
        once(writer)

    assert verdict_of_operation(f"directory {name}") == "right"
    monkeypatch.setattr(S3AppendWriter, "_append", twice)
    assert verdict_of_operation(f"directory {name}") == "partial"


@pytest.mark.parametrize("name", ["rename", "rename over another"])
def test_the_judge_detects_a_rename_that_is_a_copy(monkeypatch, name):
    assert verdict_of_operation(f"directory {name}") == "right"
    monkeypatch.setattr(S3Client, "rename_object", lambda client, bucket, old, new: client.copy_object(bucket, old, bucket, new))
    assert verdict_of_operation(f"directory {name}") == "partial"


def test_each_trial_in_a_directory_bucket_creates_a_session():
    without_session = {"copy", "create bucket", "delete bucket", "list buckets"}
    with Environment(2) as environment:
        for operation in OPERATIONS:
            if operation.bucket == DIRECTORY and operation.name.removeprefix("directory ") not in without_session:
                for _ in range(2):  # the second run must not reuse the session of the first
                    targets = cells.traffic(environment, operation, operation.sizes[0])
                    assert [one.requests for one in targets if one.operation == "CreateSession"] == [1], operation.name


def test_wrong_data_without_a_checksum_is_not_a_defect():
    trial = Trial(lambda: ["a"], lambda got: got == ["b"])
    corrupt = cell(action=actions.Action("corrupt", {}))
    assert judge.may_go_undetected(cell(action=corrupt.action, target="ListObjectsV2"), trial)
    assert not judge.may_go_undetected(cell(action=corrupt.action, target="GetObject"), Trial(list, bool, verified=True))
    assert not judge.may_go_undetected(cell(target="GetObject"), trial)


def test_reports_contain_all_cells():
    one, other = cell(), cell(operation="<two>")
    outcomes = [judge.Outcome(one.name, "right", 1, 2, 0.1), judge.Outcome(other.name, "wrong", 1, 2, 0.1, "got b'x'")]
    facts = report.summary([one, other], outcomes)
    assert (facts["cells"], facts["silent_corruptions"], facts["hangs"]) == (2, 1, 0)
    assert other.name in report.as_markdown([one, other], outcomes)
    assert "&lt;two&gt;" in report.as_html([one, other], outcomes)
    assert report.as_json([one, other], outcomes).count('"cell"') == 2


# ---- cells


@pytest.fixture(scope="module")
def chosen() -> list[cells.Cell]:
    in_directories = lanes.plan([operation for operation in OPERATIONS if operation.bucket == DIRECTORY])
    others = lanes.plan([operation for operation in OPERATIONS if operation.bucket == BUCKET])
    assert len({one.action.name for one in others}) >= 40
    if LONG:
        return others + in_directories
    return cells.sample(others, SAMPLE, SEED) + cells.some_of_each_operation(in_directories, IN_DIRECTORIES, SEED)


@pytest.mark.timeout(3600 if LONG else 180)
@pytest.mark.parametrize("operation", [operation.name for operation in OPERATIONS])
def test_correct_result_or_one_clear_error(chosen, operation):
    mine = [one for one in chosen if one.operation == operation]
    outcomes = lanes.run_cells(mine)
    assert not report.defects(outcomes)
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    assert verdicts[judge.IDLE] + verdicts[judge.NOT_APPLICABLE] < len(mine), "no fault fired"
