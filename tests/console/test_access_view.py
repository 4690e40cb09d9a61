"""The view Access: explanations of denials, and access keys."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from console_page import BIDI_KEY, BIDI_SHOWN, Console
from console_space import Space, admin, check_page, client, error_code, expect_problem, new_space
from playwright.sync_api import Page, expect


@dataclass
class Team:
    """An account with a user, whose key selects the namespace."""

    space: Space
    account: str
    user: str
    key: str
    bucket: str

    @property
    def arn(self) -> str:
        return f"arn:aws:iam::{self.account}:user/{self.user}"

    def s3(self, key: str | None = None, secret: str = "user-secret") -> Any:
        return client(self.space.emulator, key or self.key, secret)


def statement(effect: str, action: str, resource: str, **members: Any) -> dict[str, Any]:
    return {"Effect": effect, "Action": action, "Resource": f"arn:aws:s3:::{resource}", **members}


@pytest.fixture
def team(standalone: Any) -> Iterator[Team]:
    with new_space(standalone) as space:
        account = f"{random.randrange(10**12):012}"
        team = Team(space, account, "bob", f"BOB{account}", f"data-{account}")
        allow = statement("Allow", "s3:*", "*", Condition={"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}})
        document = {
            "Version": "2012-10-17",
            "Statement": [statement("Deny", "s3:*", f"{team.bucket}/secret/*", Sid="NoSecrets"), allow],
        }
        root = {"access_key_id": f"ROOT{account}", "secret_access_key": "root-secret", "namespace": space.name}
        key = {"access_key_id": team.key, "secret_access_key": "user-secret", "namespace": space.name}
        user = {"name": team.user, "inline_policies": [{"name": "limited", "document": document}], "access_keys": [key]}
        admin(
            standalone,
            "POST",
            "users",
            {"accounts": [{"account_id": account, "display_name": "team", "access_keys": [root], "users": [user]}]},
        )
        client(standalone, root["access_key_id"], "root-secret").create_bucket(Bucket=team.bucket)
        yield team


def open_denied(page: Page, key: str) -> None:
    page.get_by_role("grid", name="Denied requests").get_by_role("row").filter(has_text=key).click()


def test_a_denied_request_is_explained(console: Console, team: Team):
    assert error_code(team.s3().get_object, Bucket=team.bucket, Key="secret/plan") == "AccessDenied"
    page = team.space.open(console, "access")
    open_denied(page, "secret/plan")
    answer = page.get_by_role("region", name="Explanation")
    expect(answer).to_contain_text("Statement 0 (NoSecrets) of user/bob/limited denies it.")
    shown = json.loads(answer.get_by_label("The statement").inner_text())
    assert shown["Resource"] == f"arn:aws:s3:::{team.bucket}/secret/*"
    check_page(console)


def test_hostile_names_are_escaped(console: Console, team: Team):
    assert error_code(team.s3().get_object, Bucket=team.bucket, Key=f"secret/{BIDI_KEY}") == "AccessDenied"
    page = team.space.open(console, "access")
    open_denied(page, BIDI_SHOWN)
    expect(page.get_by_role("region", name="Explanation")).to_contain_text(f"{team.bucket}/secret/{BIDI_SHOWN}")
    assert console.hidden_characters() == []


def test_the_statement_of_a_bucket_policy_shows(console: Console, team: Team):
    denial = statement("Deny", "s3:GetObject", f"{team.bucket}/*", Sid="Closed", Principal="*")
    root = client(team.space.emulator, f"ROOT{team.account}", "root-secret")
    root.put_bucket_policy(Bucket=team.bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": [denial]}))
    assert error_code(team.s3().get_object, Bucket=team.bucket, Key="open") == "AccessDenied"
    page = team.space.open(console, "access")
    open_denied(page, "open")
    answer = page.get_by_role("region", name="Explanation")
    expect(answer).to_contain_text(f"Statement 0 (Closed) of bucket/{team.bucket} denies it.")
    assert json.loads(answer.get_by_label("The statement").inner_text())["Principal"] == "*"


def test_a_described_request_is_explained(console: Console, team: Team):
    page = team.space.open(console, "access")
    page.get_by_label("Requester").fill(team.arn)
    page.get_by_label("Resource", exact=True).fill(f"arn:aws:s3:::{team.bucket}/open")
    page.get_by_role("button", name="Explain", exact=True).click()
    answer = page.get_by_role("region", name="Explanation")
    expect(answer).to_contain_text("Because no identity-based policy allows the s3:GetObject action.")
    page.get_by_role("button", name="+ Add a condition").click()
    page.get_by_label("Condition key 1").fill("aws:SourceIp")
    page.get_by_label("Value 1").fill("127.0.0.9")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(answer).to_contain_text("Statement 1 of user/bob/limited allows it.")
    page.get_by_label("Action", exact=True).fill("s3:Fetch")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect_problem(page, "s3:Fetch")


def test_a_refusal_without_policies_has_its_reason(console: Console, team: Team):
    assert error_code(team.s3(secret="wrong").get_object, Bucket=team.bucket, Key="signed") == "SignatureDoesNotMatch"
    page = team.space.open(console, "access")
    expect(page.get_by_role("row").filter(has_text="signed")).to_contain_text("signature not valid")
    open_denied(page, "signed")
    answer = page.get_by_role("region", name="Explanation")
    expect(answer).to_contain_text("The signature is wrong")
    expect(answer).to_contain_text("signature not valid")


def test_a_key_is_created_disabled_and_deleted(console: Console, team: Team):
    page = team.space.open(console, "access")
    page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog")
    check_page(console)
    dialog.get_by_label("For", exact=True).select_option(f"{team.account} {team.user}")
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog).to_contain_text("The secret is shown only once.")
    key, secret = dialog.locator("code").all_inner_texts()
    dialog.get_by_role("button", name="Close").click()
    s3 = team.s3(key, secret)
    s3.put_object(Bucket=team.bucket, Key="open", Body=b"text")
    assert error_code(s3.put_object, Bucket=team.bucket, Key="secret/x", Body=b"") == "AccessDenied", (
        "the user keeps its policies"
    )
    assert error_code(team.s3().get_object, Bucket=team.bucket, Key="open") == "", "the user keeps its other key"

    row = page.get_by_role("table", name="List of access keys").get_by_role("row").filter(has_text=key)
    row.get_by_role("button", name="Disable").click()
    page.get_by_role("button", name="Disable the key").click()
    expect(row.get_by_text("disabled", exact=True)).to_be_visible()
    assert error_code(s3.get_object, Bucket=team.bucket, Key="open") == "InvalidAccessKeyId"
    row.get_by_role("button", name="Enable").click()
    expect(row.get_by_text("active", exact=True)).to_be_visible()
    assert error_code(s3.get_object, Bucket=team.bucket, Key="open") == ""
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Cancel").click()
    assert error_code(s3.get_object, Bucket=team.bucket, Key="open") == ""
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete the key").click()
    expect(row).to_have_count(0)
    assert error_code(s3.get_object, Bucket=team.bucket, Key="open") == "InvalidAccessKeyId"


def test_a_namespace_is_created_with_a_key(console: Console, team: Team):
    page = team.space.open(console, "access")
    page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the namespace").fill(team.space.name)
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect_problem(page, "exists")
    name = f"made-{team.account}"
    dialog.get_by_label("Name of the namespace").fill(name)
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog).to_contain_text("The secret is shown only once.")
    key, secret = dialog.locator("code").all_inner_texts()
    s3 = team.s3(key, secret)
    s3.create_bucket(Bucket=team.bucket)
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == [team.bucket]
    admin(team.space.emulator, "DELETE", f"namespaces/{name}")


def test_documents_of_a_user_show(console: Console, team: Team):
    page = team.space.open(console, "access")
    page.get_by_role("button", name=f"Show {team.arn}").click()
    expect(page.get_by_role("dialog").get_by_label("Inline policy limited")).to_contain_text("NoSecrets")
    check_page(console)
