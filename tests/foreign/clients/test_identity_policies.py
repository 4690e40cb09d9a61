"""boto3 with the users, groups, roles and policies of a users file: which policies and condition keys decide a request."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock.testing import Decision, Emulator

OWNER, PARTNER = "111122223333", "444455556666"
READ_ONLY = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
FULL = "arn:aws:iam::aws:policy/AmazonS3FullAccess"
CREDENTIALS = {
    "aws_access_key_id": "AccessKeyId",
    "aws_secret_access_key": "SecretAccessKey",
    "aws_session_token": "SessionToken",
}


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(action: str | list[str], resource: str = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(action: str | list[str], resource: str = "*", **more: Any) -> dict[str, Any]:
    return {**allow(action, resource, **more), "Effect": "Deny"}


def inline(*statements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": "inline", "document": document(*statements)}]


def user(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "access_keys": [{"access_key_id": name.upper(), "secret_access_key": f"{name}-secret"}], **more}


def account(account_id: str, root: str, **more: Any) -> dict[str, Any]:
    keys = [{"access_key_id": root.upper(), "secret_access_key": f"{root}-secret"}]
    return {"account_id": account_id, "access_keys": keys, **more}


USERS = {
    "accounts": [
        account(
            OWNER,
            "root",
            users=[
                user("worker"),  # the tests give it its policies
                user("other", inline_policies=inline(allow("s3:PutObject"))),
                user("grouped", groups=["readers"], attached_policies=[f"arn:aws:iam::{OWNER}:policy/uploads"]),
                user("bounded", attached_policies=[FULL], permissions_boundary=READ_ONLY),
            ],
            groups=[
                {
                    "name": "readers",
                    "attached_policies": [READ_ONLY],
                    "inline_policies": inline(deny("s3:*", "arn:aws:s3:::*/secret/*")),
                }
            ],
            managed_policies=[{"name": "uploads", "document": document(allow("s3:PutObject"))}],
            roles=[
                {
                    "name": "trainer",
                    "attached_policies": [FULL],
                    "trust_policy": document({"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": OWNER}}),
                }
            ],
        ),
        account(PARTNER, "partner", users=[user("guest", attached_policies=[FULL]), user("stranger")]),
    ]
}


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(users=USERS) as instance:
        yield instance


def client(emulator: Emulator, name: str | None, service: str = "s3", **keys: str) -> Any:
    """The client of a user or a root; None: unsigned."""
    config = Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1})
    if name is None:
        config = config.merge(Config(signature_version=UNSIGNED))
    pair = {"aws_access_key_id": str(name).upper(), "aws_secret_access_key": f"{name}-secret"}
    return boto3.client(service, endpoint_url=emulator.endpoint, region_name="us-east-1", config=config, **{**pair, **keys})


def worker(emulator: Emulator, *statements: dict[str, Any], **more: Any) -> Any:
    """The client of a user with exactly these statements."""
    policies = inline(*statements) if statements else []
    emulator.add_users({"accounts": [{"account_id": OWNER, "users": [user("worker", inline_policies=policies, **more)]}]})
    return client(emulator, "worker")


@pytest.fixture
def bucket(emulator: Emulator, request: pytest.FixtureRequest) -> str:
    name = request.node.name.split("[")[0].removeprefix("test_").replace("_", "-")[:60].rstrip("-")
    root = client(emulator, "root")
    root.create_bucket(Bucket=name)
    root.put_object(Bucket=name, Key="k", Body=b"body")
    return name


def of(bucket: str, keys: str = "*") -> str:
    return f"arn:aws:s3:::{bucket}/{keys}"


def refused(call: Any, **arguments: Any) -> str:
    """The message of the denial."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    return str(caught.value.response["Error"]["Message"])


def status(call: Any, **arguments: Any) -> int:
    try:
        return int(call(**arguments)["ResponseMetadata"]["HTTPStatusCode"])
    except ClientError as error:
        return int(error.response["ResponseMetadata"]["HTTPStatusCode"])


def set_policy(emulator: Emulator, bucket: str, *statements: dict[str, Any]) -> None:
    client(emulator, "root").put_bucket_policy(Bucket=bucket, Policy=json.dumps(document(*statements)))


