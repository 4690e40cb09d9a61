"""Bodies of browser-based uploads (POST Object): multipart/form-data with a signed policy, as AWS documents them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from .bodies import plain
from .signing import Identity

BOUNDARY = "b"


def is_form(spec: Any) -> bool:
    """Whether the body is a form with a signed policy."""
    return isinstance(spec, dict) and "form" in spec


def form(spec: Mapping[str, Any], identity: Identity, region: str) -> bytes:
    """Builds the form. Its boundary is `b`.

    Args:
        spec: `fields`: pairs of name and value (a body), in order; `conditions`: conditions of the policy, without those of the
            signature; `expires_s`: validity of the policy in seconds, default 3600; `sign`: "v4" (default) or "v2"; `spoil`:
            number of characters to cut off the end of the signed policy; `file`: a body; `file_name`.
        identity: The credentials that sign.
        region: Region in the credential scope.
    """
    now = datetime.now(timezone.utc)
    signing = _version_two(identity) if spec.get("sign") == "v2" else _version_four(identity, region, now)
    conditions = [*spec["conditions"], *({name: value} for name, value in signing.items() if name.startswith("x-amz-"))]
    expiration = (now + timedelta(seconds=spec.get("expires_s", 3600))).strftime("%Y-%m-%dT%H:%M:%SZ")
    policy = base64.b64encode(json.dumps({"expiration": expiration, "conditions": conditions}).encode()).decode()
    fields = [*spec["fields"], *signing.items(), ("policy", policy[: len(policy) - spec.get("spoil", 0)])]
    fields.append(_signature(spec.get("sign", "v4"), policy, identity, region, now))
    name = spec.get("file_name", "f.txt")
    parts = [(f'name="{field}"', plain(value)) for field, value in fields]
    parts.append((f'name="file"; filename="{name}"', plain(spec["file"])))
    opening = f"--{BOUNDARY}\r\nContent-Disposition: form-data; "
    return (
        b"".join(f"{opening}{head}\r\n\r\n".encode() + value + b"\r\n" for head, value in parts) + f"--{BOUNDARY}--\r\n".encode()
    )


def _version_two(identity: Identity) -> dict[str, str]:
    return {"AWSAccessKeyId": identity.access_key}


def _version_four(identity: Identity, region: str, now: datetime) -> dict[str, str]:
    credential = f"{identity.access_key}/{now:%Y%m%d}/{region}/s3/aws4_request"
    return {"x-amz-algorithm": "AWS4-HMAC-SHA256", "x-amz-credential": credential, "x-amz-date": f"{now:%Y%m%dT%H%M%SZ}"}


def _signature(version: str, policy: str, identity: Identity, region: str, now: datetime) -> tuple[str, str]:
    if version == "v2":
        digest = hmac.new(identity.secret_key.encode(), policy.encode(), hashlib.sha1).digest()
        return "signature", base64.b64encode(digest).decode()
    key = f"AWS4{identity.secret_key}".encode()
    for step in (f"{now:%Y%m%d}", region, "s3", "aws4_request"):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    return "x-amz-signature", hmac.new(key, policy.encode(), hashlib.sha256).hexdigest()
