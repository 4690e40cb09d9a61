"""State that requests other than PUT of an object change, for tests of crashes: settings, buckets, uploads, versions, users.

Each register is changed by one thread and has one or two possible values: the acknowledged one, and that of a change without a
response. After a crash it must have one of them.
"""

from __future__ import annotations

import abc
import hashlib
import http.client
import json
import random
import re
import threading
from collections.abc import Callable
from typing import Any

from store_process import Requests, Server, admin, body_of, listed_versions

SIZES = [100, 40_000]  # stored in the database; stored in a file
SOURCE = body_of("source of part copies", 50_000)
UNKNOWN = "?"  # the id of a version whose PUT had no response


def digest(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


class Place:
    """A connection to a running server, for one thread."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.s3 = Requests(server.netloc)

    def admin(self, status: int, method: str, path: str, document: Any = None) -> Any:
        found, body = admin(self.server, method, path, document)
        assert found == status, (method, path, found, body)
        return json.loads(body)


class Register(abc.ABC):
    """One value of the store."""

    def __init__(self, name: str, value: Any = None) -> None:
        self.name = name
        self.states = [value]
        self.cut = threading.Event()  # set: later acknowledgements do not count

    @property
    def value(self) -> Any:
        return self.states[0]

    def write(self, value: Any, call: Callable[[], Any]) -> None:
        self.states.append(value)
        call()
        if not self.cut.is_set():
            self.states = self.states[-1:]

    def create(self, place: Place) -> None:  # noqa: B027
        """Prepares the store. Runs once, without a crash."""

    @abc.abstractmethod
    def change(self, place: Place, label: str, chance: random.Random) -> None:
        """Sends a request that changes the value."""

    @abc.abstractmethod
    def read(self, place: Place) -> Any:
        """The value in the store."""

    def allows(self, value: Any) -> bool:
        return value in self.states


class Setting(Register):
    """A sub-resource: an XML document with one changing text, or none."""

    def __init__(
        self, path: str, document: str, pattern: str, *, value: Any = None, values: Callable[[str], str] = str,
        can_be_deleted: bool = False, put_status: int = 200,
    ) -> None:  # fmt: skip
        super().__init__(path, value)
        self.document, self.pattern, self.values = document, pattern, values
        self.can_be_deleted, self.put_status = can_be_deleted, put_status

    def change(self, place: Place, label: str, chance: random.Random) -> None:
        if self.can_be_deleted and chance.random() < 0.3:
            self.write(None, lambda: place.s3.expect(204, "DELETE", self.name))
            return
        value = self.values(label)
        document = self.document.format(value).encode()
        # Without this header a retention cannot become shorter.
        headers = {"x_amz_bypass_governance_retention": "true"} if self.name.endswith("?retention=") else {}
        self.write(value, lambda: place.s3.expect(self.put_status, "PUT", self.name, document, **headers))

    def read(self, place: Place) -> str | None:
        status, body = place.s3.send("GET", self.name)
        assert status in (200, 404), (self.name, status, body)
        found = re.search(self.pattern, body.decode()) if status == 200 else None
        return found.group(1) if found else None


class ExistingBucket(Register):
    def change(self, place: Place, label: str, chance: random.Random) -> None:
        if self.value:
            self.write(False, lambda: place.s3.expect(204, "DELETE", self.name))
        else:
            self.write(True, lambda: place.s3.expect(200, "PUT", self.name))

    def read(self, place: Place) -> bool:
        status, _ = place.s3.send("HEAD", self.name)
        assert status in (200, 404), (self.name, status)
        return status == 200

    def allows(self, value: bool) -> bool:
        return value in [bool(state) for state in self.states]


class Form(Register):
    """An object that a form uploads."""

    def change(self, place: Place, label: str, chance: random.Random) -> None:
        body = body_of(label, chance.choice(SIZES))
        _, bucket, key = self.name.split("/")
        field = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
        form = f"{field.format('key')}{key}\r\n{field.format('file')}".encode() + body + b"\r\n--x--\r\n"
        headers = {"Content_Type": "multipart/form-data; boundary=x"}
        self.write(digest(body), lambda: place.s3.expect(204, "POST", f"/{bucket}", form, **headers))

    def read(self, place: Place) -> str | None:
        status, body = place.s3.send("GET", self.name)
        assert status in (200, 404), (self.name, status, body[:200])
        return digest(body) if status == 200 else None


class Upload(Register):
    """An open upload: None, or the MD5 of its part (empty: none yet). `finish` completes it after a crash."""

    id = ""

    def create(self, place: Place) -> None:
        place.s3.expect(200, "PUT", f"{self.name}-source", SOURCE)

    def change(self, place: Place, label: str, chance: random.Random) -> None:
        s3 = place.s3
        if self.value is None:
            self.write("", lambda: self.begin(s3))
            return
        kind = chance.random()
        part = f"{self.name}?partNumber=1&uploadId={self.id}"
        if kind < 0.2:
            self.write(None, lambda: s3.expect(204, "DELETE", f"{self.name}?uploadId={self.id}"))
        elif kind < 0.5:
            last = chance.randrange(len(SOURCE))
            headers = {"x_amz_copy_source": f"{self.name}-source", "x_amz_copy_source_range": f"bytes=0-{last}"}
            self.write(digest(SOURCE[: last + 1]), lambda: s3.expect(200, "PUT", part, **headers))
        else:
            body = body_of(label, chance.choice(SIZES))
            self.write(digest(body), lambda: s3.expect(200, "PUT", part, body))

    def begin(self, s3: Requests) -> None:
        found = re.search(rb"<UploadId>([^<]+)", s3.expect(200, "POST", f"{self.name}?uploads="))
        assert found
        self.id = found.group(1).decode()

    def read(self, place: Place) -> str | None:
        if not self.id:
            return None
        status, body = place.s3.send("GET", f"{self.name}?uploadId={self.id}")
        assert status in (200, 404), (self.name, status, body)
        if status == 404:
            return None
        etags = re.findall(r"<ETag>(?:&quot;|\")([^&\"]+)", body.decode())
        assert len(etags) <= 1, etags
        return etags[0] if etags else ""

    def finish(self, place: Place) -> None:
        """Completes the upload with the part of before the crash, and reads the object."""
        if self.value:
            part = f"<Part><PartNumber>1</PartNumber><ETag>{self.value}</ETag></Part>"
            document = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
            place.s3.expect(200, "POST", f"{self.name}?uploadId={self.id}", document)
            assert digest(place.s3.expect(200, "GET", self.name)) == self.value, f"{self.name}: wrong bytes of the part"
            self.states = [None]


class Versions(Register):
    """All versions of a key, newest first: the id, and the MD5 of the body or None for a delete marker."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ())

    def change(self, place: Place, label: str, chance: random.Random) -> None:
        kind, s3, before = chance.random(), place.s3, self.value
        if before and (kind < 0.3 or len(before) > 8):
            chosen = chance.choice(before)
            left = tuple(version for version in before if version != chosen)
            self.write(left, lambda: s3.expect(204, "DELETE", f"{self.name}?versionId={chosen[0]}"))
            return
        if kind < 0.4:
            made = None
            send = lambda: s3.expect(204, "DELETE", self.name)  # noqa: E731
        else:
            body = body_of(label, chance.choice(SIZES))
            made = digest(body)
            send = lambda: s3.expect(200, "PUT", self.name, body)  # noqa: E731

        def send_and_learn() -> None:
            send()
            self.states[-1] = ((s3.version, made), *before)

        self.write(((UNKNOWN, made), *before), send_and_learn)

    def read(self, place: Place) -> tuple[tuple[str, str | None], ...]:
        _, bucket, key = self.name.split("/")
        listed = listed_versions(place.s3.expect(200, "GET", f"/{bucket}?versions=&prefix={key}")).get(key, [])
        assert [version.is_latest for version in listed] == [number == 0 for number in range(len(listed))], listed
        found: list[tuple[str, str | None]] = []
        for version in listed:
            body = None if version.is_marker else place.s3.expect(200, "GET", f"{self.name}?versionId={version.version}")
            found.append((version.version, None if body is None else digest(body)))
        return tuple(found)

    def allows(self, value: tuple[tuple[str, str | None], ...]) -> bool:
        def same(state: tuple[tuple[str, str | None], ...]) -> bool:
            pairs = zip(state, value, strict=False)
            return len(state) == len(value) and all(a[1] == b[1] and a[0] in (b[0], UNKNOWN) for a, b in pairs)

        return any(same(state) for state in self.states)


class AccessKey(Register):
    """A user's access key by the admin API: None, or whether it is active."""

    def change(self, place: Place, label: str, chance: random.Random) -> None:
        path = f"access-keys/{self.name}"
        if self.value is None:
            key = {"access_key_id": self.name, "secret_access_key": "secret"}
            account = {"account_id": self.name.removeprefix("KEY"), "display_name": self.name, "access_keys": [key]}
            self.write(True, lambda: place.admin(200, "POST", "users", {"accounts": [account]}))
        elif chance.random() < 0.3:
            self.write(None, lambda: place.admin(200, "DELETE", path))
        else:
            active = not self.value
            self.write(active, lambda: place.admin(200, "PATCH", path, {"active": active}))

    def read(self, place: Place) -> bool | None:
        accounts = place.admin(200, "GET", "users")["accounts"]
        keys = [key for account in accounts for key in account["access_keys"] if key["access_key_id"] == self.name]
        return keys[0]["active"] if keys else None


class Namespace(Register):
    def change(self, place: Place, label: str, chance: random.Random) -> None:
        if self.value:
            self.write(None, lambda: place.admin(200, "DELETE", f"namespaces/{self.name}"))
        else:
            self.write(True, lambda: place.admin(201, "POST", "namespaces", {"name": self.name}))

    def read(self, place: Place) -> bool | None:
        return self.name in place.admin(200, "GET", "namespaces")["namespaces"] or None


def registers(number: int) -> list[Register]:
    """The registers of one thread."""
    bucket = f"/settings-{number}"
    tagging = "<Tagging><TagSet><Tag><Key>k</Key><Value>{}</Value></Tag></TagSet></Tagging>"
    lifecycle = (
        "<LifecycleConfiguration><Rule><ID>{}</ID><Status>Enabled</Status><Filter/>"
        "<Expiration><Days>9</Days></Expiration></Rule></LifecycleConfiguration>"
    )
    versioning = "<VersioningConfiguration><Status>{}</Status></VersioningConfiguration>"
    retention = "<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>{}T00:00:00.000Z</RetainUntilDate></Retention>"
    hold = "<LegalHold><Status>{}</Status></LegalHold>"

    def one_of(first: str, second: str) -> Callable[[str], str]:
        return lambda label: first if sum(label.encode()) % 2 else second

    def date(label: str) -> str:
        return f"{2100 + sum(label.encode()) % 150}-01-01"

    return [
        Setting(f"{bucket}?tagging=", tagging, r"<Value>([^<]*)", can_be_deleted=True, put_status=204),
        Setting(f"{bucket}?lifecycle=", lifecycle, r"<ID>([^<]*)", can_be_deleted=True),
        Setting(f"{bucket}?versioning=", versioning, r"<Status>([^<]*)", values=one_of("Enabled", "Suspended")),
        Setting(f"/locked/{number}?legal-hold=", hold, r"<Status>([^<]*)", values=one_of("ON", "OFF")),
        Setting(f"/locked/{number}-kept?retention=", retention, r"Date>([^T<]*)", values=date),
        ExistingBucket(f"/comes-and-goes-{number}"),
        Form(f"/forms/{number}"),
        Upload(f"/uploads/{number}"),
        Versions(f"/history/{number}"),
        AccessKey(f"KEY{number:012}"),
        Namespace(f"space-{number}"),
    ]


class RegisterWorker(threading.Thread):
    """Changes its registers until the server or the disk is gone."""

    def __init__(self, server: Server, own: list[Register], seed: str) -> None:
        super().__init__()
        self.server, self.own, self.seed = server, own, seed
        self.random = random.Random(seed)
        self.changes = 0
        self.refused: str | None = None

    def run(self) -> None:
        try:
            place = Place(self.server)
            while True:
                self.changes += 1
                register = self.random.choice(self.own)
                register.change(place, f"{self.seed} {self.changes}".replace(" ", "-"), self.random)
                if register.cut.is_set():
                    return
        except AssertionError as refused:
            self.refused = str(refused)
        except (OSError, http.client.HTTPException):
            pass  # killed


def create(server: Server, everything: list[Register]) -> None:
    place = Place(server)
    for bucket in ("forms", "uploads", "history"):
        place.s3.expect(200, "PUT", f"/{bucket}")
    versioned = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    place.s3.expect(200, "PUT", "/history?versioning=", versioned)
    place.s3.expect(200, "PUT", "/locked", x_amz_bucket_object_lock_enabled="true")
    for path in {register.name.partition("?")[0] for register in everything if isinstance(register, Setting)}:
        place.s3.expect(200, "PUT", path)
    for register in everything:
        register.create(place)


def check(server: Server, everything: list[Register], crash: str) -> int:
    """Checks that every register has a possible value, which is the known one from now on. Returns how many are not empty."""
    place = Place(server)
    found = 0
    for register in everything:
        value = register.read(place)
        assert register.allows(value), f"{crash}: {register.name} is {value}; it may be {register.states}"
        register.states = [value]
        found += bool(value)
        if isinstance(register, Upload):
            register.finish(place)
    return found