def test_inline_policy_with_a_variable(emulator: Emulator, bucket: str) -> None:
    s3 = worker(
        emulator,
        allow(["s3:GetObject", "s3:PutObject"], of(bucket, "home/${aws:username}/*")),
        allow("s3:ListBucket", f"arn:aws:s3:::{bucket}", Condition={"StringLike": {"s3:prefix": "home/${aws:username}/*"}}),
    )
    s3.put_object(Bucket=bucket, Key="home/worker/k", Body=b"x")
    assert s3.get_object(Bucket=bucket, Key="home/worker/k")["Body"].read() == b"x"
    assert s3.list_objects_v2(Bucket=bucket, Prefix="home/worker/")["KeyCount"] == 1
    assert refused(s3.get_object, Bucket=bucket, Key="home/root/k") == (
        f"User: arn:aws:iam::{OWNER}:user/worker is not authorized to perform: s3:GetObject on resource: "
        f'"{of(bucket, "home/root/k")}" because no identity-based policy allows the s3:GetObject action'
    )
    refused(s3.list_objects_v2, Bucket=bucket, Prefix="home/")
    refused(s3.list_buckets)


def test_policies_of_groups_and_managed_policies_add_up(emulator: Emulator, bucket: str) -> None:
    s3 = client(emulator, "grouped")
    s3.put_object(Bucket=bucket, Key="new", Body=b"")
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 2
    refused(s3.delete_object, Bucket=bucket, Key="new")
    message = refused(s3.put_object, Bucket=bucket, Key="secret/new", Body=b"")
    assert message.endswith("with an explicit deny in an identity-based policy")


def test_permission_boundaries_limit_users(emulator: Emulator, bucket: str) -> None:
    s3 = client(emulator, "bounded")
    s3.get_object(Bucket=bucket, Key="k")
    assert refused(s3.delete_object, Bucket=bucket, Key="k").endswith(
        "because no permissions boundary allows the s3:DeleteObject action"
    )
    # A bucket policy that names the user is not limited by the boundary's missing permission.
    named = {"AWS": f"arn:aws:iam::{OWNER}:user/bounded"}
    set_policy(emulator, bucket, allow("s3:DeleteObject", of(bucket), Principal=named))
    s3.delete_object(Bucket=bucket, Key="k")


def test_session_policies_limit_roles(emulator: Emulator, bucket: str) -> None:
    sts = client(emulator, "worker", "sts")

    def assume(**more: Any) -> Any:
        worker(emulator, allow("sts:AssumeRole"))
        given = sts.assume_role(RoleArn=f"arn:aws:iam::{OWNER}:role/trainer", RoleSessionName="job", **more)["Credentials"]
        return client(emulator, "trainer", **{name: given[member] for name, member in CREDENTIALS.items()})

    assume().put_object(Bucket=bucket, Key="by-role", Body=b"")
    limited = assume(Policy=json.dumps(document(allow("s3:GetObject", of(bucket, "public/*")))))
    message = refused(limited.put_object, Bucket=bucket, Key="public/k", Body=b"")
    assert message.startswith(f"User: arn:aws:sts::{OWNER}:assumed-role/trainer/job is not authorized to perform: s3:PutObject")
    assert message.endswith("because no session policy allows the s3:PutObject action")
    refused(limited.get_object, Bucket=bucket, Key="k")
    client(emulator, "root").put_object(Bucket=bucket, Key="public/k", Body=b"p")
    assert limited.get_object(Bucket=bucket, Key="public/k")["Body"].read() == b"p"
    set_policy(emulator, bucket, deny("s3:GetObject", of(bucket), Principal={"AWS": f"arn:aws:iam::{OWNER}:role/trainer"}))
    refused(limited.get_object, Bucket=bucket, Key="public/k")


