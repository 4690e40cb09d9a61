"""The emulator in this process, its namespaces, and the context manager `emulated_s3`."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import NoneType, TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._checks import check_type
from ._clock import Clock, nanoseconds_of
from ._documents import limits_json, read_json
from ._faults import FaultDocument, Faults, _document_text
from ._journal import Journal
from ._json_text import json_text
from ._sizes import milliseconds_of, size_of
from ._test_context import TestContext
from .offline_environment import environment_set, offline_environment

if TYPE_CHECKING:
    from penstock import S3Client, S3ClientConfig

ACCESS_KEY_ID = "penstock"
SECRET_ACCESS_KEY = "penstock-secret"


# JSON numbers are exact up to here.
_MOST_EVENTS = 2**53
_EVENT_SLICE_MS = 200


def _penstock() -> Any:
    """Returns the package of the client, which is a distribution of its own."""
    try:
        import penstock
    except ModuleNotFoundError as error:
        if error.name != "penstock":
            raise
        raise ModuleNotFoundError(
            "client() and config() need the package penstock; run pip install penstock, or pass environment() to another client",
            name="penstock",
        ) from None
    return penstock


def _refuse_empty(**options: Any) -> None:
    """Raises ValueError for an option that is empty: it would have the effect of None, usually because a variable was not set.

    An empty document (a dict) is a value.
    """
    for name, value in options.items():
        if isinstance(value, (str, bytes, list, tuple)) and not value:
            raise ValueError(f"{name} is empty; give it a value, or leave it out")


def _check_pair(name: str, value: object, meaning: str) -> None:
    """Raises TypeError or ValueError if `value` is not a pair of str."""
    check_type(name, value, (tuple, list))
    assert isinstance(value, (tuple, list))
    if len(value) != 2:
        raise ValueError(f"{name} must have two members, {meaning}, not {len(value)}")
    for place, member in enumerate(value):
        check_type(f"{name}[{place}]", member, (str,))


class _Access(ABC):
    """The endpoint and credentials that clients need to use an emulator."""

    region: str
    access_key_id: str
    secret_access_key: str
    session_token: str | None = None  # for temporary credentials

    @property
    @abstractmethod
    def endpoint(self) -> str:
        """URL of the S3 endpoint."""

    def environment(self) -> dict[str, str]:
        """Returns environment variables that make AWS SDKs, the AWS CLI and Penstock use this access key and endpoint."""
        variables = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
        }
        return variables | ({"AWS_SESSION_TOKEN": self.session_token} if self.session_token else {})

    def client(self, s3client_config: S3ClientConfig | None = None) -> S3Client:
        """Returns a client with this access key and endpoint.

        Raises:
            ModuleNotFoundError: The package penstock is not installed.
        """
        client: S3Client = _penstock().S3Client(self.region, endpoint=self.endpoint, s3client_config=self.config(s3client_config))
        return client

    def config(self, base: S3ClientConfig | None = None) -> S3ClientConfig:
        """Returns `base`, or the defaults, with this access key and path-style addressing.

        Raises:
            ModuleNotFoundError: The package penstock is not installed.
        """
        return dataclasses.replace(
            base or _penstock().S3ClientConfig(),
            force_path_style=True,
            access_key_id=self.access_key_id,
            secret_access_key=self.secret_access_key,
            session_token=self.session_token,
        )


class Emulator(_Access):
    """An S3 emulator inside this process, on a free port of 127.0.0.1. A context manager.

    Args:
        data: Directory for all data; None: in memory. If it contains other users than the given ones, the given ones
            replace them, with a ``UserWarning``. A new directory gets mode 0700. A ``UserWarning`` says if other users of the
            machine may read an existing one.
        durability: "relaxed": acknowledged writes survive a crash of the process. "strict": they are on disk. Needs `data`.
        auth: "verify": check everything. "parse": check form, region, clock skew, expiry and inactive keys, but neither
            signatures nor payload hashes, so that no secret is needed. "off": treat every request as one of the first access
            key, in the default namespace.
        authorization: "on": policies, ACLs and Block Public Access decide, as in S3; an account's root may do everything in its
            own buckets. "off": every user of an account may do everything in the account's buckets and nothing in others.
        access_keys: Accepted pairs of access key id and secret, each the root of its own account; None: one default pair,
            unless `users` is given.
        users: Accounts, users, groups, roles, policies and access keys, as a dict or the path of a JSON file;
            docs/reference/admin-api.md has the format.
            Without `access_keys`, `client()` and `environment()` use the first active key among them.
        region: The AWS region that the emulator reports.
        fail_rate: Share of requests answered with 503 SlowDown, 0 to 1. `fail_seed` determines which ones.
        fail_seed: Seed for `fail_rate`.
        tls_cert: Path of a PEM certificate chain; None: plain HTTP.
        tls_key: Path of its PEM key.
        port: Port of the S3 endpoint; 0: any free port.
        admin_token: Token that requests to the admin listener must carry; None: no token.
        limits: Initial limits, latency and bandwidth of every namespace: a preset ("aws-standard", "aws-strict",
            "aws-express"), the path of a JSON file, or a dict as in docs/limits.schema.json; None: no limits.
        log: File for the access log, one JSON line per request; None: no log.
        faults: Initial fault scenario of every namespace, also after a reset, as for `Faults.set`; None: no faults.
        journal_size: Memory for the journal of each namespace, about 300 bytes per request: bytes, or a text such as "64MiB";
            128 KiB to 1 TiB. 0: no journal.
        relaxed_bucket_names: Also accept bucket names that S3 rejects but other S3 mocks accept: 1 to 255 letters, digits,
            ``.``, ``-`` and ``_``, not starting with ``.`` or ``-``.
        moto_reset: Whether ``POST /moto-api/reset`` on the S3 port, which needs no signature, empties every namespace; None:
            only without `data`.
        memory_limit: Memory that objects (without `data`), request documents, namespaces and fault scenarios may take: bytes,
            or a text such as "512MiB"; 1 MiB or more. Uploads beyond the limit are answered with 507 InsufficientStorage,
            documents with 503 SlowDown. None: three quarters of the control group's memory limit, else half of the machine's
            memory, shared by all emulators of this process with None.

        first_byte_delay: Delay of every response to GET and HEAD in seconds, or a text such as "25ms"; at most 60 s.
        event_sinks: Where the events of destinations are sent, by ARN: "file:PATH", "http://HOST:PORT/PATH" or the same with
            https, for example ``{"arn:aws:sqs:*": "http://127.0.0.1:8000/events"}``. ``*`` in an ARN matches any characters,
            and the first match receives the event. Events of other destinations can only be read; None: all of them.
        event_sink_ca: Path of a PEM file of the CA certificates for sinks with https; None: the system's certificates.
        console: Whether the admin listener serves the web console at ``/console/``. Without it, requests of web pages need
            `admin_token`.
        scrub_rate: Rate per second of the background check of `data` for damage: bytes, or a text such as "8MiB"; 0: no check.

    The program ``penstock-emulator`` has the same options, as ``--memory-limit`` for `memory_limit`. Its default port is 9000.

    Raises:
        ValueError: An option is invalid; the message names it.
        TypeError: An option has the wrong type; the message names it.

    Thread safety: safe from any thread. A forked child must not use this object, but may send requests to the emulator.
    """

    def __init__(
        self,
        *,
        data: str | None = None,
        durability: Literal["relaxed", "strict"] = "relaxed",
        auth: Literal["verify", "parse", "off"] = "verify",
        authorization: Literal["on", "off"] = "on",
        access_keys: list[tuple[str, str]] | None = None,
        users: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        region: str = "us-east-1",
        fail_rate: float = 0.0,
        fail_seed: int = 1,
        tls_cert: str | None = None,
        tls_key: str | None = None,
        port: int = 0,
        admin_token: str | None = None,
        limits: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        log: str | None = None,
        faults: FaultDocument | None = None,
        journal_size: int | str = 16 << 20,
        relaxed_bucket_names: bool = False,
        moto_reset: bool | None = None,
        memory_limit: int | str | None = None,
        first_byte_delay: float | str = 0.0,
        scrub_rate: int | str = 8 << 20,
        event_sinks: Mapping[str, str] | None = None,
        event_sink_ca: str | None = None,
        console: bool = True,
    ) -> None:
        for name, text in (("auth", auth), ("region", region)):
            check_type(name, text, (str,))
        for name, optional in (
            ("data", data), ("admin_token", admin_token), ("log", log), ("tls_cert", tls_cert), ("tls_key", tls_key),
            ("event_sink_ca", event_sink_ca),
        ):  # fmt: skip
            check_type(name, optional, (str, NoneType))
        if durability not in ("relaxed", "strict"):
            raise ValueError(f"durability must be 'relaxed' or 'strict', not {durability!r}")
        if authorization not in ("on", "off"):
            raise ValueError(f"authorization must be 'on' or 'off', not {authorization!r}")
        check_type("fail_rate", fail_rate, (int, float))
        check_type("console", console, (bool,))
        journal_bytes = size_of("journal_size", journal_size, 2**40)
        memory_bytes = None if memory_limit is None else size_of("memory_limit", memory_limit, 2**63)
        scrub_bytes = size_of("scrub_rate", scrub_rate, 2**63)
        delay_ms = milliseconds_of("first_byte_delay", first_byte_delay)
        check_type("access_keys", access_keys, (list, tuple, NoneType))
        for index, pair in enumerate(access_keys or ()):
            _check_pair(f"access_keys[{index}]", pair, "an access key id and a secret")
        check_type("users", users, (str, os.PathLike, Mapping, NoneType))
        check_type("event_sinks", event_sinks, (Mapping, NoneType))
        for arn, sink in (event_sinks or {}).items():
            check_type("event_sinks", arn, (str,))
            check_type(f"event_sinks[{arn!r}]", sink, (str,))
            if "=" in arn:
                raise ValueError(f"event_sinks: the ARN {arn!r} must not contain '='")
        # For integers that do not fit the C++ types, pybind11 would raise a TypeError about the types.
        for name, value, most in (("port", port, 65_535), ("fail_seed", fail_seed, 2**64 - 1)):
            check_type(name, value, (int,))
            if not 0 <= value <= most:
                raise ValueError(f"{name} must be 0 to {most}, not {value}")
        if memory_bytes == 0:
            raise ValueError("memory_limit must be 1048576 or more, not 0; leave it out for a share of the machine's memory")
        _refuse_empty(
            data=data, access_keys=access_keys, users=users, tls_cert=tls_cert, tls_key=tls_key, admin_token=admin_token,
            limits=limits, log=log, faults=faults if isinstance(faults, str) else None, event_sink_ca=event_sink_ca,
        )  # fmt: skip
        users_path, users_json = "", ""
        if isinstance(users, Mapping):
            users_json = json_text(users, "users")
        elif users is not None:
            users_path = os.fspath(users)
        self.region = region
        self._core = _core.Emulator(
            port=port, admin_token=admin_token or "", data_directory=data or "",
            strict_durability=durability == "strict", auth=auth, access_keys=access_keys or [], users_path=users_path,
            users_json=users_json, region=region, fail_rate=fail_rate, fail_seed=fail_seed,
            tls_certificate=tls_cert or "", tls_key=tls_key or "", log_path=log or "",
            faults_json="" if faults is None else _document_text(faults), journal_bytes=journal_bytes,
            limits_json=limits_json(limits), relaxed_bucket_names=relaxed_bucket_names,
            moto_reset=moto_reset, memory_limit_bytes=memory_bytes or 0,
            first_byte_delay_ms=delay_ms, scrub_bytes_per_second=scrub_bytes, authorization=authorization == "on",
            event_sinks=[f"{arn}={sink}" for arn, sink in (event_sinks or {}).items()],
            event_sink_ca=event_sink_ca or "", console=console,
        )  # fmt: skip
        self._planned_faults: set[str] = set()  # namespaces in which faults were set; the pytest fixtures use it
        for notice in self._core.notices:
            warnings.warn(notice, UserWarning, stacklevel=2)
        # The core has validated the users at this point.
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
        """Returns counters: requests by operation, responses by status, body bytes in and out, injected failures, diagnostics.

        ``diagnostics`` counts the errors by name that the emulator recovered from, since the start of the process. A reset does
        not clear it.
        """
        return self._core.stats()

    def reset(self, namespace: str | None = None) -> None:
        """Deletes all buckets and objects, sets the clocks back to the machine's time, and clears the counters.

        Args:
            namespace: Reset only the buckets and the clock of this namespace, and no counters; None: all namespaces.

        Raises:
            NotFoundError: The namespace does not exist.
        """
        if namespace is None:
            self._core.reset()
        else:
            self._core.reset_namespace(namespace)

    def namespaces(self) -> list[str]:
        """Returns the names of the namespaces, "default" first."""
        return self._core.namespaces()

    def create_namespace(self, name: str) -> Namespace:
        """Creates a namespace with its own buckets, and an access key that selects it. Returns the namespace.

        Args:
            name: 1 to 63 letters, digits, ``-``, ``_`` and ``.``, starting with a letter or digit.

        Raises:
            ValueError: `name` is invalid.
            ConflictError: The namespace already exists.
        """
        return Namespace(self, name, *self._core.create_namespace(name))

    def delete_namespace(self, name: str) -> None:
        """Deletes the namespace `name`, its buckets and the access keys that select it.

        Raises:
            NotFoundError: The namespace does not exist.
            ValueError: `name` is the default namespace.
        """
        self._core.delete_namespace(name)
        self._planned_faults.discard(name)

    def clock(self, namespace: str = "default") -> Clock:
        """Returns the clock of a namespace. Its methods raise NotFoundError if the namespace does not exist."""
        return Clock(self._core, namespace)

    def faults(self, namespace: str = "default") -> Faults:
        """Returns the faults of a namespace. Their methods raise NotFoundError if the namespace does not exist."""
        return Faults(self._core, namespace, self._planned_faults.add)

    def journal(self, namespace: str = "default") -> Journal:
        """Returns the journal of a namespace. Its methods raise NotFoundError if the namespace does not exist."""
        return Journal(self._core, namespace)

    def set_limits(self, limits: str | os.PathLike[str] | Mapping[str, Any] | None, namespace: str = "default") -> None:
        """Sets the limits, latency and bandwidth of a namespace, starting with full budgets. A reset restores the initial ones.

        Args:
            limits: As for the constructor; None: no limits.

        Raises:
            ValueError: `limits` is invalid; the message names the member, such as "buckets.hot.reads_per_second".
            NotFoundError: The namespace does not exist.
        """
        self._core.set_limits(namespace, limits_json(limits) or "{}")

    def limits_report(self, namespace: str = "default") -> dict[str, Any]:
        """Returns the limits and their effects: requests admitted and refused, and partitions, splits and merges per bucket.

        docs/reference/admin-api.md describes the members.

        Raises:
            NotFoundError: The namespace does not exist.
        """
        report: dict[str, Any] = json.loads(self._core.limits_report(namespace))
        return report

    def run_lifecycle(self, bucket: str | None = None, namespace: str = "default") -> dict[str, Any]:
        """Applies the lifecycle rules of the buckets at the time of the namespace's clock. Returns what was done.

        The emulator also applies them in the background after each midnight UTC of that clock. The result has all actions since
        the last call, by this call and in the background. docs/reference/admin-api.md describes its members.

        Args:
            bucket: Apply only the rules of this bucket; None: those of every bucket.
            namespace: The namespace.

        Raises:
            NotFoundError: The namespace or the bucket does not exist.
        """
        _refuse_empty(bucket=bucket)
        account: dict[str, Any] = json.loads(self._core.run_lifecycle(namespace, bucket or ""))
        return account

    def preview_lifecycle(
        self, by: datetime | None = None, bucket: str | None = None, namespace: str = "default"
    ) -> dict[str, Any]:
        """Returns what `run_lifecycle` would do at the time `by`. Changes nothing.

        Args:
            by: A datetime with a time zone; None: the time of the namespace's clock.
            bucket: Only this bucket; None: every bucket.
            namespace: The namespace.

        Raises:
            ValueError: `by` has no time zone or is out of range.
            NotFoundError: The namespace or the bucket does not exist.
        """
        _refuse_empty(bucket=bucket)
        by_ns = None if by is None else nanoseconds_of(by)
        account: dict[str, Any] = json.loads(self._core.preview_lifecycle(namespace, bucket or "", by_ns))
        return account

    def events(
        self, after: int = 0, wait_s: float = 0, namespace: str = "default", *, newest: int | None = None
    ) -> list[dict[str, Any]]:
        """Returns at most 1000 event notifications of buckets that have a notification configuration, oldest first.

        Each has "number", "destination" (the ARN in the configuration), "delivered" (whether a sink has acknowledged it) and
        "message" (a dict in S3's format). Events stay until `remove_events`. To read the next ones, pass the last number as
        `after`.

        Args:
            after: Only events with a larger number.
            wait_s: How long to wait for the first event, at most 60 seconds.
            namespace: The namespace.
            newest: At most that many of the latest events, up to 1000; None: the oldest ones.

        Raises:
            ValueError: `after`, `wait_s` or `newest` is out of range.
            NotFoundError: The namespace does not exist.
        """
        if not 0 <= after <= _MOST_EVENTS:
            raise ValueError(f"after must be from 0 to {_MOST_EVENTS}, not {after}")
        if not 0 <= wait_s <= 60:
            raise ValueError(f"wait_s must be from 0 to 60 seconds, not {wait_s}; call again with the last number as after")
        if newest is not None and not 0 <= newest <= 1000:
            raise ValueError(f"newest must be from 0 to 1000, not {newest}")
        until = time.monotonic() + wait_s
        while True:  # in slices, so that an interrupt is noticed
            left_ms = max(0, int((until - time.monotonic()) * 1000))
            answer = json.loads(self._core.read_events(namespace, after, min(left_ms, _EVENT_SLICE_MS), newest))
            events: list[dict[str, Any]] = answer["events"]
            if events or left_ms <= _EVENT_SLICE_MS:
                return events

    def remove_events(self, through: int | None = None, namespace: str = "default") -> None:
        """Removes the events up to the number `through`; None: all of them. Their numbers are not used again.

        Raises:
            ValueError: `through` is out of range.
            NotFoundError: The namespace does not exist.
        """
        through = _MOST_EVENTS if through is None else through
        if not 0 <= through <= _MOST_EVENTS:
            raise ValueError(f"through must be from 0 to {_MOST_EVENTS}, not {through}")
        self._core.remove_events(namespace, through)

    def seed(self, bucket: str, directory: str | os.PathLike[str], prefix: str = "", namespace: str = "default") -> SeedReport:
        """Creates an object for each file below `directory`, with `prefix` and the relative path as key. Returns their number.

        Args:
            bucket: The bucket; created if it does not exist.
            directory: The directory; a relative path refers to the working directory. Links, pipes and devices are skipped.

        Raises:
            ValueError: The directory cannot be read, or the bucket cannot be created.
            NotFoundError: The namespace does not exist.
        """
        _refuse_empty(directory=directory)  # Path("") is the working directory
        report = self._core.seed(bucket=bucket, directory=str(Path(directory).absolute()), prefix=prefix, namespace=namespace)
        return SeedReport(**report)

    def create_bucket(self, name: str, namespace: str = "default") -> None:
        """Creates an empty bucket, owned by the namespace's account, without a request. Does nothing if it exists.

        Raises:
            ValueError: The name is invalid; the message says why.
            NotFoundError: The namespace does not exist.
        """
        with tempfile.TemporaryDirectory() as nothing:
            self.seed(name, nothing, namespace=namespace)

    def create_directory_bucket(self, name: str, zone: str = "use1-az4", namespace: str = "default") -> str:
        """Creates an empty directory bucket (S3 Express One Zone) in the emulator's region, owned by the namespace's account.

        Args:
            name: The name without the suffix.
            zone: The id of an availability zone or local zone. The emulator accepts any well-formed id.

        Returns:
            The full name of the bucket, ``NAME--ZONE--x-s3``.

        Raises:
            ValueError: The name or the zone is invalid; the message says why.
            NotFoundError: The namespace does not exist.
        """
        bucket = f"{name}--{zone}--x-s3"
        self.create_bucket(bucket, namespace)
        return bucket

    def add_users(self, users: Mapping[str, Any]) -> None:
        """Adds accounts, users, groups, roles, policies and access keys, all or none.

        Replaces existing ones with the same account id, access key id, or name in an account.

        Args:
            users: As for the constructor.

        Raises:
            ValueError: `users` is invalid; the message names the member, such as "accounts[0].users[1].name".
            ConflictError: Two accounts would have the same canonical id.
        """
        self._core.add_users(json_text(users, "users"))

    def users(self) -> dict[str, Any]:
        """Returns the users in the format of `add_users`, without secrets, session tokens and sessions of STS."""
        users: dict[str, Any] = json.loads(self._core.users())
        return users

    def stop(self) -> None:
        """Finishes requests in progress and stops the emulator. Later calls do nothing."""
        self._core.stop()


@dataclasses.dataclass(frozen=True)
class SeedReport:
    """The result of `Emulator.seed`."""

    objects: int
    bytes: int
    #: Links, pipes, devices, and files whose names cannot be object keys.
    skipped: int


class Namespace(_Access):
    """An isolated set of buckets in an emulator, and the access key that selects it.

    Comes from :meth:`Emulator.create_namespace`.

    Thread safety: as for the emulator.
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
        """The clock of the namespace."""
        return self._emulator.clock(self.name)

    @property
    def faults(self) -> Faults:
        """The faults of the namespace."""
        return self._emulator.faults(self.name)

    @property
    def journal(self) -> Journal:
        """The journal of the namespace."""
        return self._emulator.journal(self.name)

    def create_bucket(self, name: str) -> None:
        """As `Emulator.create_bucket`, in this namespace."""
        self._emulator.create_bucket(name, self.name)

    def run_lifecycle(self, bucket: str | None = None) -> dict[str, Any]:
        """As `Emulator.run_lifecycle`, for this namespace."""
        return self._emulator.run_lifecycle(bucket, self.name)

    def preview_lifecycle(self, by: datetime | None = None, bucket: str | None = None) -> dict[str, Any]:
        """As `Emulator.preview_lifecycle`, for this namespace."""
        return self._emulator.preview_lifecycle(by, bucket, self.name)

    def events(self, after: int = 0, wait_s: float = 0, *, newest: int | None = None) -> list[dict[str, Any]]:
        """As `Emulator.events`, for this namespace."""
        return self._emulator.events(after, wait_s, self.name, newest=newest)

    def remove_events(self, through: int | None = None) -> None:
        """As `Emulator.remove_events`, for this namespace."""
        self._emulator.remove_events(through, self.name)

    def create_directory_bucket(self, name: str, zone: str = "use1-az4") -> str:
        """As `Emulator.create_directory_bucket`, in this namespace."""
        return self._emulator.create_directory_bucket(name, zone, self.name)

    def set_limits(self, limits: str | os.PathLike[str] | Mapping[str, Any] | None) -> None:
        """As `Emulator.set_limits`, for this namespace."""
        self._emulator.set_limits(limits, self.name)

    def limits_report(self) -> dict[str, Any]:
        """As `Emulator.limits_report`, for this namespace."""
        return self._emulator.limits_report(self.name)


class emulated_s3(TestContext):  # noqa: N801  (used like a function)
    """Runs an emulator for a ``with`` block, or as a decorator for each call of a function or coroutine, or each test of a class.

    Environment variables direct boto3, the AWS CLI, s3fs, s3torchconnector and Penstock to the emulator and hide any AWS account
    configured on the machine; the variables are restored afterwards. ``with`` returns the :class:`penstock_emulator.Emulator`, as
    does ``self.enterContext(emulated_s3())`` in a test case. On a ``unittest.TestCase``, the emulator runs from before ``setUp``
    until all clean-up functions have run. On any other class, each method whose name begins with ``test`` is decorated, also
    static, class, asynchronous and inherited ones, and those of nested classes whose names begin with ``Test``.

    The environment is the process's, so calls must not overlap. A call in another thread or task is refused before any variable
    changes, unless its context was copied within the block, as ``asyncio.create_task`` and ``asyncio.to_thread`` do.

    Args:
        options: Passed to :class:`penstock_emulator.Emulator`.

    Raises:
        AssertionError: At the end: faults set for the default namespace did not happen.
        RuntimeError: At the start: another thread or task is in such a block or call, or in a test with the pytest fixtures.
        TypeError: The decorated object is not callable, or is a generator function, whose body does not run when it is called.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._open: list[tuple[Emulator, ExitStack]] = []

    def __enter__(self) -> Emulator:
        with ExitStack() as stack:
            emulator = stack.enter_context(Emulator(**self._options))
            stack.enter_context(environment_set(offline_environment(emulator.environment()), nested_only=True))
            self._open.append((emulator, stack.pop_all()))
        return emulator

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        emulator, stack = self._open.pop()
        with stack:
            if kind is None:
                emulator.faults().check_all()
