"""Writes docs/reference/s3-operations.md, s3-parameters.md and s3-errors.md from the tables of the emulator's source.

usage: python tools/docs/s3_pages.py

Operations, parameters and headers come from emulator/s3/dispatch/operations.cc and emulator/s3/core/strict.cc, the headers and
parameters of each operation from botocore's model of S3, the effects of sub-resources from
docs/explanation/emulator/bucket-configuration.md, and errors from emulator/message/errors.cc.
tests/repo/test_s3_pages.py fails if a page is out of date.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from botocore.loaders import Loader
from botocore.model import ServiceModel

ROOT = Path(__file__).resolve().parents[2]
STRING = r'"((?:[^"\\]|\\.)*)"'

# Operations and headers of S3 that have no row in the emulator's tables: requests with them are `501 NotImplemented`.
# Compared with botocore's model 1.44.8.
OTHER_OPERATIONS = (
    ("PutObjectAnnotation", "GetObjectAnnotation", "ListObjectAnnotations", "DeleteObjectAnnotation"),
    ("UpdateBucketMetadataAnnotationTableConfiguration",),
    ("WriteGetObjectResponse",),
)
OTHER_HEADERS = (
    ("x-amz-object-lock-event-hold", "PutObject, CopyObject, CreateMultipartUpload"),
    ("x-amz-object-lock-event-hold-duration-days", "PutObject, CopyObject, CreateMultipartUpload"),
    ("x-amz-object-lock-event-hold-duration-years", "PutObject, CopyObject, CreateMultipartUpload"),
    ("x-amz-object-annotation-directive", "CopyObject"),
    ("x-amz-object-if-match", "PutObjectAnnotation, DeleteObjectAnnotation"),
    ("x-amz-request-route, x-amz-request-token, x-amz-fwd-*", "WriteGetObjectResponse"),
)
FAMILIES = {
    "kNone": "any operation, or with checks of the operation",
    "kEncryption": "operations that store, copy or read objects",
    "kAcl": "operations that take an ACL",
    "kObjectLock": "operations that write or delete objects",
    "kCopySource": "copies",
    "kChecksum": "requests with a body",
    "kDirectory": "directory buckets",
}
# Known headers without the effect that they have on AWS.
KEPT_HEADERS = {
    "x-amz-bucket-object-lock-token": "no effect",
    "x-amz-confirm-remove-self-bucket-access": "no effect",
    "x-amz-mfa": "no effect, as without MFA Delete, which cannot be enabled",
    "x-amz-request-payer": "no effect: no requester is charged or refused",
    "x-amz-server-side-encryption": "checked, stored and returned; objects are not encrypted",
    "x-amz-server-side-encryption-aws-kms-key-id": "checked, stored and returned",
    "x-amz-server-side-encryption-bucket-key-enabled": "checked, stored and returned",
    "x-amz-server-side-encryption-context": "checked",
    "x-amz-skip-destination-validation": "leaves out the test event",
    "x-amz-website-redirect-location": "checked, stored and returned; websites are not served",
}
KEPT_OBJECT_OPERATIONS = {
    "UpdateObjectEncryption": "changes only the responses",
}


class Operation(NamedTuple):
    name: str
    method: str
    level: str
    selector: str
    done: bool


def block(source: str, start: str, end: str = "};") -> str:
    begin = source.index(start)
    return source[begin : source.index(end, begin)]


def operations() -> list[Operation]:
    source = (ROOT / "emulator/s3/dispatch/operations.cc").read_text()
    row = re.compile(r'\{\s*"(\w+)",\s*"([A-Z]+)",\s*k(\w+),\s*"([\w-]*)",\s*(\w+)', re.S)
    found = [
        Operation(name, method, level, selector, code != "nullptr") for name, method, level, selector, code in row.findall(source)
    ]
    return sorted(set(found), key=lambda each: (each.level != "Service", each.level != "Bucket", each.name))


def effects() -> dict[str, str]:
    """The effect of each sub-resource of a bucket, by the table of the page about bucket configuration."""
    page = (ROOT / "docs/explanation/emulator/bucket-configuration.md").read_text()
    rows = re.findall(r"^\| (`[^|]*) \| [^|]* \| ([^|]+) \|$", block(page, "| Sub-resource | Put, get", "\n\nChecks"), re.M)
    return {name: effect for names, effect in rows for name in re.findall(r"`([\w-]+)`", names)}


def status(operation: Operation, effect: dict[str, str]) -> tuple[str, str]:
    if not operation.done:
        return "refused", "`501 NotImplemented`"
    if operation.level == "Object":
        note = KEPT_OBJECT_OPERATIONS.get(operation.name, "")
        return ("kept" if note else "done"), note
    text = effect.get(operation.selector, "")
    kept = text.startswith(("stored", "reported", "checked"))
    note = re.sub(r" \(\[[^]]*\]\([^)]*\)\)", "", text)
    return ("kept", re.split(r"[.;]", note)[0]) if kept else ("done", "")


def request(operation: Operation) -> str:
    path = {"Service": "/", "Bucket": "/BUCKET", "Object": "/BUCKET/KEY"}[operation.level]
    return f"`{operation.method} {path}{'?' + operation.selector if operation.selector else ''}`"


def operations_page() -> str:
    effect, rows, counts = effects(), [], {"done": 0, "kept": 0, "refused": 0}
    for operation in operations():
        state, note = status(operation, effect)
        counts[state] += 1
        rows.append(f"| {operation.name} | {request(operation)} | {state} | {note} |")
    for names in OTHER_OPERATIONS:
        counts["refused"] += len(names)
        rows += [f"| {name} | | refused | `501 NotImplemented` |" for name in names]
    summary = ", ".join(f"{number} {state}" for state, number in counts.items())
    return f"""# S3 operations