@pytest.mark.parametrize(("with_list", "expected"), [(False, 403), (True, 404)])
def test_missing_objects_and_versions(emulator: Emulator, bucket: str, with_list: bool, expected: int) -> None:
    listed = [allow("s3:ListBucket", f"arn:aws:s3:::{bucket}")] if with_list else []
    s3 = worker(emulator, allow(["s3:GetObject*", "s3:PutObject"], of(bucket)), *listed)
    source = {"Bucket": bucket, "Key": "absent"}
    assert status(s3.get_object, **source) == expected
    assert status(s3.head_object, **source) == expected
    assert status(s3.get_object_tagging, **source) == expected
    assert status(s3.copy_object, Bucket=bucket, Key="copy", CopySource=source) == expected
    client(emulator, "root").put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    first = client(emulator, "root").put_object(Bucket=bucket, Key="k", Body=b"v")["VersionId"]
    client(emulator, "root").delete_object(Bucket=bucket, Key="k", VersionId=first)
    assert status(s3.get_object, Bucket=bucket, Key="k", VersionId=first) == expected
    assert status(s3.get_object, Bucket=bucket, Key="k") == 200


def test_other_accounts_need_both_policies(emulator: Emulator, bucket: str) -> None:
    guest, stranger = client(emulator, "guest"), client(emulator, "stranger")
    assert refused(guest.get_object, Bucket=bucket, Key="k") == "Access Denied"
    set_policy(emulator, bucket, allow("s3:GetObject", of(bucket), Principal={"AWS": PARTNER}))
    assert guest.get_object(Bucket=bucket, Key="k")["Body"].read() == b"body"
    refused(stranger.get_object, Bucket=bucket, Key="k")
    refused(guest.put_object, Bucket=bucket, Key="k", Body=b"")
    # Naming a user of another account does not replace that account's permission.
    set_policy(emulator, bucket, allow("s3:GetObject", of(bucket), Principal={"AWS": f"arn:aws:iam::{PARTNER}:user/stranger"}))
    refused(stranger.get_object, Bucket=bucket, Key="k")


def test_public_policies_under_block_public_access(emulator: Emulator, bucket: str) -> None:
    root, unsigned = client(emulator, "root"), client(emulator, None)
    public = json.dumps(document(allow("s3:GetObject", of(bucket), Principal="*")))
    refused(unsigned.get_object, Bucket=bucket, Key="k")
    refused(root.put_bucket_policy, Bucket=bucket, Policy=public)  # BlockPublicPolicy is on by default
    root.delete_public_access_block(Bucket=bucket)
    root.put_bucket_policy(Bucket=bucket, Policy=public)
    assert unsigned.get_object(Bucket=bucket, Key="k")["Body"].read() == b"body"
    assert root.get_bucket_policy_status(Bucket=bucket)["PolicyStatus"]["IsPublic"]
    refused(unsigned.get_object, Bucket=bucket, Key="absent")
    refused(unsigned.put_object, Bucket=bucket, Key="k", Body=b"")
    restrict = {name: name == "RestrictPublicBuckets" for name in
                ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")}  # fmt: skip
    root.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=restrict)
    refused(unsigned.get_object, Bucket=bucket, Key="k")
    refused(client(emulator, "guest").get_object, Bucket=bucket, Key="k")
    assert worker(emulator).get_object(Bucket=bucket, Key="k")["Body"].read() == b"body"


def test_copies_need_the_source_and_its_tags(emulator: Emulator, bucket: str) -> None:
    root = client(emulator, "root")
    root.put_object(Bucket=bucket, Key="tagged", Body=b"t", Tagging="team=a")
    copy = {"Bucket": bucket, "Key": "copies/k", "CopySource": {"Bucket": bucket, "Key": "k"}}
    write = allow("s3:PutObject", of(bucket, "copies/*"), Condition={"StringEquals": {"s3:x-amz-copy-source": f"{bucket}/k"}})
    refused(worker(emulator, write).copy_object, **copy)
    s3 = worker(emulator, write, allow("s3:GetObject", of(bucket)))
    s3.copy_object(**copy)
    refused(s3.copy_object, **{**copy, "CopySource": {"Bucket": bucket, "Key": "tagged"}})
    refused(s3.put_object, Bucket=bucket, Key="copies/k", Body=b"")
    replacing = deny("s3:PutObject", of(bucket), Condition={"StringEquals": {"s3:x-amz-metadata-directive": "REPLACE"}})
    permissions = allow(["s3:PutObject", "s3:GetObject"], of(bucket))
    s3 = worker(emulator, permissions, replacing)
    s3.copy_object(**copy)
    refused(s3.copy_object, **copy, MetadataDirective="REPLACE")
    tagged = {**copy, "CopySource": {"Bucket": bucket, "Key": "tagged"}}
    refused(s3.copy_object, **tagged)
    s3 = worker(emulator, permissions, allow(["s3:GetObjectTagging", "s3:PutObjectTagging"], of(bucket)))
    s3.copy_object(**tagged)
    assert root.get_object_tagging(Bucket=bucket, Key="copies/k")["TagSet"] == [{"Key": "team", "Value": "a"}]


