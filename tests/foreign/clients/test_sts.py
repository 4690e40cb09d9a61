"""STS of the emulator, used with boto3: actions, limits, trust policies, tokens and errors."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError
from credential_chains import ACCOUNT, ISSUER, PROVIDER, SUBJECT, arn, users, web_token
from penstock.testing import Emulator

READ_ONLY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
NAMESPACE = "{https://sts.amazonaws.com/doc/2011-06-15/}"


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(users=users()) as instance:
        yield instance


def sts_of(emulator: Emulator, user: str = "ann", service: str = "sts", **settings: Any) -> Any:
    region = "us-east-1" if service == "s3" else "eu-west-1"  # each region has its endpoint of STS
    keys = {"aws_access_key_id": user.upper(), "aws_secret_access_key": f"{user}-secret"}
    config = Config(retries={"total_max_attempts": 1})
    return boto3.client(
        service, **{"endpoint_url": emulator.endpoint, "region_name": region, "config": config, **keys, **settings}
    )


def session_of(emulator: Emulator, given: dict[str, Any], service: str = "sts") -> Any:
    return sts_of(
        emulator, service=service, aws_access_key_id=given["AccessKeyId"], aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )  # fmt: skip


def assume(sts: Any, role: str, **more: Any) -> dict[str, Any]:
    return sts.assume_role(**{"RoleArn": arn(role), "RoleSessionName": "job-1", **more})


def with_token(emulator: Emulator, token: str, role: str = "web", **more: Any) -> dict[str, Any]:
    sts = sts_of(emulator, config=Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1}))
    return sts.assume_role_with_web_identity(RoleArn=arn(role), RoleSessionName="job-1", WebIdentityToken=token, **more)


def refusal(call: Any, *arguments: Any, **named: Any) -> tuple[int, str, str]:
    with pytest.raises(ClientError) as refused:
        call(*arguments, **named)
    response = refused.value.response
    error = response["Error"]
    return response["ResponseMetadata"]["HTTPStatusCode"], error["Code"], error["Message"]


def test_assume_role_returns_a_session(emulator):
    response = assume(sts_of(emulator), "trainer", Policy=json.dumps(READ_ONLY))
    user, given = response["AssumedRoleUser"], response["Credentials"]
    assert user["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/trainer/job-1"
    assert user["AssumedRoleId"].startswith("AROA")
    assert user["AssumedRoleId"].endswith(":job-1")
    assert given["AccessKeyId"].startswith("ASIA")
    assert 3590 < given["Expiration"].timestamp() - time.time() <= 3601
    assert 0 < response["PackedPolicySize"] <= 100
    caller = session_of(emulator, given).get_caller_identity()
    assert (caller["Arn"], caller["UserId"], caller["Account"]) == (user["Arn"], user["AssumedRoleId"], ACCOUNT)


def test_policies_of_the_role_and_of_the_session_limit_s3(emulator):
    emulator.client().create_bucket("limited")
    s3 = session_of(emulator, assume(sts_of(emulator), "trainer")["Credentials"], "s3")
    s3.put_object(Bucket="limited", Key="k", Body=b"x")
    given = assume(sts_of(emulator), "trainer", Policy=json.dumps(READ_ONLY))["Credentials"]
    limited = session_of(emulator, given, "s3")
    assert limited.get_object(Bucket="limited", Key="k")["Body"].read() == b"x"
    assert refusal(limited.put_object, Bucket="limited", Key="k", Body=b"y")[:2] == (403, "AccessDenied")
    arns = [{"arn": "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"}]
    reader = session_of(emulator, assume(sts_of(emulator), "trainer", PolicyArns=arns)["Credentials"], "s3")
    reader.list_objects_v2(Bucket="limited")
    assert refusal(reader.delete_object, Bucket="limited", Key="k")[:2] == (403, "AccessDenied")
    bounded = session_of(emulator, assume(sts_of(emulator), "bounded")["Credentials"], "s3")
    assert refusal(bounded.put_object, Bucket="limited", Key="k", Body=b"y")[:2] == (403, "AccessDenied")


def test_policies_of_a_group_and_of_a_user_apply(emulator):
    emulator.client().create_bucket("of-the-group")
    dan = session_of(emulator, sts_of(emulator, "dan").get_session_token()["Credentials"], "s3")
    dan.put_object(Bucket="of-the-group", Key="k", Body=b"x")
    bob = session_of(emulator, sts_of(emulator, "bob").get_session_token()["Credentials"], "s3")
    assert refusal(bob.put_object, Bucket="of-the-group", Key="k", Body=b"x")[:2] == (403, "AccessDenied")


def test_the_journal_names_the_actions(emulator):
    emulator.journal().clear()
    sts = sts_of(emulator)
    sts.get_caller_identity()
    assume(sts, "trainer")
    refusal(sts.get_access_key_info, AccessKeyId="ASIAIOSFODNN7EXAMPLE")
    entries = emulator.journal().entries()
    assert [(entry.operation, entry.status) for entry in entries] == [("GetCallerIdentity", 200), ("AssumeRole", 200), ("", 400)]
    assert {entry.access_key for entry in entries} == {"ANN"}


@pytest.mark.parametrize(
    ("user", "user_arn"), [("ann", f"arn:aws:iam::{ACCOUNT}:user/ann"), ("root", f"arn:aws:iam::{ACCOUNT}:root")]
)
def test_a_session_token_keeps_the_identity(emulator, user, user_arn):
    given = sts_of(emulator, user).get_session_token(DurationSeconds=900)["Credentials"]
    session = session_of(emulator, given)
    assert session.get_caller_identity()["Arn"] == user_arn
    assert refusal(session.get_session_token)[:2] == (403, "AccessDenied")


def test_a_presigned_request_is_answered(emulator):
    url = sts_of(emulator).generate_presigned_url("get_caller_identity", HttpMethod="GET")
    with urllib.request.urlopen(url, timeout=30) as response:
        text = response.read().decode()
    assert f"<Arn>arn:aws:iam::{ACCOUNT}:user/ann</Arn>" in text
    assert 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"' in text


def test_an_external_id_is_a_condition(emulator):
    sts = sts_of(emulator)
    assume(sts, "external", ExternalId="id-7")
    for named in ({}, {"ExternalId": "id-8"}):
        status, code, message = refusal(assume, sts, "external", **named)
        assert (status, code) == (403, "AccessDenied")
        assert message.startswith(f"User: arn:aws:iam::{ACCOUNT}:user/ann is not authorized to perform: sts:AssumeRole on")


def test_a_trusted_account_needs_a_policy_of_the_user(emulator):
    assume(sts_of(emulator, "eve"), "any-user")
    assert refusal(assume, sts_of(emulator, "bob"), "any-user")[:2] == (403, "AccessDenied")
    assert refusal(assume, sts_of(emulator, "eve"), "trainer")[:2] == (403, "AccessDenied")


def test_a_session_assumes_the_next_role_for_an_hour(emulator):
    session = session_of(emulator, assume(sts_of(emulator), "trainer")["Credentials"])
    assert assume(session, "chained")["AssumedRoleUser"]["Arn"].endswith(":assumed-role/chained/job-1")
    status, code, _message = refusal(assume, session, "chained", DurationSeconds=3601)
    assert (status, code) == (400, "ValidationError")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"RoleSessionName": "a b"}, "ValidationError"),
        ({"DurationSeconds": 43201}, "ValidationError"),
        ({"DurationSeconds": 3601}, "ValidationError"),
        ({"RoleArn": f"arn:aws:iam::{ACCOUNT}:user/trainer"}, "ValidationError"),
        ({"RoleArn": arn("missing-role")}, "AccessDenied"),
        ({"RoleArn": arn("path/trainer")}, "AccessDenied"),
        ({"Policy": "{}"}, "MalformedPolicyDocument"),
        ({"Policy": json.dumps({**READ_ONLY, "Id": "x" * 2048})}, "PackedPolicyTooLarge"),
        ({"PolicyArns": [{"arn": "arn:aws:iam::aws:policy/Unknown"}]}, "MalformedPolicyDocument"),
        ({"Tags": [{"Key": "team", "Value": "ml"}]}, "NotImplemented"),
        ({"SourceIdentity": "ann"}, "NotImplemented"),
    ],
)
def test_invalid_parameters_are_refused(emulator, more, code):
    assert refusal(assume, sts_of(emulator), "trainer", **more)[1] == code


def test_roots_cannot_assume_roles(emulator):
    assert refusal(assume, sts_of(emulator, "root"), "any-user")[:2] == (403, "AccessDenied")


def test_unknown_credentials_are_refused_in_the_terms_of_sts(emulator):
    assert refusal(sts_of(emulator, "nobody").get_caller_identity)[:2] == (403, "InvalidClientTokenId")
    assert refusal(sts_of(emulator, aws_secret_access_key="wrong").get_caller_identity)[:2] == (403, "SignatureDoesNotMatch")
    given = assume(sts_of(emulator), "trainer")["Credentials"]
    forged = {**given, "SessionToken": given["SessionToken"][:-4] + "AAAA"}
    assert refusal(session_of(emulator, forged).get_caller_identity)[:2] == (403, "InvalidClientTokenId")


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_web_identity_assumes_a_role(emulator, algorithm):
    response = with_token(emulator, web_token(algorithm))
    assert response["SubjectFromWebIdentityToken"] == SUBJECT
    assert response["Provider"] == PROVIDER
    assert response["Audience"] == "sts.amazonaws.com"
    caller = session_of(emulator, response["Credentials"]).get_caller_identity()
    assert caller["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/web/job-1"


def tampered() -> str:
    head, body, signature = web_token().split(".")
    return f"{head}.{body}.{signature[:-8]}AAAAAAAA"


@pytest.mark.parametrize(
    ("token", "status", "code"),
    [
        (web_token(exp=int(time.time()) - 1), 400, "ExpiredTokenException"),
        (web_token(exp=None), 400, "InvalidIdentityToken"),
        (web_token(iat=int(time.time()) + 3000), 400, "InvalidIdentityToken"),
        (web_token(aud="other"), 400, "InvalidIdentityToken"),
        (web_token(iss=f"{ISSUER}/other"), 400, "InvalidIdentityToken"),
        (web_token(sub=None), 400, "InvalidIdentityToken"),
        (tampered(), 400, "InvalidIdentityToken"),
        ("no.web.token", 400, "InvalidIdentityToken"),
        (web_token(sub="system:serviceaccount:ml:other"), 403, "AccessDenied"),
    ],
    ids=["expired", "no-expiry", "not-yet", "audience", "issuer", "no-subject", "signature", "no-token", "other-subject"],
)
def test_other_tokens_are_refused(emulator, token, status, code):
    assert refusal(with_token, emulator, token)[:2] == (status, code)


def test_a_role_without_trust_in_the_provider_is_refused(emulator):
    assert refusal(with_token, emulator, web_token(), "trainer")[:2] == (403, "AccessDenied")


def test_any_token_is_accepted_by_an_option():
    document = users()
    [account] = document["accounts"]
    account["token_providers"] = [{"issuer": ISSUER, "audiences": ["sts.amazonaws.com"], "accept_any_token": True}]
    account["roles"].append({
        "name": "for-any",
        "trust_policy": {"Version": "2012-10-17", "Statement": {
            "Effect": "Allow", "Principal": {"Federated": PROVIDER}, "Action": "sts:AssumeRoleWithWebIdentity",
        }},
    })  # fmt: skip
    with Emulator(users=document) as emulator:
        assert with_token(emulator, "a file that is no token", "for-any")["SubjectFromWebIdentityToken"] == "any"
        assert with_token(emulator, web_token(aud="other"))["SubjectFromWebIdentityToken"] == SUBJECT
        assert refusal(with_token, emulator, web_token(exp=1), "web")[1] == "ExpiredTokenException"


def post(emulator: Emulator, body: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    form = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
    request = urllib.request.Request(f"{emulator.endpoint}/", body.encode(), form)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("Action=GetCallerIdentity&Version=2011-06-15", 403, "MissingAuthenticationToken"),
        ("Action=DecodeAuthorizationMessage&Version=2011-06-15", 400, "InvalidAction"),
        ("Action=AssumeRoleWithWebIdentity&Version=2020-01-01", 400, "InvalidAction"),
        ("Version=2011-06-15", 400, "MissingAction"),
        ("Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=%zz", 400, "MalformedQueryString"),
        ("Action=AssumeRoleWithWebIdentity&Version=2011-06-15&Wrong=1", 400, "ValidationError"),
        ("Action=" + "x" * 66_000, 413, "RequestEntityTooLarge"),
    ],
)
def test_malformed_requests_are_refused_in_the_form_of_sts(emulator, body, status, code):
    have, text = post(emulator, body)
    assert (have, f"<Code>{code}</Code>" in text) == (status, True), text
    assert '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">' in text


def test_faults_apply_to_sts():
    with Emulator(users=users()) as emulator:
        rule = {"id": "busy", "when": {"operation": "AssumeRole"}, "do": {"slow_down": {}}, "limit": {"times": 1}}
        emulator.faults().set({"rules": [rule]})
        sts = sts_of(emulator, config=Config(retries={"mode": "standard", "total_max_attempts": 3}))
        assert assume(sts, "trainer")["ResponseMetadata"]["RetryAttempts"] == 1
        emulator.faults().check_all()


def test_sessions_survive_a_restart_with_the_users(tmp_path: Path):
    with Emulator(data=str(tmp_path)) as emulator:
        emulator.add_users(users())
        given = assume(sts_of(emulator), "trainer")["Credentials"]
        assert given["SecretAccessKey"] not in json.dumps(emulator.users())
    with Emulator(data=str(tmp_path)) as emulator:
        assert session_of(emulator, given).get_caller_identity()["Arn"].endswith("assumed-role/trainer/job-1")
        assert next(role["name"] for role in emulator.users()["accounts"][0]["roles"]) == "any-user"


def test_sessions_end_with_their_role(tmp_path: Path):
    with Emulator(data=str(tmp_path), users=users()) as emulator:  # given at the start, so not stored
        given = assume(sts_of(emulator), "trainer")["Credentials"]
    with Emulator(data=str(tmp_path)) as emulator:
        assert refusal(session_of(emulator, given).get_caller_identity)[1] == "InvalidClientTokenId"
    with Emulator(data=str(tmp_path), users=users()) as emulator:
        assert refusal(session_of(emulator, given).get_caller_identity)[1] == "InvalidClientTokenId"


def test_deleting_a_session_revokes_it(emulator):
    given = assume(sts_of(emulator), "trainer")["Credentials"]
    url = f"{emulator.admin_endpoint}/_penstock/access-keys/{given['AccessKeyId']}"
    with urllib.request.urlopen(urllib.request.Request(url, method="DELETE"), timeout=30) as response:
        assert response.status == 200
    assert refusal(session_of(emulator, given).get_caller_identity)[1] == "InvalidClientTokenId"


def test_a_users_document_is_listed_without_secrets(emulator):
    listed = json.dumps(emulator.users())
    assert "a-container-token" not in listed
    assert "ann-secret" not in listed
    [account] = emulator.users()["accounts"]
    assert {role["name"] for role in account["roles"]} >= {"trainer", "task", "web"}
    [eve] = [user for user in account["users"] if user["name"] == "eve"]
    assert eve["inline_policies"][0]["name"] == "assume"


def test_the_cli_prints_the_error(emulator):
    environment = {
        "AWS_ACCESS_KEY_ID": "BOB", "AWS_SECRET_ACCESS_KEY": "bob-secret", "AWS_ENDPOINT_URL": emulator.endpoint,
        "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    command = ["env", *(f"{name}={value}" for name, value in environment.items()), "aws", "sts", "assume-role"]
    done = subprocess.run(
        [*command, "--role-arn", arn("trainer"), "--role-session-name", "job"], capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "An error occurred (AccessDenied) when calling the AssumeRole operation" in done.stderr