This page lists each operation of S3, its request and what the emulator does with it.
It is made from the emulator's tables by `tools/docs/s3_pages.py`.

| Status | Meaning |
| --- | --- |
| done | the operation has its effect |
| kept | the document is checked, stored and returned; nothing else happens |
| refused | the request gets an error |

Rows: {summary}.
[Headers and parameters](s3-parameters.md) lists those of each operation.
[Bucket configuration](../explanation/emulator/bucket-configuration.md) has the effects in full, and
[Differences from AWS](../explanation/emulator/differences-from-aws.md) the details.

| Operation | Request | Status | Note |
| --- | --- | --- | --- |
{chr(10).join(rows)}

## Headers

The emulator knows these `x-amz-*` headers, besides `x-amz-meta-*` and `x-amz-checksum-*`.
Each unknown header is `501 NotImplemented`.

| Accepted with | Headers |
| --- | --- |
{chr(10).join(header_rows())}

These headers of S3 are refused:

| Header | Operations of S3 |
| --- | --- |
{chr(10).join(f"| `{name.replace(', ', '`, `')}` | {where} |" for name, where in OTHER_HEADERS)}

## Parameters

The emulator knows these query parameters, besides the sub-resources in the table of operations and the parameters of
presigned URLs. Other parameters with a value have no effect, as on S3. Without a value they are unknown sub-resources,
which are `501 NotImplemented`.

{", ".join(f"`{name}`" for name in parameters())}
"""


def known_headers() -> dict[str, str]:
    """The names of the `x-amz-*` headers that the emulator knows, with their families."""
    source = (ROOT / "emulator/s3/core/strict.cc").read_text()
    rows = re.findall(r'\{"([a-z0-9-]+)"(?:, (k\w+))?\}', block(source, "kHeaders[]"))
    return {f"x-amz-{name}": family or "kNone" for name, family in rows}


class Parameter(NamedTuple):
    """A header or query parameter of an operation. `shape` is botocore's."""

    name: str
    place: str
    state: str
    shape: Any


def parameters_of_model() -> dict[str, list[Parameter]]:
    """The headers and query parameters of each operation in botocore's model, without deprecated operations."""
    model = ServiceModel(Loader().load_service_model("s3", "service-2"))
    done = {each.name for each in operations() if each.done}
    found: dict[str, list[Parameter]] = {}
    for name in model.operation_names:
        operation = model.operation_model(name)
        if operation.deprecated:
            continue
        found[name] = []
        for shape in operation.input_shape.members.values() if operation.input_shape else ():
            place, wire = shape.serialization.get("location"), shape.serialization.get("name", "")
            if place in ("header", "headers", "querystring"):
                wire += "*" if place == "headers" else ""
                state = state_of(wire, place) if name in done else "refused"
                found[name].append(Parameter(wire, "parameter" if place == "querystring" else "header", state, shape))
    return found