def test_multipart_uploads_and_their_initiator(emulator: Emulator, bucket: str) -> None:
    encrypted = {"StringEquals": {"s3:x-amz-server-side-encryption": "AES256"}}
    steps = {"Bool": {"s3:ObjectCreationOperation": "false"}}
    s3 = worker(
        emulator,
        allow("s3:PutObject", of(bucket), Condition=encrypted),
        allow("s3:PutObject", of(bucket), Condition={"Null": {"s3:x-amz-server-side-encryption": "true"}, **steps}),
        deny("s3:PutObject", of(bucket), Condition={"StringEquals": {"s3:x-amz-storage-class": "GLACIER"}}),
    )
    refused(s3.create_multipart_upload, Bucket=bucket, Key="m", ServerSideEncryption="AES256", StorageClass="GLACIER")
    upload = {"Bucket": bucket, "Key": "m"}
    upload["UploadId"] = s3.create_multipart_upload(**upload, ServerSideEncryption="AES256")["UploadId"]
    part = s3.upload_part(**upload, PartNumber=1, Body=b"part")
    refused(s3.upload_part_copy, **upload, PartNumber=2, CopySource={"Bucket": bucket, "Key": "k"})
    assert [each["PartNumber"] for each in s3.list_parts(**upload)["Parts"]] == [1]
    other = client(emulator, "other")
    refused(other.list_parts, **upload)
    refused(other.abort_multipart_upload, **upload)
    s3 = worker(emulator, allow("s3:PutObject", of(bucket)))
    s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    upload["UploadId"] = s3.create_multipart_upload(Bucket=bucket, Key="m")["UploadId"]
    refused(s3.list_multipart_uploads, Bucket=bucket)
    s3.abort_multipart_upload(**upload)


def test_deletions_by_tag_and_by_version(emulator: Emulator, bucket: str) -> None:
    root = client(emulator, "root")
    for key, team in (("a", "red"), ("b", "blue")):
        root.put_object(Bucket=bucket, Key=key, Body=b"", Tagging=f"team={team}")
    s3 = worker(emulator, allow("s3:DeleteObject", of(bucket), Condition={"StringEquals": {"s3:ExistingObjectTag/team": "red"}}))
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in ("a", "b", "k")]})
    assert [entry["Key"] for entry in answer["Deleted"]] == ["a"]
    assert [(entry["Key"], entry["Code"]) for entry in answer["Errors"]] == [("b", "AccessDenied"), ("k", "AccessDenied")]
    root.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    first, second = (root.put_object(Bucket=bucket, Key="v", Body=b"")["VersionId"] for _ in range(2))
    s3 = worker(emulator, allow("s3:DeleteObject", of(bucket)))
    refused(s3.delete_object, Bucket=bucket, Key="v", VersionId=first)
    s3 = worker(emulator, allow("s3:DeleteObjectVersion", of(bucket), Condition={"StringEquals": {"s3:VersionId": first}}))
    entries = [{"Key": "v", "VersionId": first}, {"Key": "v", "VersionId": second}, {"Key": "v"}]
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": entries})
    assert [entry["VersionId"] for entry in answer["Deleted"]] == [first]
    assert [entry.get("VersionId") for entry in answer["Errors"]] == [second, None]


