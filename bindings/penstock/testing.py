"""Testing without AWS: the emulator inside this process.

with penstock.testing.Emulator() as s3:
    client = s3.client()
    client.create_bucket("data")

pytest has fixtures for it (penstock.pytest_plugin); unittest and scripts have `emulated_s3`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from . import _core
from ._client import S3Client
from ._clock import Clock
from ._config import S3ClientConfig
from ._emulated_s3 import emulated_s3
from ._emulator_documents import limits_json, read_json
from ._faults import FaultAccount, FaultDocument, Faults, RetryTest, RuleAccount, _document_text
from ._journal import Journal
from ._journal_entry import Filter, JournalEntry, RangeReport, Retry
from ._json_text import json_text

__all__ = [
    "ACCESS_KEY_ID",
    "SECRET_ACCESS_KEY",
    "Clock",
    "Emulator",
    "FaultAccount",
    "FaultDocument",
    "Faults",
    "Filter",
    "Journal",
    "JournalEntry",
    "Namespace",
    "RangeReport",
    "Retry",
    "RetryTest",
    "RuleAccount",
    "SeedReport",
    "emulated_s3",
]

ACCESS_KEY_ID = "penstock"
SECRET_ACCESS_KEY = "penstock-secret"


class _Access(ABC):
    """What clients need to reach an emulator with one access key."""

    region: str
    access_key_id: str
    secret_access_key: str
    session_token: str | None = None  # of a temporary key

    @property
    @abstractmethod
    def endpoint(self) -> str:
        """URL of the S3 endpoint."""

    def environment(self) -> dict[str, str]:
        """Environment variables that make AWS SDKs, the AWS CLI and Penstock use this key."""
        variables = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
        }
        return variables | ({"AWS_SESSION_TOKEN": self.session_token} if self.session_token else {})

    def client(self, s3client_config: S3ClientConfig | None = None) -> S3Client:
        """A client with this key."""
        return S3Client(self.region, endpoint=self.endpoint, s3client_config=self.config(s3client_config))

    def config(self, base: S3ClientConfig | None = None) -> S3ClientConfig:
        """`base`, or the defaults, with this key and path-style addressing."""
        return dataclasses.replace(
            base or S3ClientConfig(),
            force_path_style=True,
            access_key_id=self.access_key_id,
            secret_access_key=self.secret_access_key,
            session_token=self.session_token,
        )


class Emulator(_Access):
    """An S3 emulator inside this process, on a free port of 127.0.0.1. A context manager.

    Args:
        data_directory: Keep everything there; None: in memory. Where it keeps other users than those given, the given
            ones win, and a ``UserWarning`` says so. A new directory gets mode 0700; a ``UserWarning`` says that others may
            read one that was there.
        strict_durability: An acknowledged write is on disk.
        auth: "verify": everything is checked; "parse": form, region, clock skew, expiry and inactive keys, but no signature
            and no payload hash: no secret is needed; "off": everybody is the first access key, in the default namespace.
        access_keys: Pairs of access key id and secret that are accepted, each the root of an account of its own; None:
            one default pair, unless `users` says who there is.
        users: Accounts, users and access keys, as a dict or the path of a JSON file; docs/admin-api.md has the format.
            Without `access_keys`, `client()` and `environment()` use the first active key among them.
        region: The region it plays.
        fail_rate: Share of requests answered 503 SlowDown, decided by `fail_seed`, not by chance.
        tls: Paths of a PEM certificate and its key; None: plain HTTP.
        port: 0: any free port.
        admin_token: Requests to the admin listener must bring it; None: they need nothing.
        limits: What every namespace begins with of limits, latency and bandwidth: a preset ("aws-standard", "aws-strict",
            "aws-express"), the path of a JSON file, or a dict as in docs/limits.schema.json; None: none.
        log_path: File that gets one JSON line per request; None: none.
        faults: The scenario of faults that every namespace begins with, and has again after a reset, as `Faults.set` takes
            it; None: none.
        journal_bytes: Of requests that each namespace's journal keeps, about 300 bytes for each, 131072 (128 KiB) to 1 TiB;
            0: no journal.
        relaxed_bucket_names: Buckets may also have names that S3 refuses and other mocks of it take: 1 to 255 letters, digits,
            ``.``, ``-`` and ``_``, of which the first is no ``.`` or ``-``.
        moto_reset: Whether ``POST /moto-api/reset`` on the S3 port, which needs no signature, empties every namespace; None:
            only without `data_directory`.
        memory_limit: Bytes of memory that objects and request documents may take without `data_directory`, 1048576 (1 MiB) or
            more. Uploads beyond it are answered 507 InsufficientStorage, documents 503 SlowDown. None: three quarters of the
            control group's memory limit, else half of the machine's memory, shared by all emulators of this process that have
            None.

    Raises:
        ValueError: an option cannot work; the message names it.

    Thread safety: safe from any thread. A forked child must not use it, but may send requests to it.
    """

    def __init__(
        self,
        *,
        data_directory: str | None = None,
        strict_durability: bool = False,
        auth: Literal["verify", "parse", "off"] = "verify",
        access_keys: list[tuple[str, str]] | None = None,
        users: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        region: str = "us-east-1",
        fail_rate: float = 0.0,
        fail_seed: int = 1,
        tls: tuple[str, str] | None = None,
        port: int = 0,
        admin_token: str | None = None,
        limits: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        log_path: str | None = None,
        faults: FaultDocument | None = None,
        journal_bytes: int = 16 << 20,
        relaxed_bucket_names: bool = False,
        moto_reset: bool | None = None,
        memory_limit: int | None = None,
    ) -> None:
        # Beyond what C++'s integers hold a binding would only say that the types are wrong.
        for name, value, most in (
            ("port", port, 65_535),
            ("fail_seed", fail_seed, 2**64 - 1),
            ("journal_bytes", journal_bytes, 2**40),
            ("memory_limit", memory_limit or 0, 2**63),
        ):
            if not 0 <= value <= most:
                raise ValueError(f"{name} is {value}; it takes 0 to {most}")
        certificate, key = tls or ("", "")
        users_path, users_json = "", ""
        if isinstance(users, Mapping):
            users_json = json_text(users, "users")
        elif users is not None:
            users_path = os.fspath(users)
        self.region = region
        self._core = _core.Emulator(
            port=port, admin_token=admin_token or "", data_directory=data_directory or "",
            strict_durability=strict_durability, auth=auth, access_keys=access_keys or [], users_path=users_path,
            users_json=users_json, region=region, fail_rate=fail_rate, fail_seed=fail_seed, tls_certificate=certificate,
            tls_key=key, log_path=log_path or "", faults_json="" if faults is None else _document_text(faults),
            journal_bytes=journal_bytes, limits_json=limits_json(limits),
            relaxed_bucket_names=relaxed_bucket_names, moto_reset=moto_reset, memory_limit_bytes=memory_limit or 0,
        )  # fmt: skip
        self._planned_faults: set[str] = set()  # namespaces; pytest's fixtures ask which test did
        for notice in self._core.notices:
            warnings.warn(notice, UserWarning, stacklevel=2)
        # The emulator has checked the users by now.
        if users is not None and not access_keys:
            self._use_first_key(users if isinstance(users, Mapping) else read_json(users_path))
        else:
            self.access_key_id, self.secret_access_key = (access_keys or [(ACCESS_KEY_ID, SECRET_ACCESS_KEY)])[0]

    def _use_first_key(self, users: Mapping[str, Any]) -> None:
        holders = [holder for account in users["accounts"] for holder in (account, *account.get("users", []))]
        keys = [key for holder in holders for key in holder.get("access_keys", []) if key.get("active", True)]
        first = keys[0] if keys else {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY}
        self.access_key_id, self.secret_access_key = first["access_key_id"], first["secret_access_key"]
        self.session_token = first.get("session_token")

    def __enter__(self) -> Emulator:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def endpoint(self) -> str:
        """URL of the S3 endpoint."""
        return self._core.endpoint

    @property
    def admin_endpoint(self) -> str:
        """URL of the admin listener."""
        return self._core.admin_endpoint

    def stats(self) -> dict[str, Any]:
        """Requests by operation, answers by status, body bytes in and out, injected failures, and survived errors by name.

        The last ones, `diagnostics`, are the process's since it began; a reset leaves them.
        """
        return self._core.stats()

    def reset(self, namespace: str | None = None) -> None:
        """Forgets every bucket and object, sets the clock back to the machine's time, and makes the counters zero.

        Args:
            namespace: Only this one's buckets and clock, and no counters; None: every namespace's.

        Raises:
            S3NotFoundError: there is no such namespace.
        """
        if namespace is None:
            self._core.reset()
        else:
            self._core.reset_namespace(namespace)

    def namespaces(self) -> list[str]:
        """Names of the namespaces, "default" first."""
        return self._core.namespaces()

    def create_namespace(self, name: str) -> Namespace:
        """A new universe of buckets, and an access key that selects it.

        Raises:
            ValueError: `name` is not 1 to 63 letters, digits, - _ and . that begin with a letter or digit.
            S3ConflictError: there is one of that name.
        """
        return Namespace(self, name, *self._core.create_namespace(name))

    def delete_namespace(self, name: str) -> None:
        """Removes the namespace `name` with its buckets and the access keys that select it.

        Raises:
            S3NotFoundError: there is no such namespace.
            ValueError: it is the default one.
        """
        self._core.delete_namespace(name)
        self._planned_faults.discard(name)

    def clock(self, namespace: str = "default") -> Clock:
        """The clock of a namespace. Whether there is such a namespace shows when the clock is used."""
        return Clock(self._core, namespace)

    def faults(self, namespace: str = "default") -> Faults:
        """The faults of a namespace. Whether there is such a namespace shows when they are used."""
        return Faults(self._core, namespace, self._planned_faults.add)

    def journal(self, namespace: str = "default") -> Journal:
        """What clients asked of a namespace. Whether there is such a namespace shows when the journal is used."""
        return Journal(self._core, namespace)

    def set_limits(self, limits: str | os.PathLike[str] | Mapping[str, Any] | None, namespace: str = "default") -> None:
        """Sets a namespace's limits, latency and bandwidth from now on, with full budgets; a reset gives back those of the start.

        Args:
            limits: As the argument of the constructor; None: none.

        Raises:
            ValueError: names the member that is wrong, such as "buckets.hot.reads_per_second".
            S3NotFoundError: there is no such namespace.
        """
        self._core.set_limits(namespace, limits_json(limits) or "{}")

    def limits_report(self, namespace: str = "default") -> dict[str, Any]:
        """What is set, and what came of it: requests admitted and refused, each bucket's partitions, splits and merges.

        docs/admin-api.md describes the members.

        Raises:
            S3NotFoundError: there is no such namespace.
        """
        report: dict[str, Any] = json.loads(self._core.limits_report(namespace))
        return report

    def seed(self, bucket: str, directory: str | os.PathLike[str], prefix: str = "", namespace: str = "default") -> SeedReport:
        """Makes objects of the files below `directory`: `prefix` and the path relative to it are the key. Returns how many.

        Args:
            bucket: Made where it is missing.
            directory: A relative one is taken from the working directory. Links, pipes and devices are skipped.

        Raises:
            ValueError: the directory cannot be read, or the bucket cannot be made.
            S3NotFoundError: there is no such namespace.
        """
        report = self._core.seed(bucket=bucket, directory=str(Path(directory).absolute()), prefix=prefix, namespace=namespace)
        return SeedReport(**report)

    def create_directory_bucket(self, name: str, zone: str = "use1-az4", namespace: str = "default") -> str:
        """Makes an empty directory bucket (S3 Express One Zone) of the emulator's region, in the name of the namespace's account.

        Args:
            name: Without the suffix.
            zone: The id of an availability zone or local zone; any of the right form exists.

        Returns:
            The bucket's whole name, ``NAME--ZONE--x-s3``.

        Raises:
            ValueError: the name or the zone is none that S3 knows; the message says why.
            S3NotFoundError: there is no such namespace.
        """
        bucket = f"{name}--{zone}--x-s3"
        with tempfile.TemporaryDirectory() as nothing:
            self.seed(bucket, nothing, namespace=namespace)
        return bucket

    def add_users(self, users: Mapping[str, Any]) -> None:
        """Adds accounts, users and access keys, all or none; replaces those of the same account id or access key id.

        Args:
            users: As the argument of the constructor.

        Raises:
            ValueError: names the place that is wrong, such as "accounts[0].users[1].name".
            S3ConflictError: two accounts would share a canonical id.
        """
        self._core.add_users(json_text(users, "users"))

    def users(self) -> dict[str, Any]:
        """Accounts, users and access keys in the form `add_users` takes, without secrets and session tokens."""
        users: dict[str, Any] = json.loads(self._core.users())
        return users

    def stop(self) -> None:
        """Finishes requests in progress and stops. Later calls do nothing."""
        self._core.stop()


@dataclasses.dataclass(frozen=True)
class SeedReport:
    """What `Emulator.seed` made of a directory."""

    objects: int
    bytes: int
    #: Links, pipes, devices, and names that cannot be keys.
    skipped: int


class Namespace(_Access):
    """A universe of buckets in an emulator, and the access key that selects it. Comes from :meth:`Emulator.create_namespace`.

    Thread safety: as the emulator's.
    """

    def __init__(self, emulator: Emulator, name: str, access_key_id: str, secret_access_key: str) -> None:
        self.name = name
        self.region = emulator.region
        self.access_key_id = access_key_id
        self.secret_access_key = secret_access_key
        self._emulator = emulator

    @property
    def endpoint(self) -> str:
        """URL of the S3 endpoint."""
        return self._emulator.endpoint

    @property
    def clock(self) -> Clock:
        """Its clock."""
        return self._emulator.clock(self.name)

    @property
    def faults(self) -> Faults:
        """Its faults."""
        return self._emulator.faults(self.name)

    @property
    def journal(self) -> Journal:
        """What clients asked of it."""
        return self._emulator.journal(self.name)

    def create_directory_bucket(self, name: str, zone: str = "use1-az4") -> str:
        """As `Emulator.create_directory_bucket`, in this namespace."""
        return self._emulator.create_directory_bucket(name, zone, self.name)

    def set_limits(self, limits: str | os.PathLike[str] | Mapping[str, Any] | None) -> None:
        """As `Emulator.set_limits`, of this namespace."""
        self._emulator.set_limits(limits, self.name)

    def limits_report(self) -> dict[str, Any]:
        """As `Emulator.limits_report`, of this namespace."""
        return self._emulator.limits_report(self.name)
