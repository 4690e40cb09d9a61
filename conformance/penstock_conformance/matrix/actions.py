"""All faults of the emulator, generated from docs/faults.schema.json.

Each kind of fault is applied with its default parameters at each stage it allows, for body stages at three offsets, and once with
each value of each parameter. A parameter without values in this file is an error, so that new parameters are not omitted.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

BODY_STAGES = ("body_in", "body_out")
PLACES = ("first", "middle", "last")

# Values of parameters that are not enumerations, by name. Times are short, to limit the duration of the matrix.
_VALUES: dict[str, tuple[Any, ...]] = {
    "status": (404, 408, 429, 500, 502, 503, 504),
    "code": (
        "InternalError", "ServiceUnavailable", "SlowDown", "RequestTimeout", "BadDigest", "OperationAborted", "NoSuchKey",
        "NoSuchUpload", "NoSuchBucket", "AccessDenied", "PreconditionFailed", "ConditionalRequestConflict", "ExpiredToken",
        "RequestTimeTooSkewed",
    ),
    "message": ("planned by the fault matrix",),
    "retry_after_ms": (30,),
    "ms": (20,),
    "min_ms": (5,),
    "max_ms": (15,),
    "floor_ms": (5,),
    "median_ms": (10,),
    "sigma": (0.5,),
    "profile": ("s3-express",),
    "trace_ms": ([5, 15],),
    "after_ms": (10,),
    "every_ms": (2,),
    "bytes": (262_144,),
    "bytes_per_second": (100_000_000,),
    "length": (1, 4096),
    "key": ("*",),
    "entries": ("every 2",),
    "most": (0, 1),
    "probability": (1,),
    "location": ("http://127.0.0.1:1/",),
    "region": ("eu-west-1",),
    "ahead_s": (3600, -3600),
    "requests": (1, 2),
    "headers": ({"x-amz-note": "planned"},),
    "set": (
        {"ETag": '"00000000000000000000000000000000"'}, {"Content-Length": "3"}, {"Content-Length": "99999999"},
        {"Content-Range": "bytes 1-3/7"}, {"Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"x-amz-checksum-crc64nvme": "AAAAAAAAAAA="}, {"x-amz-checksum-type": "COMPOSITE"}, {"Content-Type": "text/html"},
        {"x-amz-version-id": "another"}, {"Content-Encoding": "gzip"},
    ),
    "drop": (["ETag"], ["Content-Length"], ["Content-Range"], ["Last-Modified"], ["x-amz-checksum-crc64nvme"], ["Content-Type"]),
    "repeat": (["ETag"], ["Last-Modified"], ["Content-Type"]),
}  # fmt: skip

# Parameters for faults whose defaults last an hour or have no effect.
_ENDING: dict[str, dict[str, Any]] = {"black_hole": {"ms": 20}, "commit_partial": {"bytes": 100}}
# Parameters that a value requires.
_COMPANIONS: dict[tuple[str, str, str], dict[str, Any]] = {
    ("latency", "sigma", "0.5"): {"median_ms": 10},
    ("latency", "min_ms", "5"): {"max_ms": 15},
    ("latency", "max_ms", "15"): {"min_ms": 5},
    ("expect_100", "mode", "late"): {"ms": 20},
}


@dataclasses.dataclass(frozen=True)
class Action:
    """A fault at a stage of a request."""

    kind: str
    parameters: dict[str, Any]
    stage: str = ""  # empty: the default stage of the fault
    place: str = ""  # offset in the body: "first", "middle" or "last" byte
    variant: bool = False  # has a non-default parameter value

    @property
    def name(self) -> str:
        """For example "corrupt(mode=zero)@body_out-last"."""
        given = ",".join(f"{key}={_words(value)}" for key, value in self.parameters.items())
        moment = f"@{self.stage}" + (f"-{self.place}" if self.place else "") if self.stage else ""
        return self.kind + (f"({given})" if given else "") + moment

    def rule_action(self, body_bytes: int) -> dict[str, Any]:
        """The `do` member of a fault rule, for a body of this length."""
        document: dict[str, Any] = {self.kind: self.parameters}
        if self.place:
            document["at"] = f"{self.stage}@{self.offset(body_bytes)}"
        elif self.stage:
            document["at"] = self.stage
        return document

    def offset(self, body_bytes: int) -> int:
        """Offset in the body at which the fault occurs."""
        return {"first": 1, "middle": max(1, body_bytes // 2), "last": max(1, body_bytes - 1)}[self.place]


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return "+".join(f"{key}:{inner}" for key, inner in value.items())
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def schema() -> dict[str, Any]:
    """docs/faults.schema.json, which is installed with the emulator's package."""
    file = resources.files("penstock_emulator") / "schemas" / "faults.schema.json"
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document


def stages_of(document: dict[str, Any]) -> list[str]:
    """Stages that the schema of a fault allows: ["headers", "body_in@", ...]; "@" means with an offset in the body."""
    at = document["properties"].get("at", {})
    if "enum" in at:
        return list(at["enum"])
    inner = re.fullmatch(r"\^\((.*)\)\$", at.get("pattern", "^()$"))
    assert inner is not None, at
    return [re.sub(r"\(@.*\)\?", "@", stage) for stage in re.split(r"\|(?![^(]*\))", inner[1]) if stage]


def every_action(document: dict[str, Any] | None = None) -> list[Action]:
    """All actions that follow from the schema."""
    document = document or schema()
    kinds = [reference["$ref"].rpartition("/")[2] for reference in document["$defs"]["action"]["oneOf"]]
    points = {point.name: point for kind in kinds for point in _points(kind, document["$defs"][kind])}
    return list(points.values())


def _points(kind: str, document: dict[str, Any]) -> Iterator[Action]:
    parameters = document["properties"][kind]
    required = {name: _values(name, parameters["properties"][name])[0] for name in parameters.get("required", ())}
    required |= _ENDING.get(kind, {})
    variants = [
        {**required, name: value, **_COMPANIONS.get((kind, name, str(value)), {})}
        for name, inner in parameters["properties"].items()
        for value in _values(name, inner)
    ]
    base = required if len(required) >= parameters.get("minProperties", 0) else variants[0]
    moments = [moment for stage in stages_of(document) for moment in _moments(stage)]
    for stage, place in moments:
        yield Action(kind, base, stage, place)
    for variant in variants:
        of_a_body = {stage for stage, _ in moments} <= set(BODY_STAGES)
        if of_a_body and any(place for _, place in moments):
            yield from (Action(kind, variant, stage, place) for stage, place in moments)
        else:
            yield Action(kind, variant, variant=True)
            if "code" in variant and ("after_commit", "") in moments:  # executed, but reported as an error
                yield Action(kind, variant, "after_commit", variant=True)


def _moments(stage: str) -> list[tuple[str, str]]:
    return [(stage[:-1], place) for place in PLACES] if stage.endswith("@") else [(stage, "")]


def _definition(reference: str) -> dict[str, Any]:
    found: dict[str, Any] = schema()["$defs"][reference.rpartition("/")[2]]
    return found


def _values(name: str, document: dict[str, Any]) -> list[Any]:
    if "$ref" in document and (shared := _definition(document["$ref"])).get("const") is not None:
        return [shared["const"]]
    if "enum" in document:
        return list(document["enum"])
    if document.get("type") == "boolean":
        return [True]
    if name not in _VALUES:
        raise NotImplementedError(f"no values for the fault parameter {name!r}: add some in {__name__}")
    return [value for value in _VALUES[name] if "minimum" not in document or value >= document["minimum"]]