def test_tags_of_requests_and_of_objects(emulator: Emulator, bucket: str) -> None:
    only_team = {
        "ForAllValues:StringEquals": {"s3:RequestObjectTagKeys": ["team"]},
        "StringEquals": {"s3:RequestObjectTag/team": "a"},
    }
    red = {"StringEquals": {"s3:ExistingObjectTag/team": "a"}}
    s3 = worker(
        emulator,
        allow("s3:PutObject", of(bucket)),
        allow("s3:PutObjectTagging", of(bucket), Condition=only_team),
        allow(["s3:GetObject", "s3:DeleteObjectTagging"], of(bucket), Condition=red),
    )

    def tags(**values: str) -> dict[str, Any]:
        return {
            "Bucket": bucket,
            "Key": "k",
            "Tagging": {"TagSet": [{"Key": key, "Value": value} for key, value in values.items()]},
        }

    refused(s3.get_object, Bucket=bucket, Key="k")
    refused(s3.put_object_tagging, **tags(team="b"))
    refused(s3.put_object_tagging, **tags(team="a", extra="x"))
    s3.put_object_tagging(**tags(team="a"))
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"body"
    refused(s3.get_object_tagging, Bucket=bucket, Key="k")
    s3.put_object(Bucket=bucket, Key="n", Body=b"", Tagging="team=a")
    refused(s3.put_object, Bucket=bucket, Key="n", Body=b"", Tagging="team=b")
    refused(s3.create_multipart_upload, Bucket=bucket, Key="n", Tagging="team=b")
    s3.delete_object_tagging(Bucket=bucket, Key="k")
    refused(s3.get_object, Bucket=bucket, Key="k")
    refused(s3.delete_object_tagging, Bucket=bucket, Key="k")


def test_versions_have_their_own_permission(emulator: Emulator, bucket: str) -> None:
    s3 = worker(emulator, allow("s3:GetObject", of(bucket)), allow("s3:ListBucket", f"arn:aws:s3:::{bucket}"))
    s3.get_object(Bucket=bucket, Key="k")
    refused(s3.get_object, Bucket=bucket, Key="k", VersionId="null")
    refused(s3.list_object_versions, Bucket=bucket)
    limited = allow("s3:ListBucket", f"arn:aws:s3:::{bucket}", Condition={"NumericLessThanEquals": {"s3:max-keys": "10"}})
    s3 = worker(emulator, limited)
    s3.list_objects_v2(Bucket=bucket, MaxKeys=10)
    refused(s3.list_objects_v2, Bucket=bucket, MaxKeys=11)
    refused(s3.list_objects_v2, Bucket=bucket)


def explained(emulator: Emulator, principal: str, action: str, resource: str) -> dict[str, Any]:
    query = urllib.parse.urlencode({"principal": principal, "action": action, "resource": resource})
    with urllib.request.urlopen(f"{emulator.admin_endpoint}/_penstock/explain?{query}", timeout=30) as response:
        [decision] = json.load(response)["decisions"]
    return dict(decision)


def test_roles_and_sessions_can_be_explained(emulator: Emulator, bucket: str) -> None:
    role, session = f"arn:aws:iam::{OWNER}:role/trainer", f"arn:aws:sts::{OWNER}:assumed-role/trainer/explained"
    put = ("s3:PutObject", of(bucket, "k"))
    assert explained(emulator, role, *put)["policy"] == FULL
    assert explained(emulator, session, *put)["allowed"]
    worker(emulator, allow("sts:AssumeRole"))
    limit = json.dumps(document(allow("s3:GetObject")))
    client(emulator, "worker", "sts").assume_role(RoleArn=role, RoleSessionName="explained", Policy=limit)
    assert explained(emulator, session, *put)["decided_by"] == "session-policy"
    assert explained(emulator, role, *put)["allowed"]
    bounded = explained(emulator, f"arn:aws:iam::{OWNER}:user/bounded", *put)
    assert (bounded["allowed"], bounded["decided_by"]) == (False, "permissions-boundary")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        explained(emulator, f"arn:aws:iam::{OWNER}:role/absent", *put)


