"""The structure of an HTTP Archive 1.2, as a JSON Schema, written from its specification.

Source: https://w3c.github.io/web-performance/specs/HAR/Overview.html. Names of own members begin with `_`.
"""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
SIZE = {"type": "integer", "minimum": -1}  # -1: unknown
DURATION = {"type": "number", "minimum": -1}  # milliseconds; -1: does not apply


def members(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [*required],
        "properties": required | optional | {"comment": TEXT},
        "patternProperties": {"^_": {}},
        "additionalProperties": False,
    }


def list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


NAMED = members({"name": TEXT, "value": TEXT})
PROGRAM = members({"name": TEXT, "version": TEXT})
MESSAGE = {"httpVersion": TEXT, "cookies": list_of(NAMED), "headers": list_of(NAMED), "headersSize": SIZE, "bodySize": SIZE}
REQUEST = members(
    MESSAGE | {"method": TEXT, "url": {"type": "string", "pattern": "^https?://[^#]+$"}, "queryString": list_of(NAMED)},
    postData=members({"mimeType": TEXT}, params=list_of(NAMED), text=TEXT),
)
CONTENT = members({"size": {"type": "integer", "minimum": 0}, "mimeType": TEXT}, compression=SIZE, text=TEXT, encoding=TEXT)
RESPONSE = members(MESSAGE | {"status": {"type": "integer"}, "statusText": TEXT, "content": CONTENT, "redirectURL": TEXT})
TIMINGS = members(
    {"send": DURATION, "wait": DURATION, "receive": DURATION}, blocked=DURATION, dns=DURATION, connect=DURATION, ssl=DURATION
)
ENTRY = members(
    {
        "startedDateTime": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"},
        "time": {"type": "number", "minimum": 0},
        "request": REQUEST,
        "response": RESPONSE,
        "cache": members({}),
        "timings": TIMINGS,
    },
    pageref=TEXT,
    serverIPAddress=TEXT,
    connection=TEXT,
)
HAR = members({"log": members({"version": {"const": "1.2"}, "creator": PROGRAM, "entries": list_of(ENTRY)}, browser=PROGRAM)})
HAR["$schema"] = "https://json-schema.org/draft/2020-12/schema"