def state_of(name: str, place: str) -> str:
    lower = name.lower()
    if lower in KEPT_HEADERS:
        return "kept"
    known = (
        place == "querystring" or lower in known_headers()
        or not lower.startswith("x-amz-") or lower.startswith(("x-amz-checksum-", "x-amz-meta-"))
    )  # fmt: skip
    return "done" if known else "refused"


def parameters_page() -> str:
    sections = []
    counts = {"done": 0, "kept": 0, "refused": 0}
    levels = {each.name: each for each in operations()}
    for name, every in parameters_of_model().items():
        rows = []
        for state in counts:
            cells = [
                ", ".join(f"`{each.name}`" for each in every if (each.state, each.place) == (state, place))
                for place in ("header", "parameter")
            ]
            counts[state] += sum(each.state == state for each in every)
            if any(cells):
                rows.append(f"| {state} | {cells[0]} | {cells[1]} |")
        head = f"{request(levels[name])}\n\n" if name in levels else ""
        body = "\n".join(["| Status | Headers | Query parameters |", "| --- | --- | --- |", *rows]) if rows else "None."
        sections.append(f"## {name}\n\n{head}{body}\n")
    kept = "\n".join(f"| `{name}` | {note} |" for name, note in KEPT_HEADERS.items())
    summary = ", ".join(f"{number} {state}" for state, number in counts.items())
    return f"""# Headers and parameters of S3 operations

This page lists every request header and query parameter of each operation, and what the emulator does with it.
It is made from botocore's model of S3 and the emulator's tables by `tools/docs/s3_pages.py`.

| Status | Meaning |
| --- | --- |
| done | it has its effect |
| kept | the table below has the difference |
| refused | the request gets `501 NotImplemented`, with the name of the header, or because its operation is refused |

Entries: {summary}.
Directory buckets refuse further headers, as S3 does: [Directory buckets](../explanation/emulator/directory-buckets.md).
[S3 operations](s3-operations.md) has the status of the operations, and the parameters of presigned URLs.

| Kept header | Difference |
| --- | --- |
{kept}

{chr(10).join(sections)}"""


def header_rows() -> list[str]:
    source = (ROOT / "emulator/s3/core/strict.cc").read_text()
    places = {
        name: ", ".join(filter(None, both))
        for name, *both in re.findall(r'\{"([\w-]+)", "(\w+)"(?:, "(\w+)")?\}', block(source, "kBucketHeaders[]"))
    }
    headers: dict[str, list[str]] = {}
    for header, family in known_headers().items():
        headers.setdefault(places.get(header) or FAMILIES[family], []).append(f"`{header}`")
    return [f"| {place} | {', '.join(sorted(names))} |" for place, names in headers.items()]


def parameters() -> list[str]:
    source = (ROOT / "emulator/s3/dispatch/operations.cc").read_text()
    return sorted(re.findall(r'"([\w-]+)"', block(source, "kParameters[]")), key=str.lower)


def errors_page() -> str:
    source = block((ROOT / "emulator/message/errors.cc").read_text(), "kErrors[]", "\n};")
    rows = []
    for found in re.finditer(
        r'\{"(?P<code>[\w.]+)", (?P<number>\d+), [\w:]+(?:,\s*(?P<text>(?:"(?:[^"\\]|\\.)*"\s*)+))?\}', source
    ):
        code, number = found["code"], found["number"]
        text = "".join(re.findall(STRING, found["text"] or "")).replace('\\"', '"')
        rows.append((int(number), code, text.strip().replace("|", "\\|")))
    table = "\n".join(f"| `{code}` | {number} | {text} |" for number, code, text in sorted(rows))
    return f"""# Errors of the emulator

This page lists the error codes of the emulator's S3 port with their HTTP status.
It is made from the emulator's table by `tools/docs/s3_pages.py`.

The texts were recorded from S3. Some codes have another text in some cases, and a code without a text has one for each case.
[Retries](retries.md) says which of them clients retry. [Faults](faults.md) can inject them.

| Code | Status | Text |
| --- | --- | --- |
{table}
"""


PAGES = {"s3-operations.md": operations_page, "s3-parameters.md": parameters_page, "s3-errors.md": errors_page}


def main() -> None:
    for name, page in PAGES.items():
        (ROOT / "docs/reference" / name).write_text(page())


if __name__ == "__main__":
    main()
