"""Runs every C++ example against the emulator, as a user would: real processes, real requests, a real SIGKILL."""

from __future__ import annotations

import argparse
import base64
import contextlib
import datetime
import http.client
import http.server
import json
import os
import random
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import typing
import unittest
import unittest.mock
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ARGUMENTS = argparse.Namespace()
KEY, SECRET = "examplekey", "examplesecret"
TEMPORARY_KEY, TEMPORARY_SECRET, TOKEN = "temporarykey", "temporarysecret", "token"
READER_KEY, READER_SECRET, READER_ID = "readerkey", "readersecret", "2" * 64
NAMESPACE = {"s3": "http://s3.amazonaws.com/doc/2006-03-01/"}
USERS = {
    "accounts": [
        {
            "account_id": "000000000001",
            "access_keys": [
                {"access_key_id": KEY, "secret_access_key": SECRET},
                {"access_key_id": TEMPORARY_KEY, "secret_access_key": TEMPORARY_SECRET, "session_token": TOKEN},
            ],
        },
        {
            "account_id": "000000000002",
            "canonical_id": READER_ID,
            "access_keys": [{"access_key_id": READER_KEY, "secret_access_key": READER_SECRET}],
        },
    ]
}


def form_request(url: str, fields: dict[str, str], content: bytes) -> urllib.request.Request:
    """The request that a browser sends for a form with a file."""
    parts = [f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    parts.append('--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n')
    body = "".join(parts).encode() + content + b"\r\n--x--\r\n"
    return urllib.request.Request(url, body, {"Content-Type": "multipart/form-data; boundary=x"}, method="POST")


class CredentialsService(http.server.BaseHTTPRequestHandler):
    """STS, the container endpoint and the instance metadata service, with the temporary key of the emulator."""

    def do_PUT(self) -> None:
        self.respond("token")

    def do_GET(self) -> None:
        fields = {"AccessKeyId": TEMPORARY_KEY, "SecretAccessKey": TEMPORARY_SECRET, "Token": TOKEN}
        is_list = self.path.endswith("/security-credentials/")
        self.respond("role" if is_list else json.dumps({"Code": "Success", "Expiration": "2099-01-01T00:00:00Z", **fields}))

    def do_POST(self) -> None:
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        action = form["Action"][0]
        assert form["RoleArn"] == ["arn:aws:iam::000000000000:role/reader"]
        self.respond(
            f"<{action}Response><{action}Result><Credentials><AccessKeyId>{TEMPORARY_KEY}</AccessKeyId>"
            f"<SecretAccessKey>{TEMPORARY_SECRET}</SecretAccessKey><SessionToken>{TOKEN}</SessionToken>"
            f"<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></{action}Result></{action}Response>"
        )

    def respond(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """No line per request."""


class Received(typing.NamedTuple):
    target: str
    proxy_authorization: str | None
    subject: object  # of the client's certificate


class Forwarder(http.server.BaseHTTPRequestHandler):
    """A proxy, or a server before the emulator. Sends each request unchanged to the emulator and records it."""

    protocol_version = "HTTP/1.1"
    emulator: str
    received: typing.ClassVar[list[Received]]

    def forward(self) -> None:
        peer = self.connection.getpeercert() if isinstance(self.connection, ssl.SSLSocket) else None
        self.received.append(Received(self.path, self.headers["Proxy-Authorization"], (peer or {}).get("subject")))
        parts = urllib.parse.urlsplit(self.path)
        connection = http.client.HTTPConnection(self.emulator)
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        connection.request(self.command, parts.path + (f"?{parts.query}" if parts.query else ""), body, dict(self.headers))
        response = connection.getresponse()
        content = response.read()
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_HEAD = do_PUT = forward  # noqa: N815

    def log_message(self, format: str, *arguments: object) -> None:
        """No line per request."""


@contextlib.contextmanager
def forwarder(endpoint: str, context: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[Received]]]:
    """The port of a Forwarder to the emulator, and what it receives."""

    class Handler(Forwarder):
        emulator = urllib.parse.urlsplit(endpoint).netloc
        received: typing.ClassVar[list[Received]] = []

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port, Handler.received
        finally:
            server.shutdown()


class ExamplesTest(unittest.TestCase):
    def setUp(self) -> None:
        with tempfile.NamedTemporaryFile("w") as users:
            json.dump(USERS, users)
            users.flush()
            self.emulator = subprocess.Popen(
                [ARGUMENTS.emulator, "--memory", "--port", "0", "--admin-port", "0", "--users", users.name],
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self.emulator.stdout is not None
            ready = json.loads(self.emulator.stdout.readline())
            self.endpoint, self.admin = ready["endpoint"], ready["admin"] + "/_penstock/"
        self.run_example("make_bucket", "s3://examples")

    def tearDown(self) -> None:
        self.emulator.terminate()
        self.assertEqual(self.emulator.wait(timeout=20), 0)
        assert self.emulator.stdout is not None
        self.emulator.stdout.close()

    def command(self, name: str, *arguments: str) -> list[str]:
        return [str(ARGUMENTS.programs / name), *arguments, "--endpoint", self.endpoint, "--region", "us-east-1"]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "OMP_NUM_THREADS": "1", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}

    def run_example(self, name: str, *arguments: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            self.command(name, *arguments), input=stdin, capture_output=True, timeout=120, env=self.environment, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def failure(self, name: str, *arguments: str) -> str:
        """What the program prints about its failure."""
        done = subprocess.run(self.command(name, *arguments), capture_output=True, timeout=60, env=self.environment, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertNotIn(SECRET, done.stderr.decode())
        return done.stderr.decode()

    def ask(self, path: str, body: dict[str, object] | None = None) -> bytes:
        """The response of the admin API."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.admin + path, data), timeout=60) as response:
            return bytes(response.read())

    def headers_of(self, operation: str, key: str) -> dict[str, str]:
        """The headers of the only such request since capture()."""
        query = urllib.parse.urlencode({"operations": operation, "key": key})
        (entry,) = json.loads(self.ask(f"journal?{query}"))["entries"]
        return {name.lower(): value for name, value in entry["request_headers"]}

    def capture(self) -> None:
        self.ask("journal-capture", {"seconds": 300})

    def stored(self, path: str) -> dict[str, str]:
        """The elements below the root of a document that the emulator stores."""
        return {each.tag.partition("}")[2]: each.text or "" for each in ElementTree.fromstring(self.ask(f"s3/default/{path}"))}

    def test_what_was_put_is_got_and_listed(self) -> None:
        content = random.Random(1).randbytes(20_000_001)  # several parts and an odd end
        self.run_example("put", "s3://examples/large", stdin=content)
        self.run_example("put", "s3://examples/empty")
        self.assertEqual(self.run_example("get", "s3://examples/large"), content)
        self.assertEqual(self.run_example("get", "s3://examples/empty"), b"")
        listed = [line.split(maxsplit=1) for line in self.run_example("list", "s3://examples").decode().splitlines()]
        self.assertEqual(listed, [["0", "empty"], ["20000001", "large"]])

    def test_the_program_of_the_tutorial(self) -> None:
        environment = self.environment | {"AWS_ENDPOINT_URL": self.endpoint}
        done = subprocess.run([ARGUMENTS.programs / "hello"], capture_output=True, timeout=120, env=environment, check=False)
        self.assertEqual(done.stdout, b"hello, world\n")

    def test_many_are_put_by_callbacks_and_got_as_pending_results(self) -> None:
        printed = self.run_example("put_many", "s3://examples/many/", "300").decode()
        self.assertRegex(printed, r"^300 objects in 300 requests, half of them within [\d.]+ ms\n$")
        keys = sorted(f"many/{number}" for number in range(300))
        sizes = {f"many/{number}": len(f"object {number}\n") for number in range(300)}
        self.assertEqual(
            self.run_example("get_many", "s3://examples/many/").decode().splitlines(), [f"{sizes[key]} {key}" for key in keys]
        )

    def test_named_operations(self) -> None:
        self.assertEqual(
            self.run_example("objects", "s3://examples/some/").decode().splitlines(),
            ["read 'some text', text/plain", "bytes 5 to 9: 'text'", "9 some/first", "9 some/second", "deleted"],
        )

    def test_bodies_of_files_streams_and_memory(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 1000)
            file.flush()
            printed = self.run_example("bodies", "s3://examples/body", file.name).decode()
        self.assertEqual(printed, "16 bytes in memory, 1000 of 1000 bytes in the stream\n")

    def test_coroutines_copy_objects(self) -> None:
        self.run_example("put_many", "s3://examples/from/", "50")
        self.assertRegex(self.run_example("coroutines", "s3://examples/from/", "to/").decode(), r"^50 objects, \d+ bytes\n$")
        listed = self.run_example("list", "s3://examples/to/").decode().splitlines()
        self.assertEqual(len(listed), 50)

    def test_coroutines_continue_on_the_executor_of_the_program(self) -> None:
        self.run_example("put_many", "s3://examples/from/", "50")
        with tempfile.NamedTemporaryFile() as file:
            printed = self.run_example("executor", "s3://examples/from/", file.name).decode()
            lines = Path(file.name).read_text().splitlines()
        self.assertEqual(sorted(lines), sorted(f"object {number}" for number in range(50)))
        self.assertEqual(printed, f"50 objects, {sum(len(line) + 1 for line in lines)} bytes\n")

    def test_directories_and_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, copy = Path(folder, "source"), Path(folder, "copy")
            for name, size in [("a", 0), ("b/c", 1000), ("b/d/e", 9_000_001)]:
                path = source / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(random.Random(size).randbytes(size))
            (source / "link").symlink_to("a")
            printed = self.run_example("files", str(source), "s3://examples/tree/", str(copy)).decode().splitlines()
            self.assertEqual(
                printed,
                [
                    "uploaded 3 files, 9001001 bytes",
                    f"skipped {source}/link",
                    "downloaded 3 files, 9001001 bytes",
                    "one file: same size",
                ],
            )
            for name in ["a", "b/c", "b/d/e"]:
                self.assertEqual((copy / name).read_bytes(), (source / name).read_bytes())
            self.assertFalse(list(copy.rglob("*.penstock-*")))

    def test_credentials_of_every_source(self) -> None:
        document = json.dumps({"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET})
        with tempfile.TemporaryDirectory() as folder:
            profiles = Path(folder, "credentials")
            profiles.write_text(f"[work]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
            output = Path(folder, "credentials.json")
            output.write_text(document)
            os.environ["AWS_SHARED_CREDENTIALS_FILE"] = str(profiles)
            try:
                for arguments in (
                    ["default"],
                    ["environment"],
                    ["chain"],
                    ["profile", "--profile", "work"],
                    ["process", "--command", f"cat {output}"],
                ):
                    printed = self.run_example("credentials", "--source", *arguments).decode()
                    self.assertEqual(printed.splitlines(), [f"signs as {KEY}", "examples"], arguments)
            finally:
                del os.environ["AWS_SHARED_CREDENTIALS_FILE"]

    def test_credentials_of_services_and_of_the_program(self) -> None:
        with (
            tempfile.NamedTemporaryFile("w") as token,
            http.server.ThreadingHTTPServer(("127.0.0.1", 0), CredentialsService) as server,
        ):
            token.write("a token")
            token.flush()
            threading.Thread(target=server.serve_forever, daemon=True).start()
            place = f"http://127.0.0.1:{server.server_port}"
            role = "arn:aws:iam::000000000000:role/reader"
            variables = {
                "AWS_ENDPOINT_URL_STS": place,
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": place + "/container",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": place,
                "AWS_WEB_IDENTITY_TOKEN_FILE": token.name,
                "AWS_ROLE_ARN": role,
                "EXAMPLE_KEY": KEY,
                "EXAMPLE_SECRET": SECRET,
            }
            try:
                with unittest.mock.patch.dict(os.environ, variables):
                    for source, key in (
                        ("static", KEY),
                        ("cached", KEY),
                        ("role", TEMPORARY_KEY),
                        ("web-identity", TEMPORARY_KEY),
                        ("container", TEMPORARY_KEY),
                        ("instance", TEMPORARY_KEY),
                    ):
                        printed = self.run_example("credentials", "--source", source, "--role", role).decode()
                        self.assertEqual(printed.splitlines(), [f"signs as {key}", "examples"], source)
            finally:
                server.shutdown()

    def test_attributes_encryption_conditions_and_versions(self) -> None:
        self.capture()
        self.assertEqual(
            self.run_example("requests", "s3://examples/requests/").decode().splitlines(),
            [
                "stored with 1 attempt, request id present",
                "text/csv, no-cache, 1 metadata, 1 tag",
                "not modified",
                "copied as text/plain, STANDARD_IA, copied",
                "gzip, attachment, en, Sat, 07 Dec 2069 00:00:00 GMT, redirected to /other, SSE-KMS",
                "another owner",
                "DSSE-KMS, key named",
                "with the key: 'secret', without it: refused",
                "2 versions deleted",
            ],
        )
        headers = self.headers_of("PutObject", "requests/twice")
        self.assertEqual(headers["x-amz-server-side-encryption"], "aws:kms:dsse")
        context = base64.b64decode(headers["x-amz-server-side-encryption-context"])
        self.assertEqual(json.loads(context), {"team": "vision"})

    def test_retention_and_legal_hold(self) -> None:
        self.capture()
        begin = datetime.datetime.now(datetime.timezone.utc)
        self.assertEqual(
            self.run_example("object_lock", "s3://locked/some/").decode().splitlines(),
            [
                "governance, legal hold on",
                "held: AccessDenied",
                "retained: AccessDenied",
                "bypassed: deleted",
                f"until {int(datetime.datetime(2040, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc).timestamp())}, legal hold on",
            ],
        )
        headers = self.headers_of("PutObject", "some/new")
        self.assertEqual((headers["x-amz-object-lock-mode"], headers["x-amz-object-lock-legal-hold"]), ("GOVERNANCE", "ON"))
        until = datetime.datetime.fromisoformat(headers["x-amz-object-lock-retain-until-date"].replace("Z", "+00:00"))
        self.assertLess(abs(until - begin - datetime.timedelta(days=1)), datetime.timedelta(minutes=3))
        retention = {"Mode": "GOVERNANCE", "RetainUntilDate": "2040-01-02T03:04:05.000Z"}
        self.assertEqual(self.stored("locked/some/existing?retention"), retention)
        self.assertEqual(self.stored("locked/some/existing?legal-hold"), {"Status": "ON"})

    def test_grants_let_another_account_read(self) -> None:
        self.capture()
        acl = ElementTree.fromstring(self.run_example("grants", "s3://granted/some/", READER_ID))
        grants = [
            (grant.findtext("s3:Grantee/s3:ID", "", NAMESPACE), grant.findtext("s3:Permission", "", NAMESPACE))
            for grant in acl.iterfind("s3:AccessControlList/s3:Grant", NAMESPACE)
        ]
        self.assertEqual(grants, [(READER_ID, "READ"), (READER_ID, "READ_ACP")])
        headers = self.headers_of("PutObject", "some/shared")
        self.assertEqual(headers["x-amz-grant-read"], f'id="{READER_ID}"')
        reader = {"AWS_ACCESS_KEY_ID": READER_KEY, "AWS_SECRET_ACCESS_KEY": READER_SECRET}
        with unittest.mock.patch.object(ExamplesTest, "environment", self.environment | reader):
            self.assertEqual(self.run_example("get", "s3://granted/some/shared"), b"for both")
            self.assertIn(b"some/own", self.run_example("list", "s3://granted"))
            self.assertIn("AccessDenied", self.failure("get", "s3://granted/some/own"))

    def test_configurations_of_a_bucket(self) -> None:
        self.assertEqual(
            self.run_example("buckets", "s3://examples").decode().splitlines(),
            [
                "versioning enabled",
                "team=vision",
                "as it was set",
                "as it was set",
                "events are sent",
                "NoSuchLifecycleConfiguration",
            ],
        )

    def test_presigned_urls_work_without_credentials(self) -> None:
        printed = self.run_example("presign", "s3://examples/presigned").decode().splitlines()
        put, header, get, expiry, part, post, *fields = printed
        self.assertEqual(header, "header Content-Type: text/plain")
        self.assertIn(int(expiry.removeprefix("expires in ").removesuffix(" s")), range(3500, 3601))
        url = put.removeprefix("PUT ")
        request = urllib.request.Request(url, b"text", {"Content-Type": "text/plain"}, method="PUT")
        with urllib.request.urlopen(request, timeout=60) as response:
            self.assertEqual(response.status, 200)
        with urllib.request.urlopen(get.removeprefix("GET "), timeout=60) as response:
            self.assertEqual((response.read(), response.headers["Content-Disposition"]), (b"text", "attachment"))
        self.assertIn("partNumber=1", part)
        form = dict(field.removeprefix("field ").split(": ", 1) for field in fields)
        with urllib.request.urlopen(form_request(post.removeprefix("POST "), form, b"from a form"), timeout=60) as response:
            self.assertEqual(response.status, 204)
        self.assertEqual(self.run_example("get", "s3://examples/presigned"), b"from a form")

    def test_presigned_urls_of_a_directory_bucket_end_with_its_session(self) -> None:
        bucket = "fast--use1-az4--x-s3"
        self.run_example("make_bucket", f"s3://{bucket}")
        put, _, get, expiry, part = self.run_example("presign", f"s3://{bucket}/key").decode().splitlines()
        self.assertIn(int(expiry.removeprefix("expires in ").removesuffix(" s")), range(200, 301))
        for url in put, get, part:
            self.assertIn("X-Amz-S3session-Token=", url)
        request = urllib.request.Request(put.split()[1], b"text", {"Content-Type": "text/plain"}, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()
        with urllib.request.urlopen(get.split()[1], timeout=60) as response:
            self.assertEqual((response.read(), response.headers["Content-Disposition"]), (b"text", "attachment"))
        entries = json.loads(self.ask(f"journal?bucket={bucket}"))["entries"]
        self.assertEqual(len([entry for entry in entries if entry["operation"] == "CreateSession"]), 1)
        signatures = [entry["signature"] for entry in entries if entry["operation"] in ("PutObject", "GetObject")]
        self.assertEqual(signatures, [{"version": "v4-query", "verdict": "valid"}] * 2)

    def test_settings_and_a_policy_on_another_thread(self) -> None:
        self.assertEqual(
            self.run_example("settings", "s3://examples").decode().splitlines(), ["2 attempts", "1048576 bytes sent"]
        )

    def test_settings_of_a_proxy(self) -> None:
        emulator = self.endpoint
        with forwarder(emulator) as (port, received):
            self.endpoint = "http://storage.invalid"
            self.run_example("settings", "s3://examples", "--proxy", f"http://user:pass@127.0.0.1:{port}")
            self.endpoint = emulator
        basic = "Basic " + base64.b64encode(b"user:pass").decode()
        self.assertEqual(received[-1], ("http://storage.invalid/examples/settings", basic, None))
        self.assertEqual(self.run_example("get", "s3://examples/settings"), b"x" * (1 << 20))

    def test_settings_of_certificates(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pem, key = str(Path(folder, "cert.pem")), str(Path(folder, "key.pem"))
            make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            make += ["-days", "2", "-subj", "/CN=example", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", pem]
            subprocess.run(make, check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem, key)
            context.load_verify_locations(pem)
            context.verify_mode = ssl.CERT_REQUIRED
            emulator = self.endpoint
            with forwarder(emulator, context) as (port, received):
                self.endpoint = f"https://127.0.0.1:{port}"
                self.run_example("settings", "s3://examples", "--ca", pem, "--certificate", pem, "--key", key)
                last, count = received[-1], len(received)
                untrusted = self.failure("settings", "s3://examples", "--certificate", pem, "--key", key)
                with unittest.mock.patch.dict(os.environ, AWS_MAX_ATTEMPTS="2"):
                    self.failure("settings", "s3://examples", "--ca", pem)
                self.endpoint = emulator
        self.assertEqual(last, ("/examples/settings", None, ((("commonName", "example"),),)))
        self.assertEqual(len(received), count, "a request without a certificate arrived")
        self.assertRegex(untrusted, "TLS certificate of .* was not accepted: .*self-signed")
        self.assertEqual(self.run_example("get", "s3://examples/settings"), b"x" * (1 << 20))

    def test_log_observer_histograms_and_retry_policy(self) -> None:
        self.assertEqual(
            self.run_example("observe", "s3://examples").decode().splitlines(),
            [
                "GetObject attempt 1: 404 NoSuchKey, request id present",
                "GetObject attempt 2: 404 NoSuchKey, request id present",
                "GetObject: 2 attempts, median measured",
                "logged",
            ],
        )

    def test_failures_name_operation_and_key_on_standard_error(self) -> None:
        self.assertIn("GetObject s3://examples/missing", self.failure("get", "s3://examples/missing"))

    def test_training_killed_midway_resumes_from_its_newest_checkpoint(self) -> None:
        for number in range(8):
            text = f"def function_{number}(argument):\n    return argument + {number}\n" * 20
            self.run_example("put", f"s3://examples/data/{number}.py", stdin=text.encode())
        places = ["--data", "s3://examples/data/", "--checkpoints", "s3://examples/checkpoints", "--save-every", "10"]
        training = subprocess.Popen(
            self.command("train", *places, "--steps", "100000"), stdout=subprocess.PIPE, text=True, env=self.environment
        )
        assert training.stdout is not None
        saved_step = 0
        for line in training.stdout:
            if match := re.match(r"saved .*/step-0*(\d+)\.pt", line):
                saved_step = int(match[1])
                if saved_step >= 30:
                    break
        training.send_signal(signal.SIGKILL)
        training.stdout.close()
        self.assertEqual(training.wait(timeout=20), -signal.SIGKILL)

        # Steps may have been saved between the line read and the kill.
        output = self.run_example("train", *places, "--steps", str(saved_step + 200)).decode()
        resumed = re.search(r"resumed .* at step (\d+), loss ([\d.]+)", output)
        assert resumed is not None, output
        self.assertGreaterEqual(int(resumed[1]), saved_step)
        losses = [float(loss) for loss in re.findall(r"^step \d+ loss ([\d.]+)", output, re.MULTILINE)]
        self.assertLess(abs(losses[0] - float(resumed[2])), 1.0, "the loss does not continue from the checkpoint")
        self.assertLess(losses[-1], losses[0])
        self.assertIn(f"done at step {saved_step + 200}", output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--emulator", required=True)
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--train", action="store_true")
    ARGUMENTS = parser.parse_args()
    if not ARGUMENTS.train:  # built without libtorch: there is no such program to test
        del ExamplesTest.test_training_killed_midway_resumes_from_its_newest_checkpoint
    unittest.main(argv=sys.argv[:1], verbosity=2)