def test_the_journal_has_the_decisions(emulator: Emulator, bucket: str) -> None:
    s3 = worker(emulator, {**allow("s3:GetObject", of(bucket)), "Sid": "Read"})
    s3.get_object(Bucket=bucket, Key="k")
    refused(s3.put_object, Bucket=bucket, Key="k", Body=b"")
    client(emulator, "root").get_object(Bucket=bucket, Key="k")
    read, write, by_root = emulator.journal().entries(bucket=bucket)[-3:]
    [decision] = read.decisions
    assert decision == Decision(
        action="s3:GetObject", resource=of(bucket, "k"), allowed=True, decided_by="identity-policy", effect="Allow",
        policy="user/worker/inline", statement=0, sid="Read",
    )  # fmt: skip
    [decision] = write.decisions
    assert (decision.allowed, decision.decided_by, decision.statement) == (False, "identity-policy", None)
    assert decision.reason == "because no identity-based policy allows the s3:PutObject action"
    assert "denied s3:PutObject by identity-policy" in str(write)
    assert by_root.decisions == ()


def test_tags_of_principals_and_ages_of_sessions(emulator: Emulator, bucket: str) -> None:
    own = [allow("s3:GetObject", of(bucket, "${aws:PrincipalTag/team}/*"))]
    root = client(emulator, "root")
    root.put_object(Bucket=bucket, Key="red/k", Body=b"r")
    for tags, expected in (({}, 403), ({"team": "blue"}, 403), ({"Team": "red"}, 200)):
        s3 = worker(emulator, *own, tags=tags)
        assert status(s3.get_object, Bucket=bucket, Key="red/k") == expected
    # AWS revokes sessions with such a statement (IAM User Guide, "Revoke IAM role temporary security credentials").
    worker(emulator, allow(["sts:AssumeRole", "s3:GetObject"]))
    given = client(emulator, "worker", "sts").assume_role(RoleArn=f"arn:aws:iam::{OWNER}:role/trainer", RoleSessionName="old")
    keys = {name: given["Credentials"][member] for name, member in CREDENTIALS.items()}
    session = client(emulator, "trainer", **keys)
    now = datetime.now(timezone.utc)
    for issued_before, expected in ((now - timedelta(hours=1), 200), (now + timedelta(hours=1), 403)):
        condition = {"DateLessThan": {"aws:TokenIssueTime": issued_before.strftime("%Y-%m-%dT%H:%M:%SZ")}}
        set_policy(emulator, bucket, deny("s3:*", of(bucket), Principal="*", Condition=condition))
        assert status(session.get_object, Bucket=bucket, Key="k") == expected
        assert status(client(emulator, "worker").get_object, Bucket=bucket, Key="k") == 200
    # Only temporary credentials have the key; it says that there was no MFA.
    without_mfa = {"Bool": {"aws:MultiFactorAuthPresent": "false"}}
    set_policy(emulator, bucket, deny("s3:*", of(bucket), Principal="*", Condition=without_mfa))
    refused(session.get_object, Bucket=bucket, Key="k")
    assert status(client(emulator, "worker").get_object, Bucket=bucket, Key="k") == 200
    set_policy(emulator, bucket, deny("s3:*", of(bucket), Principal="*", Condition={"BoolIfExists": without_mfa["Bool"]}))
    refused(client(emulator, "worker").get_object, Bucket=bucket, Key="k")


def test_a_user_who_may_only_read_uses_a_directory_bucket(emulator: Emulator) -> None:
    """boto3 requests sessions without a mode."""
    name = "read-only--use1-az4--x-s3"
    root = client(emulator, "root")
    zone = {"Type": "AvailabilityZone", "Name": "use1-az4"}
    kind = {"Type": "Directory", "DataRedundancy": "SingleAvailabilityZone"}
    root.create_bucket(Bucket=name, CreateBucketConfiguration={"Location": zone, "Bucket": kind})
    root.put_object(Bucket=name, Key="k", Body=b"body")
    read_only = {"StringEquals": {"s3express:SessionMode": "ReadOnly"}}
    reader = worker(emulator, allow("s3express:CreateSession", Condition=read_only))
    assert reader.get_object(Bucket=name, Key="k")["Body"].read() == b"body"
    refused(reader.put_object, Bucket=name, Key="k", Body=b"other")
    refused(reader.create_session, Bucket=name, SessionMode="ReadWrite")
