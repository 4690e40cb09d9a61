"""Random lifecycle configurations and histories: the emulator and the slow evaluator keep the same versions and uploads.

PENSTOCK_PROPERTY_RUNS and PENSTOCK_PROPERTY_SEED choose the number of histories and the first seed, as in test_model.py.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

import pytest
from lifecycle_reference import FAVORED, Bucket, Upload, Version
from penstock_emulator import Emulator

RUNS = int(os.environ.get("PENSTOCK_PROPERTY_RUNS", "200")) // 8
FIRST_SEED = int(os.environ.get("PENSTOCK_PROPERTY_SEED", "1"))
STEPS = 40
START = datetime(2030, 1, 1, 12, tzinfo=timezone.utc)
KEYS = ["a", "a/1", "a/2", "b", "b/1"]
PREFIXES = ["", "", "a", "a/", "b"]
SIZES = [0, 5, 100, 128 * 1024 - 1, 128 * 1024, 150_000]
BODIES = {size: b"x" * size for size in SIZES}
ENTRY = re.compile(rb"<(Version|DeleteMarker)>(.*?)</\1>", re.S)


class History:
    """A bucket of the emulator and its model."""

    def __init__(self, emulator: Emulator, name: str, random: Random) -> None:
        self.emulator, self.name, self.random = emulator, name, random
        parts = urlsplit(emulator.endpoint)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self.bucket = Bucket()
        self.now = START
        self.log: list[str] = []
        self.configurations = 0
        emulator.clock().freeze()
        emulator.clock().set(START)
        assert self.send("PUT")[0] == 200

    def send(self, method: str, key: str = "", query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""):
        path = f"/{self.name}" + (f"/{quote(key)}" if key else "") + (f"?{query}" if query else "")
        digest = base64.b64encode(hashlib.md5(body).digest()).decode()
        self.connection.request(method, path, body, {"Content-MD5": digest, **(headers or {})})
        response = self.connection.getresponse()
        text = response.read()
        self.log.append(f"{self.now} {method} {path} {dict(headers or {})} {body[:2000]!r} -> {response.status}")
        return response.status, response.headers, text

    def step(self) -> None:
        steps = [self.put] * 8 + [self.delete] * 3 + [self.delete_version] + [self.tag] + [self.upload] * 2
        self.random.choice(steps + [self.configure] * 3 + [self.version] + [self.advance] * 5)()

    # -- steps

    def put(self) -> None:
        key, size = self.random.choice(KEYS), self.random.choice(SIZES)
        tags = self.random.choice([{}, {}, {"t": "1"}, {"t": "1", "u": "2"}])
        storage_class = self.random.choice(["STANDARD", "STANDARD", "STANDARD", "ONEZONE_IA", "GLACIER_IR"])
        headers = {"x-amz-storage-class": storage_class}
        if tags:
            headers["x-amz-tagging"] = "&".join(f"{name}={value}" for name, value in tags.items())
        status, received, _ = self.send("PUT", key, "", headers, BODIES[size])
        assert status == 200
        version = received.get("x-amz-version-id", "null")
        self.bucket.add(key, Version(version, self.now, False, size, tags, storage_class))

    def delete(self) -> None:
        key = self.random.choice(KEYS)
        _, received, _ = self.send("DELETE", key)
        self.bucket.delete(key, received.get("x-amz-version-id", ""), self.now)

    def delete_version(self) -> None:
        known = [(key, version.id) for key, versions in self.bucket.keys.items() for version in versions]
        if not known:
            return
        key, version = self.random.choice(known)
        assert self.send("DELETE", key, f"versionId={version}")[0] == 204
        left = [other for other in self.bucket.keys[key] if other.id != version]
        self.bucket.keys[key] = left
        if not left:
            del self.bucket.keys[key]

    def tag(self) -> None:
        known = [(key, version) for key, all_ in self.bucket.keys.items() for version in all_ if not version.marker]
        if not known:
            return
        key, version = self.random.choice(known)
        body = b"<Tagging><TagSet><Tag><Key>t</Key><Value>1</Value></Tag></TagSet></Tagging>"
        assert self.send("PUT", key, f"tagging&versionId={version.id}", None, body)[0] == 200
        version.tags = {"t": "1"}

    def upload(self) -> None:
        key = self.random.choice(KEYS)
        _, _, text = self.send("POST", key, "uploads")
        found = re.search(rb"<UploadId>(.*?)</UploadId>", text)
        assert found
        self.bucket.uploads.append(Upload(key, found[1].decode(), self.now))

    def version(self) -> None:
        self.bucket.versioning = self.random.choice(["Enabled", "Enabled", "Suspended"])
        body = f"<VersioningConfiguration><Status>{self.bucket.versioning}</Status></VersioningConfiguration>"
        assert self.send("PUT", "", "versioning", None, body.encode())[0] == 200

    def configure(self) -> None:
        rules = [self.rule(str(number)) for number in range(self.random.randint(1, 3))]
        minimum = self.random.choice(["all_storage_classes_128K", "varies_by_storage_class"])
        headers = {"x-amz-transition-default-minimum-object-size": minimum}
        body = f"<LifecycleConfiguration>{''.join(map(rule_xml, rules))}</LifecycleConfiguration>"
        status, _, text = self.send("PUT", "", "lifecycle", headers, body.encode())
        if status != 200:  # S3 refuses rules whose actions contradict each other
            assert status == 400, text
            return
        self.configurations += 1
        self.bucket.rules, self.bucket.minimum = rules, minimum

    def rule(self, name: str) -> dict[str, Any]:
        random = self.random
        conditions: dict[str, Any] = {"Prefix": random.choice(PREFIXES)}
        if random.random() < 0.2:
            conditions["Tags"] = [{"Key": "t", "Value": "1"}]
        if random.random() < 0.2:
            conditions["ObjectSizeGreaterThan"] = random.choice(SIZES)
        if random.random() < 0.1:
            conditions["ObjectSizeLessThan"] = random.choice([6, 200_000])
        rule: dict[str, Any] = {"ID": name, "Status": random.choice(["Enabled"] * 5 + ["Disabled"])}
        rule["Filter"] = {"And": conditions} if len(conditions) > 1 else conditions
        plain = len(conditions) == 1
        if random.random() < 0.6:
            rule["Expiration"] = random.choice(
                [{"Days": random.randint(1, 60)}, {"Days": random.randint(1, 4)}, {"Date": self.day(random.randint(-5, 40))}]
                + ([{"ExpiredObjectDeleteMarker": True}] * 2 if plain else [])
            )
        if random.random() < 0.5:
            action = {"NoncurrentDays": random.randint(1, 30)}
            if random.random() < 0.5:
                action["NewerNoncurrentVersions"] = random.randint(1, 3)
            rule["NoncurrentVersionExpiration"] = action
        if random.random() < 0.4:
            rule["Transitions"] = [
                {random.choice(["Days"]): random.choice([0, 10, 30, 31, 45]), "StorageClass": random.choice(FAVORED)}
                for _ in range(random.randint(1, 2))
            ]
            if random.random() < 0.2:
                rule["Transitions"] = [{"Date": self.day(random.randint(-5, 20)), "StorageClass": random.choice(FAVORED)}]
        if random.random() < 0.4:
            move = {"NoncurrentDays": random.choice([1, 5, 30, 40]), "StorageClass": random.choice(FAVORED)}
            if random.random() < 0.4:
                move["NewerNoncurrentVersions"] = random.randint(1, 2)
            rule["NoncurrentVersionTransitions"] = [move]
        if plain and random.random() < 0.4:
            rule["AbortIncompleteMultipartUpload"] = {"DaysAfterInitiation": random.randint(1, 20)}
        return rule

    def day(self, days: int) -> datetime:
        return self.now.replace(hour=0) + timedelta(days=days)

    def advance(self) -> None:
        """Moves the clock, runs the rules, and compares."""
        hours = self.random.choice([1, 12, 13, 24, 36, 24 * 7, 24 * 31, 24 * 50])
        self.now += timedelta(hours=hours)
        self.emulator.clock().set(self.now)
        account = self.emulator.run_lifecycle()
        self.log.append(f"{self.now} run: {account['log']}")
        self.bucket.run(self.now)
        self.compare()
        again = self.emulator.run_lifecycle()
        assert again["actions"] == 0, self.report(f"a second run did {again['log']}")

    # -- comparison

    def compare(self) -> None:
        _, _, text = self.send("GET", "", "versions")
        found: dict[str, list[tuple[str, ...]]] = {}
        for kind, entry in ENTRY.findall(text):
            fields = {name.decode(): value.decode() for name, value in re.findall(rb"<(\w+)>([^<]*)</\1>", entry)}
            key, marker = fields["Key"], kind == b"DeleteMarker"
            # Ids of markers that the run created are learned.
            versions = self.bucket.keys.get(key, [])
            place = len(found.setdefault(key, []))
            if marker and place < len(versions) and versions[place].id == "new":
                versions[place].id = fields["VersionId"]
            found[key].append((fields["VersionId"], "marker" if marker else fields["StorageClass"]))
        expected = {
            key: [(version.id, "marker" if version.marker else version.storage_class) for version in versions]
            for key, versions in self.bucket.keys.items()
        }
        assert found == expected, self.report(f"the emulator has {found}, the model {expected}")
        _, _, text = self.send("GET", "", "uploads")
        uploads = {value.decode() for value in re.findall(rb"<UploadId>(.*?)</UploadId>", text)}
        assert uploads == {upload.id for upload in self.bucket.uploads}, self.report("the uploads differ")

    def report(self, difference: str) -> str:
        return difference + "\n" + "\n".join(self.log)


def rule_xml(rule: dict[str, Any]) -> str:
    return f"<Rule>{''.join(element(name, value) for name, value in rule.items())}</Rule>"


def element(name: str, value: Any) -> str:
    singular = {"Transitions": "Transition", "NoncurrentVersionTransitions": "NoncurrentVersionTransition", "Tags": "Tag"}
    if isinstance(value, list):
        return "".join(element(singular[name], each) for each in value)
    if isinstance(value, dict):
        return f"<{name}>{''.join(element(*item) for item in value.items())}</{name}>"
    text = value.strftime("%Y-%m-%dT00:00:00Z") if isinstance(value, datetime) else str(value)
    return f"<{name}>{escape(text.lower() if isinstance(value, bool) else text)}</{name}>"


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(auth="off", journal_size=0) as instance:
        yield instance


@pytest.mark.timeout(1800)
def test_random_lifecycle_histories_keep_the_same_versions(emulator: Emulator) -> None:
    configurations = 0
    for seed in range(FIRST_SEED, FIRST_SEED + max(RUNS, 1)):
        emulator.reset()
        history = History(emulator, f"bucket-{seed}", Random(seed))
        try:
            for _ in range(STEPS):
                history.step()
            history.advance()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        finally:
            history.connection.close()
        configurations += history.configurations
    assert configurations > RUNS
