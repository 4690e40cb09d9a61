"""S3ClientConfig: the settings of a client."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ._exceptions import S3InvalidArgumentError

if TYPE_CHECKING:
    from ._event_types import Observer, RetryPolicy

DEFAULT_PART_SIZE = 8 * 1024**2  # for transfers without a planned part size: reader windows, streams
MIN_PART_SIZE = 5 * 1024**2
MAX_PART_SIZE = 5 * 1024**3
MAX_ATTEMPTS = 64
MIN_CACHE_SIZE = 16 * 1024**2


_Number = TypeVar("_Number")

_OPTIONAL_TEXT, _SIZE, _DURATION = (str, NoneType), (int, str, NoneType), (int, float, str, NoneType)
_TYPES: dict[str, tuple[type, ...]] = {
    "throughput_target_gbps": (int, float, NoneType),
    "part_size": _SIZE,
    "unsigned": (bool,),
    "force_path_style": (bool,),
    "max_attempts": (int, NoneType),
    "profile": _OPTIONAL_TEXT,
    "requester_pays": (bool,),
    "access_key_id": _OPTIONAL_TEXT,
    "secret_access_key": _OPTIONAL_TEXT,
    "session_token": _OPTIONAL_TEXT,
    "look_ahead_bytes": (int, str),
    "listing_delimiter": _OPTIONAL_TEXT,
    "retry_mode": _OPTIONAL_TEXT,
    "attempt_timeout": _DURATION,
    "operation_timeout": _DURATION,
    "low_speed_limit": _SIZE,
    "connect_timeout": _DURATION,
    "idle_timeout": _DURATION,
    "sse_customer_key": (bytes, NoneType),
}
# Each is True, False, or None: taken from the environment or the profile.
_FLAGS = (
    "use_fips_endpoint",
    "use_dualstack_endpoint",
    "use_accelerate_endpoint",
    "use_arn_region",
    "disable_multi_region_access_points",
    "disable_s3_express_session_auth",
    "hedge_reads",
)
_TYPES |= dict.fromkeys(_FLAGS, (bool, NoneType))
# Numbers that None leaves to the default, with their least and largest values.
_NUMBERS = {
    "io_threads": (1, 64),
    "max_connections": (1, 4096),
    "max_bytes_per_second": (65_536, 2**63 - 1),
    "cache_size": (MIN_CACHE_SIZE, 2**63 - 1),
}
_TYPES |= dict.fromkeys(_NUMBERS, (int, NoneType)) | dict.fromkeys(("max_bytes_per_second", "cache_size"), _SIZE)
# Texts that None leaves to the environment, the profile or the default.
_TEXTS = (
    "ca_bundle_path",
    "ca_directory_path",
    "client_certificate_path",
    "client_key_path",
    "client_key_password",
    "proxy",
    "no_proxy",
    "upload_checksums",
    "download_checksums",
    "cache",
    "addressing_style",
)
_TYPES |= dict.fromkeys(_TEXTS, _OPTIONAL_TEXT)
# The value that None stands for, for error messages.
_TIMEOUTS = {
    "attempt_timeout": "the default",
    "operation_timeout": "the default",
    "connect_timeout": "10 s",
    "idle_timeout": "30 s",
}
_SIZES = ("part_size", "look_ahead_bytes", "low_speed_limit", "max_bytes_per_second", "cache_size")
_UPPER_BOUND = 1e9  # exclusive; for numbers without a limit of their own
_SURROGATE = re.compile(r"[\ud800-\udfff]")
RETRY_MODES = ("tuned", "legacy", "standard", "adaptive")
ADDRESSING_STYLES = ("auto", "path", "virtual")


def check_type(name: str, value: object, types: tuple[type, ...]) -> None:
    """Raises TypeError if `value` is not of one of `types`. The message names the types and never the value."""
    if isinstance(value, types) and not (isinstance(value, bool) and bool not in types):
        return
    wanted = " or ".join("None" if t is NoneType else t.__name__ for t in types)
    raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")


def size_of(name: str, value: _Number | str) -> _Number:
    """Returns `value`, or the bytes of a text such as ``"64MiB"``. Raises S3InvalidArgumentError for another text."""
    if not isinstance(value, str):
        return value
    from ._argument_values import size

    return cast("_Number", _parsed(name, value, size, 'a number of bytes, or a text such as "64MiB" or "1.5GB"'))


def seconds_of(name: str, value: _Number | str) -> _Number:
    """Returns `value`, or the seconds of a text such as ``"250ms"``. Raises S3InvalidArgumentError for another text."""
    if not isinstance(value, str):
        return value
    from ._argument_values import duration

    return cast("_Number", _parsed(name, value, duration, 'a number of seconds, or a text such as "250ms", "5s" or "2h"'))


def _parsed(name: str, text: str, parse: Callable[[str], float], expected: str) -> float:
    from argparse import ArgumentTypeError

    try:
        number = parse(text)
    except ArgumentTypeError:
        raise S3InvalidArgumentError(f"{name} must be {expected}; not {text!r}") from None
    return int(number) if number == int(number) else number


def with_numbers(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call, with numbers instead of texts such as ``"64MiB"`` and ``"5s"``."""
    for name, number_of in (("part_size", size_of), ("timeout", seconds_of), ("expires_in", seconds_of)):
        if isinstance(arguments.get(name), str):
            arguments = {**arguments, name: number_of(name, arguments[name])}
    return arguments


