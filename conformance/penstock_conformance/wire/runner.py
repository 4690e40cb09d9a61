"""Runs cases against an endpoint. Each case has its own buckets, which are deleted afterwards."""

from __future__ import annotations

import http.client
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus
from xml.etree import ElementTree

from . import directory
from . import request as requests
from .cases import Case
from .connection import Connection, Response
from .expectation import differences, saved, texts
from .laws import LAWS
from .signing import Identity
from .template import fill, fill_all, names_in

PROVIDED = {
    *("bucket", "other_bucket", "new_bucket", "missing_bucket", "prefix", "region"),
    *("host", "hostname", "port_suffix", "access_key", "secret_key"),
    "filename",  # S3 replaces it in forms (request.py)
}
_BUCKET = re.compile("/([^/]+)/?")
MAX_ROUNDS = 50  # pages of versions or uploads that the cleanup deletes
RELEASE = {"headers": {"Content-MD5": "${body_md5}"}, "body": "<LegalHold><Status>OFF</Status></LegalHold>"}
OVERRIDE = {"x-amz-bypass-governance-retention": "true"}


@dataclass
class Verdict:
    """Result of a case. `problems` is empty if it passed; `not_run` is what the endpoint lacks, if it was not run."""

    case: Case
    problems: list[str] = field(default_factory=list)
    not_run: str = ""


@dataclass
class Report:
    """All verdicts; for each law, the number of responses it was checked on and the violations."""

    verdicts: list[Verdict] = field(default_factory=list)
    laws_checked: Counter[str] = field(default_factory=Counter)
    laws_broken: dict[str, list[str]] = field(default_factory=dict)

    @property
    def failed(self) -> list[Verdict]:
        """Cases that failed."""
        return [verdict for verdict in self.verdicts if verdict.problems]


