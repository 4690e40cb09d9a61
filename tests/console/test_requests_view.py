"""The overview and the requests view, with requests of boto3."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore
import jsonschema
import pytest
from botocore.exceptions import ClientError
from console_page import BIDI_KEY, BIDI_SHOWN, client_of
from har_schema import HAR
from playwright.sync_api import Page, expect

ROWS = ".grid-body > .grid-row"


@pytest.fixture
def bucket(s3: Any) -> str:
    name = f"requests-{uuid.uuid4().hex[:8]}"
    s3.create_bucket(Bucket=name)
    return name


def open_request(page: Page, operation: str) -> None:
    page.locator(ROWS).filter(has_text=operation).first.click()
    page.get_by_role("region", name="Members of the request").wait_for()


def line_of(page: Page, program: str) -> str:
    return page.get_by_label(f"Line of {program}").inner_text()


def test_overview_counts_requests(open_console: Any, start_emulator: Any):
    with start_emulator() as emulator, open_console(emulator) as console:
        page = console.open("overview")
        s3 = client_of(emulator)
        s3.create_bucket(Bucket="data")
        for _ in range(3):
            s3.put_object(Bucket="data", Key="key", Body=bytes(1000))
        row = page.get_by_role("group", name="Requests by operation").get_by_role("row").filter(has_text="PutObject")
        expect(row).to_contain_text("3")
        expect(page.get_by_role("group", name="Responses by status").locator("tr", has_text="200")).to_contain_text("4")
        expect(page.get_by_role("group", name="Latency by class").locator("tr", has_text="write")).to_contain_text("4")
        expect(page.get_by_role("img", name="Bytes per second")).to_be_visible()
        page.get_by_role("button", name="Table: Open connections").click()
        expect(page.get_by_role("group", name="Open connections").get_by_role("columnheader", name="open")).to_be_visible()


def test_list_filters_and_details(console: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key='it\'s a "key".txt', Body=b"text")
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=bucket, Key="missing")
    page = console.open(f"requests?bucket={bucket}")
    expect(page.locator(ROWS)).to_have_count(3)
    page.get_by_label("Status").select_option("4xx")
    expect(page.locator(ROWS)).to_have_count(1)
    assert f"bucket={bucket}&status=4" in page.url
    open_request(page, "GetObject")
    details = page.locator(".details")
    expect(details).to_contain_text("NoSuchKey")
    expect(details).to_contain_text("missing")
    expect(details).to_contain_text(console.emulator.access_key)
    assert console.violations() == []
    page.reload()  # the address has the filters and the request
    expect(page.locator(".details")).to_contain_text("NoSuchKey")
    page.get_by_role("button", name="Remove filters").click()
    expect(page.get_by_label("Bucket", exact=True)).to_have_value("")


def test_filters_outlive_a_change_of_view(console: Any, s3: Any, bucket: str):
    page = console.open(f"requests?bucket={bucket}")
    expect(page.locator(ROWS)).to_have_count(1)
    page.locator(ROWS).click()
    page.get_by_role("link", name="Buckets", exact=True).click()
    page.get_by_role("heading", name="Buckets", level=1).wait_for()
    page.get_by_role("link", name="Requests", exact=True).click()
    expect(page.locator(ROWS)).to_have_count(1)
    assert page.url.endswith(f"#/requests?bucket={bucket}"), "the selected request is no filter"
    page.get_by_role("link", name="Requests", exact=True).click()
    assert page.url.endswith("#/requests")
    console.open(f"requests?bucket={bucket}&status=2")
    console.open("buckets")
    console.open("requests")
    assert page.url.endswith("#/requests"), "an address is followed as it is"


def test_new_requests_appear_and_a_pause_stops_them(console: Any, s3: Any, bucket: str):
    page = console.open(f"requests?bucket={bucket}")
    expect(page.locator(ROWS)).to_have_count(1)
    s3.put_object(Bucket=bucket, Key="one", Body=b"")
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("button", name="Pause").click()
    s3.put_object(Bucket=bucket, Key="two", Body=b"")
    expect(page.get_by_text("more since the pause")).to_be_visible()
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(ROWS)).to_have_count(3)


def test_rows_that_are_replaced_keep_their_elements(console: Any, s3: Any, bucket: str):
    def put(number: int) -> None:
        for key in range(number):
            s3.put_object(Bucket=bucket, Key=f"{number}/{key:03}", Body=b"")

    def shown() -> list[str]:
        return page.locator(f"{ROWS} [role=gridcell]:nth-child(4)").all_inner_texts()

    put(80)
    page = console.open(f"requests?bucket={bucket}&operations=PutObject")
    expect(page.locator(ROWS).first).to_contain_text("80/079")
    page.locator(ROWS).evaluate_all("rows => rows.forEach((row) => (row.known = true))")
    put(90)
    expect(page.locator(ROWS).first).to_contain_text("90/089")
    expect(page.locator(ROWS).last).to_contain_text(f"{bucket}/90/")
    assert page.locator(ROWS).evaluate_all("rows => rows.every((row) => row.known)")
    assert shown() == [f"{bucket}/90/{89 - i:03}" for i in range(page.locator(ROWS).count())]
    put(2)
    expect(page.locator(ROWS).first).to_contain_text("2/001")
    assert shown()[:4] == [f"{bucket}/{key}" for key in ("2/001", "2/000", "90/089", "90/088")]


def test_lines_send_the_request_again(console: Any, s3: Any, bucket: str):
    key = 'a b/it\'s $HOME "x" [1]{2}+%.txt'
    s3.put_object(Bucket=bucket, Key=key, Body=b"0123456789")
    s3.get_object(Bucket=bucket, Key=key, Range="bytes=2-5")["Body"].read()
    page = console.open(f"requests?bucket={bucket}")
    open_request(page, "GetObject")
    emulator = console.emulator
    keys = {"AWS_ACCESS_KEY_ID": emulator.access_key, "AWS_SECRET_ACCESS_KEY": emulator.secret_key}
    curl = line_of(page, "curl")
    assert emulator.secret_key not in page.content()
    answer = subprocess.run(["sh", "-c", f"{curl} --silent --fail"], env={**os.environ, **keys}, capture_output=True, check=True)
    assert answer.stdout == b"2345"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        answer = eval(line_of(page, "boto3"), {"boto3": boto3, "botocore": botocore})
    assert answer["Body"].read() == b"2345"


def test_hostile_names_are_escaped(console: Any, s3: Any, bucket: str):
    page = console.open(f"requests?bucket={bucket}")
    page.get_by_role("button", name="Record headers").click()
    expect(page.get_by_role("button", name="Record headers")).to_have_attribute("aria-pressed", "true")
    s3.put_object(Bucket=bucket, Key=BIDI_KEY, Body=b"text")
    expect(page.locator(ROWS).first).to_contain_text(f"{bucket}/{BIDI_SHOWN}")
    open_request(page, "PutObject")
    expect(page.locator(".details dd").filter(has_text=BIDI_SHOWN).first).to_be_visible()
    assert f'Key="x/{BIDI_KEY[2:].encode("unicode_escape").decode()}"' in line_of(page, "boto3")
    assert console.hidden_characters() == []
    page.get_by_role("button", name="Record headers").click()


def test_escape_closes_the_details(console: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="key", Body=b"text")
    page = console.open(f"requests?bucket={bucket}")
    open_request(page, "PutObject")
    page.get_by_role("button", name="Copy curl").focus()
    page.keyboard.press("Escape")
    expect(page.locator(".details")).to_have_count(0)
    expect(page.get_by_role("grid")).to_be_focused()
    page.keyboard.press("Enter")  # the row is still the active one
    expect(page.locator(".details")).to_contain_text("PutObject")


def test_headers_are_recorded_on_request(console: Any, s3: Any, bucket: str):
    page = console.open(f"requests?bucket={bucket}")
    page.get_by_role("button", name="Record headers").click()
    expect(page.get_by_role("button", name="Record headers")).to_have_attribute("aria-pressed", "true")
    s3.put_object(Bucket=bucket, Key="key", Body=b"text", Metadata={"note": "recorded"})
    open_request(page, "PutObject")
    details = page.locator(".details")
    expect(details).to_contain_text("x-amz-meta-note")
    expect(details).to_contain_text("Request headers")
    expect(details).to_contain_text("Response headers")
    expect(details).to_contain_text("Signature=***")
    assert console.violations() == []
    page.get_by_role("button", name="Record headers").click()
    expect(page.get_by_role("button", name="Record headers")).to_have_attribute("aria-pressed", "false")


def save_har(page: Page) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as HAR").click()
    assert download.value.suggested_filename == "penstock-default.har"
    return download.value.path()


def test_har_has_the_filtered_requests(console: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="key", Body=b"text")
    page = console.open(f"requests?bucket={bucket}&operations=PutObject")
    entries = json.loads(save_har(page).read_text())["log"]["entries"]
    assert [entry["_operation"] for entry in entries] == ["PutObject"]


def test_har_has_the_structure_of_version_1_2(console: Any, s3: Any, bucket: str):
    page = console.open(f"requests?bucket={bucket}")
    s3.put_object(Bucket=bucket, Key="without headers", Body=b"text")
    page.get_by_role("button", name="Record headers").click()
    expect(page.get_by_role("button", name="Record headers")).to_have_attribute("aria-pressed", "true")
    s3.put_object(Bucket=bucket, Key=BIDI_KEY, Body=b"text", Metadata={"note": "recorded"})
    with pytest.raises(ClientError):
        s3.get_object(Bucket=bucket, Key="missing", VersionId="null")
    page.get_by_role("button", name="Record headers").click()
    expect(page.locator(ROWS)).to_have_count(4)
    document = json.loads(save_har(page).read_text())
    jsonschema.validate(document, HAR)
    entries = document["log"]["entries"]
    assert [entry["response"]["status"] for entry in entries] == [200, 200, 200, 404]
    assert entries[-1]["request"]["queryString"] == [{"name": "versionId", "value": "null"}]
    for entry in entries:
        timings = [value for value in entry["timings"].values() if value >= 0]
        assert entry["time"] == pytest.approx(sum(timings), abs=0.01), "the time is the sum of its parts"


def test_a_foreign_program_reads_a_har(console: Any, s3: Any, bucket: str):
    """Playwright answers the recorded requests from the file: it finds each by its method and address."""
    page = console.open(f"requests?bucket={bucket}")
    page.get_by_role("button", name="Record headers").click()
    expect(page.get_by_role("button", name="Record headers")).to_have_attribute("aria-pressed", "true")
    s3.put_object(Bucket=bucket, Key="a b/key", Body=b"text", ContentType="text/x-test")
    s3.head_object(Bucket=bucket, Key="a b/key")
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=bucket, Key="missing")
    page.get_by_role("button", name="Record headers").click()
    expect(page.locator(ROWS)).to_have_count(4)
    har = save_har(page)
    s3.delete_object(Bucket=bucket, Key="a b/key")
    s3.delete_bucket(Bucket=bucket)
    replay = page.context.new_page()
    replay.goto("about:blank")
    replay.route_from_har(har, not_found="abort")
    answers = replay.evaluate(
        """async (urls) => Promise.all(urls.map(async ([method, url]) => {
            try {
                const response = await fetch(url, { method, mode: 'cors' });
                return [response.status, response.headers.get('content-type')];
            } catch { return null; }
        }))""",
        [
            ["HEAD", f"{console.emulator.endpoint}/{bucket}/a%20b/key"],
            ["GET", f"{console.emulator.endpoint}/{bucket}/missing"],
            ["GET", f"{console.emulator.endpoint}/{bucket}/unknown"],
        ],
    )
    assert answers == [[200, "text/x-test"], [404, "application/xml"], None]


def test_invalid_filters_are_explained(console: Any):
    page = console.open("requests?operations=Nonsense")
    expect(page.get_by_role("alert")).to_contain_text("Nonsense")


def test_bursts_are_sampled_and_all_rows_can_be_shown(open_console: Any, start_emulator: Any):
    with start_emulator() as emulator, open_console(emulator) as console:
        page = console.open("requests")
        send_unsigned(emulator, 1)
        expect(page.locator(ROWS)).to_have_count(1)
        page.get_by_role("button", name="Pause").click()
        send_unsigned(emulator, 1_500)
        expect(page.get_by_text("1,500 more since the pause")).to_be_visible()
        page.get_by_role("button", name="Resume").click()
        expect(page.locator(".requests-foot")).to_contain_text("201 requests of 1,501")
        page.get_by_role("grid").focus()
        page.keyboard.press("End")
        expect(page.locator(ROWS).filter(has_text="1,300 not shown")).to_be_visible()
        page.get_by_role("button", name="Show all 1,501").click()
        expect(page.locator(".requests-foot")).to_contain_text("1,501 requests of 1,501")
        assert page.locator(ROWS).count() < 100  # only the rows in view are elements
        page.keyboard.press("Tab")
        page.get_by_role("grid").focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Request 1", exact=True)).to_be_visible()


def test_emptying_the_journal_asks_first(open_console: Any, start_emulator: Any):
    with start_emulator() as emulator, open_console(emulator) as console:
        send_unsigned(emulator, 2)
        page = console.open("requests")
        expect(page.locator(ROWS)).to_have_count(2)
        page.get_by_role("button", name="Empty the journal").click()
        assert console.violations() == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_role("button", name="Empty the journal").click()
        page.get_by_role("button", name="Delete all entries").click()
        expect(page.get_by_text("The journal is empty.")).to_be_visible()
        page.reload()
        expect(page.get_by_text("No requests yet.")).to_be_visible()


def send_unsigned(emulator: Any, requests: int) -> None:
    """Sends requests that are refused, on one connection."""
    connection = http.client.HTTPConnection(urlsplit(emulator.endpoint).netloc)
    for _ in range(requests):
        connection.request("GET", "/missing-bucket/key")
        connection.getresponse().read()
    connection.close()