def check_callable(name: str, value: object) -> None:
    """Raises TypeError if `value` is neither callable nor None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a callable or None, not {type(value).__name__}")


def check_text(name: str, value: str | None) -> None:
    """Raises S3InvalidArgumentError if UTF-8 cannot encode `value`. The message does not contain the value."""
    surrogate = None if value is None else _SURROGATE.search(value)
    if surrogate is not None:
        raise S3InvalidArgumentError(
            f"{name} has the lone surrogate {surrogate[0]!a} at position {surrogate.start()}, which UTF-8 cannot encode;"
            " give text that was decoded as UTF-8"
        )


def endpoint_of_environment() -> str:
    """Returns the endpoint URL of the environment; empty: AWS."""
    if os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() == "true":
        return ""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


@dataclass(frozen=True)
class S3ClientConfig:
    """Configuration of an :class:`~penstock.S3Client`. Immutable; fields may be passed by position, in this order.

    Sizes are bytes, or texts such as ``"64MiB"`` (powers of 1024) and ``"10GB"`` (powers of 1000). Durations are seconds, or
    texts such as ``"250ms"``, ``"5s"``, ``"2m"`` and ``"1h"``. The field then has the number.

    Attributes:
        throughput_target_gbps: Target throughput in Gbit/s: one connection per object for each 0.4 Gbit/s, at most 64. None: the
            client chooses the number of connections per object by the measured rate. A load of a distributed checkpoint
            uses that many connections for all of its objects.
        part_size: Bytes per ranged GET and per uploaded part, 5 MiB to 5 GiB. None: chosen for each download (one request up
            to 8 MiB, then 8 to 64 MiB each) and upload (one request up to 64 MiB, then parts that grow from 8 to 64 MiB).
            Checked by :meth:`validate`.
        unsigned: Do not sign requests (public buckets).
        force_path_style: Address objects as ``host/bucket/key`` instead of ``bucket.host/key``, as ``addressing_style="path"``.
            False leaves the choice to `addressing_style`.
        max_attempts: Attempts per request before its error is raised, 1 to 64. None: ``AWS_MAX_ATTEMPTS``, the profile's
            ``max_attempts``, else the default of the retry mode: 10 for tuned, 5 for legacy, 3 for standard and adaptive.
            Checked by :meth:`validate`.
        profile: Profile of the AWS configuration files to take credentials and settings from.
        requester_pays: Send ``x-amz-request-payer: requester`` with every request.
        access_key_id: Sign with this access key; None: from the environment, then the configuration files.
        secret_access_key: The secret of `access_key_id`. Never printed.
        session_token: The session token of temporary credentials. Never printed.
        look_ahead_bytes: Bytes that the datasets prefetch in each process; 0: no prefetching.
        listing_delimiter: A delimiter such as ``"/"`` makes S3MapDataset.from_prefix list the first-level common prefixes
            concurrently: the same objects in the same order, for one more request per common prefix. None: list page by page.
        use_fips_endpoint: Use AWS's FIPS endpoints. None: ``AWS_USE_FIPS_ENDPOINT``, the profile's ``use_fips_endpoint``, else
            false. For the following settings too, None selects the environment variable, then the profile's key, then false.
        use_dualstack_endpoint: Use endpoints with IPv6: ``AWS_USE_DUALSTACK_ENDPOINT``, ``use_dualstack_endpoint``.
        use_accelerate_endpoint: Use S3 Transfer Acceleration: the profile's ``s3.use_accelerate_endpoint``.
        use_arn_region: Allow access point ARNs of regions other than the client's: ``AWS_S3_USE_ARN_REGION``,
            ``s3_use_arn_region``, else true.
        disable_multi_region_access_points: Refuse multi-region access points: ``AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS``,
            ``s3_disable_multiregion_access_points``.
        disable_s3_express_session_auth: Sign requests to directory buckets with the credentials themselves instead of session
            credentials: ``AWS_S3_DISABLE_EXPRESS_SESSION_AUTH``, ``s3_disable_express_session_auth``.
        retry_mode: ``"tuned"`` (Penstock's own), or ``"legacy"``, ``"standard"`` or ``"adaptive"`` as in the AWS SDKs. None:
            ``AWS_RETRY_MODE``, the profile's ``retry_mode``, ``"standard"`` if ``AWS_NEW_RETRIES_2026`` is true, else
            ``"tuned"``. Checked by :meth:`validate`.
        attempt_timeout: Seconds after which one attempt of a request fails if its last byte has not arrived. The request is
            retried, a read from the byte reached. None: `low_speed_limit` bounds reads; a write may take 1 minute and 1 s per
            KiB of its body, a copy or the completion of a multipart upload 15 minutes.
        operation_timeout: Seconds that one request may take, including all attempts and waits. None: no limit.
        low_speed_limit: Bytes per second. A read attempt fails if it receives less on average over 5 s, or no byte for 5 s; the
            read is retried from the byte reached. Writes are exempt, since S3 may take minutes to answer one. None: 1024 bytes
            per second over 30 s. 0: no limit.
        hedge_reads: Send a second request for an object or range whose first byte takes longer than nearly all earlier ones, for
            at most 2 % of requests, and use the first response. None: ``PENSTOCK_HEDGE_READS`` (``true`` or ``false``), else
            True.
        connect_timeout: Seconds that a connection may take, including name resolution and TLS handshake. None: 10 s.
        idle_timeout: Seconds after which an attempt without progress fails (no byte sent, no complete response head, no byte of
            a body). The request is retried. None: 30 s.
        proxy: URL of a proxy, ``"http://host:port"``, also ``https``, ``socks4``, ``socks4a``, ``socks5`` and ``socks5h``, with
            ``user:password@`` before the host if needed. Never printed. ``""``: no proxy. None: the variables ``http_proxy``,
            ``https_proxy``, ``all_proxy`` and ``no_proxy``.
        no_proxy: With `proxy`: hosts without it, separated by commas: names, domains (``.example.com``), addresses, networks, or
            ``*``.
        ca_bundle_path: File with the only CA certificates (PEM) that servers and https proxies are verified with. None:
            ``AWS_CA_BUNDLE``, else those of the system, which ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` can name.
        ca_directory_path: Folder of CA certificates, with names as of ``openssl rehash``, in addition to that bundle, or to the
            system's bundle.
        client_certificate_path: PEM file with the certificate that this client shows to the server (mutual TLS).
        client_key_path: PEM file with its key. None: it is in the file of the certificate.
        client_key_password: Password of an encrypted key. Never printed.
        io_threads: Number of I/O threads, 1 to 64, each with its own connections. Clients with the same number share them. None:
            half as many as cores, 1 to 16, of which the fifth and later ones take only bodies of 1 MiB and more.
        max_connections: Connections in use at a time, 1 to 4,096, by all clients with the same `io_threads` and
            `max_connections` together. Further requests wait. None: 256.
        max_bytes_per_second: Bytes of bodies that this client may receive per second, and as many that it may send: at least
            65,536. None: no limit.
        upload_checksums: ``"when_supported"``: uploads carry a CRC64NVME. ``"when_required"``: for services without support.
            None: ``AWS_REQUEST_CHECKSUM_CALCULATION``, the profile's ``request_checksum_calculation``, else the first.
        download_checksums: Same for the verification of whole objects: ``AWS_RESPONSE_CHECKSUM_VALIDATION``,
            ``response_checksum_validation``.
        sse_customer_key: Key of 32 bytes for SSE-C: every object that this client reads, writes or copies is encrypted with it,
            unless a request has a key of its own. Datasets, readers and checkpoints use it too. Never printed. Needs https,
            except to loopback addresses. S3 rejects it for objects without SSE-C.
        observer: Called with a :class:`penstock.RequestEvent` after each attempt of a request, in the order of their ends. It
            runs on a Python thread of its own, never on an I/O thread, so it cannot delay a transfer. Its exceptions are logged.
            At most 16,384 attempts wait for it; further ones are dropped and counted (``stats()["events_dropped"]``).
            :func:`penstock.flush_events` waits for it.
        retry_policy: Called with a :class:`penstock.RetryQuestion` after each failed attempt, except corrections of region, clock
            and credentials. Returns True to retry after the delay of the retry mode, False to raise the error, or None: as the
            retry mode decided. `max_attempts`, the timeouts and the retry quota apply in any case. It runs on the thread of
            `observer`, and the call waits for it, at most 30 s. An exception counts as None and is logged.
        cache: A directory on a local disk where all processes of the node cache the bytes that they read, as an absolute path.
            docs/how-to/node-cache.md lists its guarantees. None: ``PENSTOCK_CACHE_DIR``, else no cache. ``""``: no cache.
        cache_size: The most bytes on that disk, at least 16 MiB. None:
            ``PENSTOCK_CACHE_SIZE``, else what is free, less 5 % of the disk. Checked by :meth:`validate`.
        addressing_style: ``"path"``: ``host/bucket/key``. ``"virtual"``: ``bucket.host/key``, except at an IP address and for
            names that cannot be a label of a host name. ``"auto"``: virtual at AWS's host names, path at those of other
            services. None: ``PENSTOCK_ADDRESSING_STYLE``, the profile's ``s3.addressing_style``, else ``"auto"``. Checked by
            :meth:`validate`.

    Both callbacks are pickled with the client, for example for the spawned workers of a DataLoader. While one of them runs, the
    others wait.

    Raises:
        ValueError: `requester_pays` and `unsigned` are both set, only one of `access_key_id` and `secret_access_key` is given,
            `look_ahead_bytes` is negative or not a size, `no_proxy` is given without `proxy`, or `force_path_style` with another
            `addressing_style`.

    Source: ``s3torchconnector.S3ClientConfig``.
    """

    throughput_target_gbps: float | None = None
    part_size: int | str | None = None
    unsigned: bool = False
    force_path_style: bool = False
    max_attempts: int | None = None
    profile: str | None = None
    requester_pays: bool = False
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    look_ahead_bytes: int | str = 128 * 1024 * 1024
    listing_delimiter: str | None = None
    use_fips_endpoint: bool | None = None
    use_dualstack_endpoint: bool | None = None
    use_accelerate_endpoint: bool | None = None
    use_arn_region: bool | None = None
    disable_multi_region_access_points: bool | None = None
    disable_s3_express_session_auth: bool | None = None
    retry_mode: str | None = None
    attempt_timeout: float | str | None = None
    operation_timeout: float | str | None = None
    low_speed_limit: int | str | None = None
    hedge_reads: bool | None = None
    connect_timeout: float | str | None = None
    idle_timeout: float | str | None = None
    proxy: str | None = field(default=None, repr=False)
    no_proxy: str | None = None
    ca_bundle_path: str | None = None
    ca_directory_path: str | None = None
    client_certificate_path: str | None = None
    client_key_path: str | None = None
    client_key_password: str | None = field(default=None, repr=False)
    io_threads: int | None = None
    max_connections: int | None = None
    max_bytes_per_second: int | str | None = None
    upload_checksums: str | None = None
    download_checksums: str | None = None
    sse_customer_key: bytes | None = field(default=None, repr=False)
    observer: Observer | None = None
    retry_policy: RetryPolicy | None = None
    cache: str | None = None
    cache_size: int | str | None = None
    addressing_style: str | None = None

    def __post_init__(self) -> None:
        if self.requester_pays and self.unsigned:
            raise ValueError(
                "requester_pays=True requires authenticated requests and cannot be combined with unsigned=True."
                " Remove one of the two."
            )
        if bool(self.access_key_id) != bool(self.secret_access_key):
            raise ValueError("access_key_id and secret_access_key belong together; give both or neither")
        if self.no_proxy is not None and not self.proxy:
            raise ValueError("no_proxy needs proxy: without it, the variable no_proxy applies; set proxy or remove no_proxy")
        if self.force_path_style and self.addressing_style not in (None, "path"):
            raise ValueError(
                f"force_path_style=True and addressing_style={self.addressing_style!r} contradict each other; give one of them"
            )
        check_type("S3ClientConfig.look_ahead_bytes", self.look_ahead_bytes, _TYPES["look_ahead_bytes"])
        for name, number_of in self._units:
            with contextlib.suppress(S3InvalidArgumentError):  # validate() raises it
                object.__setattr__(self, name, number_of(name, getattr(self, name)))
        if self._look_ahead < 0:
            raise ValueError(f"look_ahead_bytes must be 0 (no look-ahead) or a number of bytes, not {self.look_ahead_bytes}")

    @property
    def _units(self) -> Iterator[tuple[str, Callable[[str, Any], Any]]]:
        """The fields with units, and their parsers."""
        return chain(((name, size_of) for name in _SIZES), ((name, seconds_of) for name in _TIMEOUTS))

    @property
    def _look_ahead(self) -> int:
        return size_of("look_ahead_bytes", self.look_ahead_bytes)

    @property
    def _flags(self) -> dict[str, bool]:
        """The flags that are not None."""
        return {name: value for name in _FLAGS if (value := getattr(self, name)) is not None}

    @property
    def _numbers(self) -> dict[str, int]:
        """The numbers of `_NUMBERS` that are not None."""
        return {name: value for name in _NUMBERS if (value := getattr(self, name)) is not None}

    @property
    def _texts(self) -> dict[str, str]:
        """The texts that are not None."""
        return {name: value for name in _TEXTS if (value := getattr(self, name)) is not None}

    def validate(self) -> None:
        """Checks the types and ranges that the constructor does not check. The first use of a client calls this.

        Raises:
            TypeError: A field has a value of another type. The message names both types, never the value.
            S3InvalidArgumentError: A number is out of range, or UTF-8 cannot encode a string. Also a ValueError.
        """
        for name, types in _TYPES.items():
            value = getattr(self, name)
            check_type(f"S3ClientConfig.{name}", value, types)
            if isinstance(value, str):
                check_text(f"S3ClientConfig.{name}", value)
        part_size, low_speed_limit = size_of("part_size", self.part_size), size_of("low_speed_limit", self.low_speed_limit)
        for name, number_of in self._units:
            number_of(name, getattr(self, name))
        if self.sse_customer_key is not None and len(self.sse_customer_key) != 32:
            raise S3InvalidArgumentError(f"sse_customer_key must have 32 bytes, not {len(self.sse_customer_key)}")
        check_callable("S3ClientConfig.observer", self.observer)
        check_callable("S3ClientConfig.retry_policy", self.retry_policy)
        if self.throughput_target_gbps is not None and not 0 < self.throughput_target_gbps < _UPPER_BOUND:
            raise S3InvalidArgumentError(
                f"throughput_target_gbps must be more than 0 and less than 1e9 Gbit/s, not {self.throughput_target_gbps}"
            )
        if part_size is not None and not MIN_PART_SIZE <= part_size <= MAX_PART_SIZE:
            raise S3InvalidArgumentError(
                f"invalid configuration: part size must be at between 5MiB and 5GiB, not {part_size} bytes;"
                " set S3ClientConfig.part_size"
            )
        if self.max_attempts is not None and not 1 <= self.max_attempts <= MAX_ATTEMPTS:
            raise S3InvalidArgumentError(
                f"max_attempts must be 1 to {MAX_ATTEMPTS} (1 means no retries), not {self.max_attempts}"
            )
        if self.retry_mode is not None and self.retry_mode not in RETRY_MODES:
            raise S3InvalidArgumentError(f"retry_mode must be None or one of {', '.join(RETRY_MODES)}, not {self.retry_mode!r}")
        if self.addressing_style is not None and self.addressing_style not in ADDRESSING_STYLES:
            raise S3InvalidArgumentError(
                f"addressing_style must be None or one of {', '.join(ADDRESSING_STYLES)}, not {self.addressing_style!r}"
            )
        for name, unset in _TIMEOUTS.items():
            seconds = getattr(self, name)
            if seconds is not None and not 0 < seconds < _UPPER_BOUND:
                raise S3InvalidArgumentError(
                    f"{name} must be None ({unset}) or more than 0 and less than 1e9 seconds, not {seconds}"
                )
        for name, (least, most) in _NUMBERS.items():
            number = getattr(self, name)
            if number is not None and not least <= number <= most:
                raise S3InvalidArgumentError(f"{name} must be None or {least} to {most}, not {number}")
        if low_speed_limit is not None and not 0 <= low_speed_limit < 2**63:
            raise S3InvalidArgumentError(
                f"low_speed_limit must be None (1024), 0 (no limit) or bytes per second, not {low_speed_limit}"
            )