class Runner:
    """Runs cases against one endpoint. Not thread-safe.

    Args:
        endpoint: `http://host:port` or `https://…`.
        identity: Credentials with all permissions.
        region: The endpoint's region.
        second: Credentials of another account, for the cases that need them.
        ca_file: PEM file with the certificates to trust over HTTPS.
    """

    def __init__(
        self,
        endpoint: str,
        identity: Identity,
        region: str = "us-east-1",
        second: Identity | None = None,
        ca_file: str | None = None,
    ) -> None:
        self._connection = Connection(endpoint, ca_file)
        self._target = requests.Target(endpoint.rstrip("/"), self._connection.host, region, identity, second)
        self._prefix = f"conf-{secrets.token_hex(4)}"
        self._number = 0
        self._made: list[str] = []  # buckets of the current case
        self._on_directory = False  # whether the current case uses directory buckets
        self._has_directories: bool | None = None  # None: not known yet

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def run(self, cases: Iterable[Case], on_verdict: Callable[[Verdict], None] = lambda verdict: None) -> Report:
        """Runs cases in sequence and calls `on_verdict` after each."""
        report = Report()
        for case in cases:
            verdict = self.judge(case, report)
            report.verdicts.append(verdict)
            on_verdict(verdict)
        return report

    def judge(self, case: Case, report: Report) -> Verdict:
        """Runs one case. Checks of the laws on its response are added to `report`."""
        lacking = self._lacking(case)
        if lacking:
            return Verdict(case, not_run=lacking)
        self._number += 1
        values = self._names()
        self._on_directory = case.bucket == "directory"
        if self._on_directory:
            values |= {name: values[name] + directory.SUFFIX for name in ("bucket", "new_bucket", "missing_bucket")}
        verdict = Verdict(case)
        try:
            self._prepare(case, values)
            for number, step in enumerate(case.setup, 1):
                self._set_up(step, values, f"set-up step {number}")
            method, response = self._send(case.request, values)
            verdict.problems = differences(response, fill_all(case.expect, values))
            self._check_laws(case, method, response, report)
        except (OSError, http.client.HTTPException, ValueError, KeyError, ElementTree.ParseError) as error:
            self._connection.close()
            verdict.problems.append(f"{type(error).__name__}: {error}")
        for bucket in self._made:
            self._clean_up(bucket)
        self._made.clear()
        self._on_directory = False
        return verdict

    def _lacking(self, case: Case) -> str:
        for need in case.needs:
            name, _, value = need.partition(":")
            if name == "http" and not self._target.endpoint.startswith("http:"):
                return "needs plain HTTP"
            if name == "second_account" and self._target.second is None:
                return "needs a second account (--second-access-key)"
            if name == "region" and self._target.region != value:
                return f"needs region {value}"
            if name == "not_region" and self._target.region == value:
                return f"needs a region other than {value}"
        return "needs directory buckets" if case.bucket == "directory" and not self._serves_directories() else ""

    def _serves_directories(self) -> bool:
        if self._has_directories is None:
            bucket = f"{self._prefix}{directory.SUFFIX}"
            spec = directory.signed({"method": "PUT", "path": f"/{bucket}", "body": directory.DOCUMENT})
            self._has_directories = self._send(spec, {})[1].status == 200
            self._made.clear()
            self._clean_up(bucket)
        return self._has_directories

    def _names(self) -> dict[str, str]:
        names = {word: f"{self._prefix}-{self._number}-{letter}" for word, letter in
                 [("bucket", "a"), ("other_bucket", "b"), ("new_bucket", "n"), ("missing_bucket", "m")]}  # fmt: skip
        target = self._target
        return {
            **names,
            "prefix": f"{self._prefix}-{self._number}-",
            "region": target.region,
            "host": target.host,
            "access_key": target.identity.access_key,
            "secret_key": target.identity.secret_key,
            "hostname": target.host.partition(":")[0],
            "port_suffix": "".join(target.host.partition(":")[1:]),
        }

    def _prepare(self, case: Case, values: dict[str, str]) -> None:
        if case.bucket == "none":
            return
        if case.bucket == "directory":
            self._set_up({"method": "PUT", "path": f"/{values['bucket']}", "body": directory.DOCUMENT}, {}, "directory bucket")
            return
        self._create(values["bucket"])
        if "other_bucket" in names_in([case.request, case.setup, case.expect]):
            self._create(values["other_bucket"])
        if case.bucket in ("versioned", "suspended"):
            self._set_up(versioning("Enabled"), values, "versioning")

    def _create(self, bucket: str) -> None:
        body = "" if self._target.region == "us-east-1" else location(self._target.region)
        self._set_up({"method": "PUT", "path": f"/{bucket}", "body": body}, {}, "bucket")

    def _set_up(self, step: Mapping[str, Any], values: dict[str, str], what: str) -> None:
        step = dict(step)
        keep, wanted = step.pop("save", {}), step.pop("status", None)
        _, response = self._send(step, values)
        if response.status != wanted if wanted else response.status >= 300:
            raise ValueError(f"{what} ({step['method']} {step['path']}) returned {response.status}: {response.body[:300]!r}")
        for name, where in keep.items():
            values[name] = saved(response, where)

    def _send(self, spec: Mapping[str, Any], values: Mapping[str, str]) -> tuple[str, Response]:
        if self._on_directory:
            spec = directory.signed(dict(spec))
        method, head, body = requests.build(spec, values, self._target)
        response = self._connection.send(method, head, body, half_close=spec.get("half_close", False))
        bucket = _BUCKET.fullmatch(fill(spec["path"], values))
        if method == "PUT" and response.status == 200 and bucket and "query" not in spec and bucket[1] not in self._made:
            self._made.append(bucket[1])
        return method, response

    @staticmethod
    def _check_laws(case: Case, method: str, response: Response, report: Report) -> None:
        for law in LAWS:
            report.laws_checked[law.name] += 1
            broken = law.broken_by(method, response)
            if broken:
                report.laws_broken.setdefault(law.name, []).append(f"{case.name}: {broken}")

    def _clean_up(self, bucket: str) -> None:
        """Deletes a bucket with its contents. Errors are ignored: what cannot be deleted remains at the endpoint."""
        try:
            self._on_directory = directory.is_directory(bucket)
            if self._request("DELETE", f"/{bucket}").status == 409:
                if self._on_directory:
                    directory.empty(self._request, bucket)
                else:
                    self._empty(bucket)
                self._request("DELETE", f"/{bucket}")
        except (OSError, http.client.HTTPException, ElementTree.ParseError):
            self._connection.close()

    def _empty(self, bucket: str) -> None:
        for _ in range(MAX_ROUNDS):
            listing = ElementTree.fromstring(self._request("GET", f"/{bucket}", "encoding-type=url&versions").body)
            encoded = bool(texts(listing, "EncodingType"))  # XML cannot represent some control characters of keys
            found = [
                pair
                for kind in ("Version", "DeleteMarker")
                for pair in zip(texts(listing, f"{kind}/Key"), texts(listing, f"{kind}/VersionId"), strict=True)
            ]
            for listed, version in found:
                key = unquote_plus(listed) if encoded else listed
                self._remove(bucket=bucket, key=key, version=version)
            if not found:
                return

    def _remove(self, **values: str) -> None:
        path, version = "/${bucket}/${key|path}", "versionId=${version|url}"
        if self._request("DELETE", path, version, **values).status != 403:
            return
        # The version is locked: remove its legal hold and override a GOVERNANCE retention.
        self._send({"method": "PUT", "path": path, "query": f"legal-hold&{version}", **RELEASE}, values)
        self._send({"method": "DELETE", "path": path, "query": version, "headers": OVERRIDE}, values)

    def _request(self, method: str, path: str, query: str | None = None, **values: str) -> Response:
        spec = {"method": method, "path": path, **({"query": query} if query is not None else {})}
        return self._send(spec, values)[1]


def versioning(status: str) -> dict[str, Any]:
    """The step that sets `${bucket}`'s versioning."""
    body = f"<VersioningConfiguration><Status>{status}</Status></VersioningConfiguration>"
    return {"method": "PUT", "path": "/${bucket}", "query": "versioning", "headers": {"Content-MD5": "${body_md5}"}, "body": body}


def location(region: str) -> str:
    """The body of CreateBucket outside us-east-1."""
    return f"<CreateBucketConfiguration><LocationConstraint>{region}</LocationConstraint></CreateBucketConfiguration>"
