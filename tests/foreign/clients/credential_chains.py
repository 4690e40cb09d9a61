"""Users, roles and tokens for tests of credential chains, and the settings of each chain."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

ACCOUNT = "111122223333"
ISSUER = "https://oidc.eks.example.com/id/TRAINING"
PROVIDER = f"arn:aws:iam::{ACCOUNT}:oidc-provider/oidc.eks.example.com/id/TRAINING"
SUBJECT = "system:serviceaccount:ml:trainer"
CONTAINER_TOKEN = "a-container-token"
ANN = {"aws_access_key_id": "ANN", "aws_secret_access_key": "ann-secret"}
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE_KEY = ec.generate_private_key(ec.SECP256R1())


def arn(role: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:role/{role}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int, size: int | None = None) -> str:
    return encoded(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def key_set() -> dict[str, Any]:
    public, point = RSA_KEY.public_key().public_numbers(), CURVE_KEY.public_key().public_numbers()
    return {
        "keys": [
            {"kty": "RSA", "kid": "r", "use": "sig", "n": number(public.n), "e": number(public.e)},
            {"kty": "EC", "kid": "c", "crv": "P-256", "x": number(point.x, 32), "y": number(point.y, 32)},
        ]
    }


def web_token(algorithm: str = "RS256", **claims: Any) -> str:
    """A signed token of the provider, valid for an hour, with these claims replaced; None removes one."""
    now = int(time.time())
    body = {"iss": ISSUER, "sub": SUBJECT, "aud": ["sts.amazonaws.com"], "iat": now, "exp": now + 3600, **claims}
    header = {"alg": algorithm, "kid": "r" if algorithm == "RS256" else "c"}
    parts = [header, {name: value for name, value in body.items() if value is not None}]
    text = ".".join(encoded(json.dumps(part).encode()) for part in parts)
    if algorithm == "RS256":
        signature = RSA_KEY.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    else:
        r, s = decode_dss_signature(CURVE_KEY.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return f"{text}.{encoded(signature)}"


def trust(principal: dict[str, str], action: str = "sts:AssumeRole", **condition: Any) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": "Allow", "Principal": principal, "Action": action}
    if condition:
        statement["Condition"] = condition
    return {"Version": "2012-10-17", "Statement": [statement]}


def role(name: str, trust_policy: dict[str, Any], **more: Any) -> dict[str, Any]:
    policies = ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]
    return {"name": name, "trust_policy": trust_policy, "attached_policies": policies, **more}


ASSUME = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "*"}}
WRITE = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}}
BY_ANN = trust({"AWS": f"arn:aws:iam::{ACCOUNT}:user/ann"})
IN_ACCOUNT = trust({"AWS": ACCOUNT})
WITH_TOKEN = trust(
    {"Federated": PROVIDER}, "sts:AssumeRoleWithWebIdentity", StringEquals={"oidc.eks.example.com/id/TRAINING:sub": SUBJECT}
)


def users() -> dict[str, Any]:
    def user(name: str, **more: Any) -> dict[str, Any]:
        key = {"access_key_id": name.upper(), "secret_access_key": f"{name}-secret"}
        return {"name": name, "access_keys": [key], **more}

    return {
        "accounts": [
            {
                "account_id": ACCOUNT,
                "access_keys": [{"access_key_id": "ROOT", "secret_access_key": "root-secret"}],
                "users": [
                    user("ann"),
                    user("bob"),
                    user("dan", groups=["writers"]),
                    user("eve", inline_policies=[{"name": "assume", "document": ASSUME}]),
                ],
                "groups": [{"name": "writers", "attached_policies": [f"arn:aws:iam::{ACCOUNT}:policy/write"]}],
                "managed_policies": [{"name": "write", "document": WRITE}],
                "roles": [
                    role("trainer", BY_ANN),
                    role("any-user", IN_ACCOUNT, max_session_duration=7200),
                    role("chained", trust({"AWS": arn("trainer")})),
                    role("bounded", BY_ANN, permissions_boundary="arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),
                    role("external", trust({"AWS": f"arn:aws:iam::{ACCOUNT}:user/ann"}, StringEquals={"sts:ExternalId": "id-7"})),
                    role("web", WITH_TOKEN),
                    role("node", trust({"Service": "ec2.amazonaws.com"}), instance_profile=True),
                    role("task", trust({"Service": "ecs-tasks.amazonaws.com"}), container=True, container_token=CONTAINER_TOKEN),
                    role("by-node", trust({"AWS": arn("node")})),
                    role("by-task", trust({"AWS": arn("task")})),
                ],
                "token_providers": [{"issuer": ISSUER, "audiences": ["sts.amazonaws.com"], "keys": key_set()}],
            }
        ]
    }


def chain(kind: str, endpoint: str, admin: str, folder: Path) -> tuple[dict[str, str], str]:
    """The environment of a client that uses the chain, and the name of the role that it gets."""
    config = folder / "config"
    profiles = {
        "source_profile": "[profile p]\nrole_arn = {trainer}\nsource_profile = ann\n[profile ann]\n"
        "aws_access_key_id = ANN\naws_secret_access_key = ann-secret\n",
        "profile_by_instance": "[profile p]\nrole_arn = {by_node}\ncredential_source = Ec2InstanceMetadata\n",
        "profile_by_container": "[profile p]\nrole_arn = {by_task}\ncredential_source = EcsContainer\n",
    }
    text = profiles.get(kind, "").format(trainer=arn("trainer"), by_node=arn("by-node"), by_task=arn("by-task"))
    config.write_text(text)
    environment = {
        "AWS_CONFIG_FILE": str(config),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "none"),
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    if text:
        environment["AWS_PROFILE"] = "p"
    if kind in ("instance", "profile_by_instance"):
        environment |= {"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": admin}
    if kind in ("container", "profile_by_container"):
        (folder / "container-token").write_text(CONTAINER_TOKEN)
        environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = f"{admin}/_penstock/container-credentials/{ACCOUNT}/task"
        environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = str(folder / "container-token")
    if kind == "web_identity":
        (folder / "token").write_text(web_token())
        environment |= {"AWS_WEB_IDENTITY_TOKEN_FILE": str(folder / "token"), "AWS_ROLE_ARN": arn("web")}
    return environment, ROLE_OF[kind]


ROLE_OF = {
    "source_profile": "trainer",
    "profile_by_instance": "by-node",
    "profile_by_container": "by-task",
    "instance": "node",
    "container": "task",
    "web_identity": "web",
}
