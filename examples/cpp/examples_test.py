"""Runs every C++ example against the emulator, as a user would: real processes, real requests, a real SIGKILL."""

from __future__ import annotations

import argparse
import http.server
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import urllib.parse
import urllib.request
from pathlib import Path

ARGUMENTS = argparse.Namespace()
KEY, SECRET = "examplekey", "examplesecret"
TEMPORARY_KEY, TEMPORARY_SECRET, TOKEN = "temporarykey", "temporarysecret", "token"
USERS = {
    "accounts": [
        {
            "account_id": "000000000001",
            "access_keys": [
                {"access_key_id": KEY, "secret_access_key": SECRET},
                {"access_key_id": TEMPORARY_KEY, "secret_access_key": TEMPORARY_SECRET, "session_token": TOKEN},
            ],
        }
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


class ExamplesTest(unittest.TestCase):
    def setUp(self) -> None:
        with tempfile.NamedTemporaryFile("w") as users:
            json.dump(USERS, users)
            users.flush()
            self.emulator = subprocess.Popen(
                [ARGUMENTS.emulator, "--memory", "--port", "0", "--users", users.name], stdout=subprocess.PIPE, text=True
            )
            assert self.emulator.stdout is not None
            self.endpoint = json.loads(self.emulator.stdout.readline())["endpoint"]
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
        self.assertEqual(
            self.run_example("requests", "s3://examples/requests/").decode().splitlines(),
            [
                "stored with 1 attempt, request id present",
                "text/csv, no-cache, 1 metadata, 1 tag",
                "not modified",
                "copied as text/plain, STANDARD_IA, copied",
                "gzip, attachment, en, Sat, 07 Dec 2069 00:00:00 GMT, redirected to /other, SSE-KMS",
                "another owner",
                "with the key: 'secret', without it: refused",
                "2 versions deleted",
            ],
        )

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
        put, header, get, part, post, *fields = printed
        self.assertEqual(header, "header Content-Type: text/plain")
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

    def test_settings_and_a_policy_on_another_thread(self) -> None:
        self.assertEqual(
            self.run_example("settings", "s3://examples").decode().splitlines(), ["2 attempts", "1048576 bytes sent"]
        )

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
        done = subprocess.run(
            self.command("get", "s3://examples/missing"), capture_output=True, timeout=60, env=self.environment, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, b"")
        self.assertIn("GetObject s3://examples/missing", done.stderr.decode())
        self.assertNotIn(SECRET, done.stderr.decode())

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
