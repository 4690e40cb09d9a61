"""penstock.testing.Emulator: users, authentication modes, namespaces, clocks and seeding, used with boto3."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import boto3
import penstock
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from bucket_io import get, put
from penstock.testing import Emulator, Namespace

USERS: dict[str, Any] = {
    "accounts": [
        {
            "account_id": "111122223333",
            "display_name": "team-a",
            "access_keys": [{"access_key_id": "ROOTA", "secret_access_key": "root-secret"}],
            "users": [
                {
                    "name": "ann",
                    "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
                    "access_keys": [{"access_key_id": "ANN", "secret_access_key": "ann-secret"}],
                }
            ],
        },
        {
            "account_id": "444455556666",
            "access_keys": [{"access_key_id": "ROOTB", "secret_access_key": "other-secret"}],
        },
    ]
}


def boto(target: Emulator | Namespace, access_key_id: str | None = None, secret: str | None = None) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=target.endpoint,
        region_name=target.region,
        aws_access_key_id=access_key_id or target.access_key_id,
        aws_secret_access_key=secret or target.secret_access_key,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )


def code_of(error: pytest.ExceptionInfo[ClientError]) -> str:
    return error.value.response["Error"]["Code"]


def status_of(url: str, token: str | None = None) -> int:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_the_clock_drives_presigned_expiry():
    with Emulator() as s3:
        client = boto(s3)
        client.create_bucket(Bucket="b-1")
        client.put_object(Bucket="b-1", Key="k", Body=b"x")
        url = client.generate_presigned_url("get_object", Params={"Bucket": "b-1", "Key": "k"}, ExpiresIn=3600)
        clock = s3.clock()
        clock.freeze()
        assert status_of(url) == 200
        clock.advance(3590)
        assert status_of(url) == 200
        clock.advance(20)
        assert status_of(url) == 403
        clock.restore()
        assert status_of(url) == 200


def test_a_frozen_clock_sets_the_date_of_objects():
    with Emulator() as s3:
        client = boto(s3)
        client.create_bucket(Bucket="b-1")
        clock = s3.clock()
        clock.freeze()
        clock.advance(60)
        client.put_object(Bucket="b-1", Key="k", Body=b"x")
        assert client.head_object(Bucket="b-1", Key="k")["LastModified"] == clock.now.replace(microsecond=0)


def test_a_clock_has_the_time_it_was_set_to():
    with Emulator() as s3:
        clock = s3.clock()
        assert not clock.frozen
        assert clock.offset == timedelta(0)
        clock.freeze()
        clock.set(datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc))
        assert clock.frozen
        assert clock.now == datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)
        clock.advance(-0.5)
        assert clock.now == datetime(2030, 1, 2, 3, 4, 5, 178901, tzinfo=timezone.utc)
        clock.resume()
        assert not clock.frozen
        assert clock.offset > timedelta(days=1)
        clock.restore()
        assert clock.offset == timedelta(0)
        clock.advance(86400)
        assert clock.offset == timedelta(days=1)


def test_a_clock_rejects_times_out_of_range():
    with Emulator() as s3:
        clock = s3.clock()
        with pytest.raises(ValueError, match="2026-01-02 00:00:00 has no time zone"):
            clock.set(datetime(2026, 1, 2))
        for year in (1969, 2600):
            with pytest.raises(ValueError, match="1970 to 2261"):
                clock.set(datetime(year, 1, 2, tzinfo=timezone.utc))
        for seconds in (1e10, float("nan"), float("-inf")):
            with pytest.raises(ValueError, match=r"seconds must be -9000000000 to 9000000000, not "):
                clock.advance(seconds)
        with pytest.raises(ValueError, match="1970 to 2261"):
            clock.advance(-9e9)
        assert clock.offset == timedelta(0)
        with pytest.raises(penstock.testing.NotFoundError, match="nowhere"):
            s3.clock("nowhere").freeze()


def test_two_namespaces_are_independent():
    with Emulator() as s3:
        one, two = s3.create_namespace("one"), s3.create_namespace("two")
        assert s3.namespaces() == ["default", "one", "two"]
        for target, content in ((one, b"1"), (two, b"2"), (s3, b"0")):
            target.client().create_bucket("same-name")
            put(target.client(), "same-name", "k", content)
        assert [get(target.client(), "same-name", "k") for target in (one, two, s3)] == [b"1", b"2", b"0"]
        assert boto(two).get_object(Bucket="same-name", Key="k")["Body"].read() == b"2"
        assert one.environment() == s3.environment() | {
            "AWS_ACCESS_KEY_ID": one.access_key_id,
            "AWS_SECRET_ACCESS_KEY": one.secret_access_key,
        }

        s3.reset(namespace="one")
        assert boto(one).list_buckets()["Buckets"] == []
        assert get(two.client(), "same-name", "k") == b"2"
        assert s3.stats()["requests"]["CreateBucket"] == 3

        s3.delete_namespace("two")
        assert s3.namespaces() == ["default", "one"]
        with pytest.raises(ClientError) as error:
            boto(two).list_buckets()
        assert code_of(error) == "InvalidAccessKeyId"


def test_each_namespace_has_its_own_clock():
    with Emulator() as s3:
        one = s3.create_namespace("one")
        one.clock.freeze()
        one.clock.advance(86400)
        assert one.clock.frozen
        assert not s3.clock().frozen
        assert s3.clock().offset == timedelta(0)
        s3.reset()
        assert not one.clock.frozen


def test_invalid_namespaces_are_named():
    with Emulator() as s3:
        s3.create_namespace("one")
        with pytest.raises(penstock.testing.ConflictError, match="one"):
            s3.create_namespace("one")
        with pytest.raises(ValueError, match="invalid namespace name 'no/slash'"):
            s3.create_namespace("no/slash")
        for missing in (s3.delete_namespace, s3.reset):
            with pytest.raises(penstock.testing.NotFoundError, match="nowhere"):
                missing("nowhere")
        with pytest.raises(ValueError, match="default"):
            s3.delete_namespace("default")


def test_seed_uploads_the_files_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "tree/deep").mkdir(parents=True)
    (tmp_path / "tree/a.txt").write_bytes(b"aa")
    (tmp_path / "tree/deep/b.bin").write_bytes(b"b" * 100_000)
    (tmp_path / "tree/link").symlink_to("a.txt")
    with Emulator() as s3:
        report = s3.seed("fixtures", tmp_path / "tree", prefix="v1/")
        assert (report.objects, report.bytes, report.skipped) == (2, 100_002, 1)
        listed = boto(s3).list_objects_v2(Bucket="fixtures")["Contents"]
        assert [entry["Key"] for entry in listed] == ["v1/a.txt", "v1/deep/b.bin"]
        assert get(s3.client(), "fixtures", "v1/deep/b.bin") == b"b" * 100_000

        other = s3.create_namespace("other")
        monkeypatch.chdir(tmp_path)
        s3.seed("fixtures", "tree", namespace="other")
        assert get(other.client(), "fixtures", "a.txt") == b"aa"

        with pytest.raises((ValueError, penstock.testing.EmulatorError), match="no-such-directory"):
            s3.seed("fixtures", tmp_path / "no-such-directory")
        with pytest.raises(penstock.testing.NotFoundError, match="nowhere"):
            s3.seed("fixtures", tmp_path / "tree", namespace="nowhere")


def test_users_are_given_by_a_dict():
    with Emulator(users=USERS) as s3:
        assert s3.environment()["AWS_ACCESS_KEY_ID"] == "ROOTA"
        s3.client().create_bucket("of-a")
        boto(s3, "ANN", "ann-secret").put_object(Bucket="of-a", Key="k", Body=b"x")
        with pytest.raises(ClientError) as error:
            boto(s3, "ROOTB", "other-secret").list_objects_v2(Bucket="of-a")
        assert code_of(error) == "AccessDenied"


def test_users_are_given_by_a_file_and_listed_without_secrets(tmp_path: Path):
    path = tmp_path / "users.json"
    path.write_text(json.dumps(USERS))
    with Emulator(users=path) as s3:
        s3.client().create_bucket("of-a")
        listed = s3.users()
        assert [account["account_id"] for account in listed["accounts"]] == ["111122223333", "444455556666"]
        assert [user["name"] for user in listed["accounts"][0]["users"]] == ["ann"]
        assert "secret" not in json.dumps(listed)


def test_a_temporary_key_requires_its_token():
    key = {"access_key_id": "TEMP", "secret_access_key": "s", "session_token": "token-1"}
    with Emulator(users={"accounts": [{"account_id": "111122223333", "access_keys": [key]}]}) as s3:
        s3.client().create_bucket("b-1")
        assert s3.environment()["AWS_SESSION_TOKEN"] == "token-1"
        with pytest.raises(ClientError) as error:
            boto(s3).list_buckets()  # without the token
        assert code_of(error) in {"InvalidAccessKeyId", "InvalidToken"}


def test_users_are_added_to_a_running_emulator():
    with Emulator() as s3:
        with pytest.raises(ClientError) as error:
            boto(s3, "ROOTB", "other-secret").list_buckets()
        assert code_of(error) == "InvalidAccessKeyId"
        s3.add_users(USERS)
        assert boto(s3, "ROOTB", "other-secret").list_buckets()["Buckets"] == []
        with pytest.raises(ValueError, match=r"accounts\[0\].account_id: invalid account id '12'"):
            s3.add_users({"accounts": [{"account_id": "12"}]})


def test_invalid_users_are_named(tmp_path: Path):
    with pytest.raises(ValueError, match="the field 'accounts' is missing"):
        Emulator(users={})
    with pytest.raises(ValueError, match="no-such-file"):
        Emulator(users=tmp_path / "no-such-file.json")


@pytest.mark.parametrize(("auth", "code"), [("verify", "SignatureDoesNotMatch"), ("parse", None), ("off", None)])
def test_a_wrong_secret_is_rejected_only_if_signatures_are_verified(auth: Any, code: str | None):
    with Emulator(auth=auth) as s3:
        client = boto(s3, secret="wrong")
        if code:
            with pytest.raises(ClientError) as error:
                client.create_bucket(Bucket="b-1")
            assert code_of(error) == code
            return
        client.create_bucket(Bucket="b-1")
        client.put_object(Bucket="b-1", Key="k", Body=b"x" * 70_000)
        assert client.get_object(Bucket="b-1", Key="k")["Body"].read() == b"x" * 70_000


def test_auth_parse_distinguishes_accounts_and_off_does_not():
    with Emulator(auth="parse", users=USERS) as s3:
        boto(s3, "ROOTA", "wrong").create_bucket(Bucket="of-a")
        for stranger in ("ROOTB", "UNHEARDOF"):
            with pytest.raises(ClientError) as error:
                boto(s3, stranger, "wrong").list_objects_v2(Bucket="of-a")
            assert code_of(error) == "AccessDenied"
    with Emulator(auth="off", users=USERS) as s3:
        boto(s3, "ROOTA", "wrong").create_bucket(Bucket="of-a")
        assert boto(s3, "UNHEARDOF", "wrong").list_objects_v2(Bucket="of-a")["KeyCount"] == 0


def test_an_unknown_mode_is_named():
    with pytest.raises(ValueError, match="auth must be 'verify', 'parse' or 'off', not 'none'"):
        Emulator(auth="none")  # type: ignore[arg-type]


def test_the_admin_api_requires_its_token():
    with Emulator(admin_token="hush") as s3:
        stats = f"{s3.admin_endpoint}/_penstock/stats"
        assert status_of(stats) == 401
        assert status_of(stats, "wrong") == 401
        assert status_of(stats, "hush") == 200
        assert status_of(f"{s3.admin_endpoint}/_penstock/health") == 200


def test_a_new_key_takes_over_the_account_of_the_first_with_a_warning(tmp_path: Path):
    data = str(tmp_path / "data")
    with Emulator(data=data, access_keys=[("old", "secret")]) as s3:
        boto(s3, "old", "secret").create_bucket(Bucket="mine")
        kept = s3.create_namespace("kept")
    with pytest.warns(UserWarning, match="access key 'new' takes over the account of access key 'old'"):
        s3 = Emulator(data=data, access_keys=[("new", "secret")])
    with s3:
        assert [bucket["Name"] for bucket in boto(s3, "new", "secret").list_buckets()["Buckets"]] == ["mine"]
        assert boto(s3, kept.access_key_id, kept.secret_access_key).list_buckets()["Buckets"] == []
