"""The main job, offline: train from S3, save checkpoints, get killed during a save, clean up, resume, report.

``./dev demo`` starts the emulator and runs this program; ``./dev demo --endpoint URL`` runs it against any S3 service.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import penstock
from report import Incomplete, Run, write_html, write_table
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

HERE = Path(__file__).resolve().parent
ACCESS_KEY, SECRET_KEY = "penstock", "penstock-secret"  # the emulator's default credentials
START_TIMEOUT_S = 15
ENOUGH_OBJECTS = 1500
TRAIN_TIMEOUT_S = 600
CHECKPOINTS = "checkpoints/"
LOSS_TOLERANCE = 1e-4  # the order of additions may differ after a restore

console = Console(stderr=True)


def fail(message: str) -> None:
    console.print(f"[red]demo: {escape(message)}", soft_wrap=True)
    sys.exit(1)


@contextlib.contextmanager
def emulator(fail_rate: float, out: Path) -> Iterator[str]:
    """Runs penstock-emulator and yields its endpoint; stops it with SIGTERM."""
    program = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
    command = [program, "--port", "0", "--memory", "--log", out / "emulator.jsonl", "--fail-rate", str(fail_rate)]
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            fail(f"the emulator did not start (exit code {process.wait(START_TIMEOUT_S)}); its message is above")
        yield json.loads(line)["endpoint"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(START_TIMEOUT_S)


def sources() -> list[tuple[str, Path]]:
    """Key and path of every source file of the standard library.

    Debian's package has no tests; files of installed packages then fill the data set to the same size.
    """
    library, packages = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
    outside = ("site-packages", "dist-packages")
    found = [
        (f"data/{p.relative_to(library).as_posix()}", p) for p in sorted(library.rglob("*.py")) if not set(outside) & set(p.parts)
    ]
    extra = itertools.islice(packages.rglob("*.py"), max(0, ENOUGH_OBJECTS - len(found)))
    return found + [(f"data/site-packages/{p.relative_to(packages).as_posix()}", p) for p in extra]


def upload(args: argparse.Namespace, client: penstock.S3Client, bucket: str) -> tuple[int, int, float]:
    """Uploads the sources below data/; returns objects, bytes and seconds."""
    files = sources()

    def put(file: tuple[str, Path]) -> int:
        key, data = file[0], file[1].read_bytes()
        with client.put_object(bucket, key) as writer:
            writer.write(data)
        return len(data)

    start, total = time.perf_counter(), 0
    columns = (
        TextColumn("uploading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress, ThreadPoolExecutor(args.upload_threads) as pool:
        bar = progress.add_task("", total=len(files), rate="")
        for size in pool.map(put, files):
            total += size
            rate = f"{total / (time.perf_counter() - start) / 1e6:.1f} MB/s"
            progress.update(bar, advance=1, rate=rate)
    return len(files), total, time.perf_counter() - start


@contextlib.contextmanager
def training(args: argparse.Namespace, bucket: str, out: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Runs train.py in a separate process group, and ends all of its processes at the end."""
    command = [
        sys.executable, str(HERE / "train.py"), "--data", f"s3://{bucket}/data/", "--checkpoints", f"s3://{bucket}/{CHECKPOINTS}",
        "--metrics", str(out / "metrics.jsonl"), "--region", args.region, "--steps", str(args.steps),
        "--save-every", str(args.save_every), *options,
    ]  # fmt: skip
    if args.endpoint:
        command += ["--endpoint", args.endpoint]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file that a running process may still write."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")] if path.exists() else []


def read_metrics(out: Path) -> list[dict[str, Any]]:
    return read_lines(out / "metrics.jsonl")


def begun_save(metrics: list[dict[str, Any]], first: int) -> int | None:
    """The step of a save from step `first` on that has begun, after another save was completed."""
    saved = any(m["event"] == "saved" for m in metrics)
    return next((m["step"] for m in metrics if saved and m["event"] == "save-begins" and m["step"] >= first), None)


def train_and_kill(args: argparse.Namespace, bucket: str, out: Path) -> int:
    """Kills the training with SIGKILL in the middle of a multipart upload. Returns the step of that save.

    Saves in the second half are slow (``--slow-saves-from``). The kill follows when S3 has confirmed a part of such a save.
    """
    half = args.steps // 2
    deadline = time.monotonic() + TRAIN_TIMEOUT_S
    with training(args, bucket, out, "--slow-saves-from", str(half)) as process:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                fail(f"training ended with exit code {process.returncode} before it could be killed")
            step = begun_save(read_metrics(out), half)
            if step is not None and has_part(out, step):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if any(m["event"] == "saved" and m["step"] == step for m in read_metrics(out)):
                    fail(f"the save of step {step} was complete before the kill")
                console.print(f"[yellow]killed the training (SIGKILL) during the multipart upload of step {step}'s checkpoint")
                return step
            time.sleep(0.02)
    return fail(f"training did not save step {half} in {TRAIN_TIMEOUT_S} s")


def has_part(out: Path, step: int) -> bool:
    """Whether S3 has confirmed a part of the checkpoint of `step`, according to the client's request trace."""
    return any(
        line["operation"] == "UploadPart" and line["status"] == 200 and line["key"].endswith(f"step-{step:08d}.pt")
        for line in read_lines(out / "trace.jsonl")
    )


def open_uploads(client: penstock.S3Client, bucket: str) -> list[Incomplete]:
    """The multipart uploads of checkpoints that were neither completed nor aborted."""
    found = []
    for upload in client.list_multipart_uploads(bucket, prefix=CHECKPOINTS).uploads:
        parts = client.list_parts(bucket, upload.key, upload.upload_id).parts
        found.append(Incomplete(upload.key, upload.upload_id, len(parts), sum(part.size for part in parts)))
    return found


def remove_open_uploads(client: penstock.S3Client, bucket: str) -> list[Incomplete]:
    """Aborts these uploads, so that S3 deletes their parts. Returns what it aborted."""
    found = open_uploads(client, bucket)
    for upload in found:
        client.abort_multipart_upload(bucket, upload.key, upload.upload_id)
    return found


def show_and_remove(client: penstock.S3Client, bucket: str, step: int) -> Incomplete:
    """Shows what the killed save left in S3, and removes it."""
    key = f"{CHECKPOINTS}step-{step:08d}.pt"
    objects = [o.key for page in client.list_objects(bucket, CHECKPOINTS) for o in page.object_info]
    if key in objects:
        fail(f"s3://{bucket}/{key} exists, although its save was killed")
    console.print(f"  complete checkpoints: {', '.join(name.removeprefix(CHECKPOINTS) for name in objects)}")
    found = remove_open_uploads(client, bucket)
    if [upload.key for upload in found] != [key]:
        fail(f"expected one incomplete upload, of {key}, but found {[upload.key for upload in found]}")
    upload = found[0]
    console.print(f"  incomplete upload: {key.removeprefix(CHECKPOINTS)}, parts: {upload.parts}, {upload.size / 1e6:.1f} MB")
    if left := open_uploads(client, bucket):
        fail(f"the incomplete upload of {left[0].key} is still there after AbortMultipartUpload")
    console.print("  aborted it: 0 incomplete uploads left")
    return upload


def train_to_end(args: argparse.Namespace, bucket: str, out: Path) -> None:
    with training(args, bucket, out) as process:
        try:
            code = process.wait(TRAIN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            fail(f"the resumed training did not finish in {TRAIN_TIMEOUT_S} s")
    if code != 0:
        fail(f"the resumed training ended with exit code {code}; its message is above")


def check_resume(metrics: list[dict[str, Any]], steps: int) -> dict[str, Any]:
    """The resumed run starts from the newest acknowledged checkpoint, with its loss, and reaches the last step."""
    resumes = [m for m in metrics if m["event"] == "resume"]
    if len(resumes) != 1:
        fail(f"expected one resume, found {len(resumes)}")
    resume = resumes[0]
    acknowledged = max(m["step"] for m in metrics if m["event"] == "saved" and m["time"] < resume["time"])
    if resume["step"] != acknowledged:
        fail(f"resumed from step {resume['step']}, but step {acknowledged} is the newest complete checkpoint")
    if abs(resume["probe_loss"] - resume["saved_probe_loss"]) > LOSS_TOLERANCE:
        fail(f"the restored model's loss is {resume['probe_loss']}, the saved one's was {resume['saved_probe_loss']}")
    first = next(m for m in metrics if m["event"] == "step" and m["time"] > resume["time"])
    if first["step"] != resume["step"] + 1 or abs(first["loss"] - resume["loss"]) > 0.1 * resume["loss"]:
        where = f"after {resume['step']} at {resume['loss']:.4f}"
        fail(f"training continued at step {first['step']} with loss {first['loss']:.4f}, expected {where}")
    if not any(m["event"] == "finished" and m["step"] == steps for m in metrics):
        fail(f"the resumed run did not reach step {steps}")
    return resume


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument(
        "--endpoint", help="an S3 service instead of the emulator; credentials from the environment or the AWS profile"
    )
    parser.add_argument("--bucket", default="penstock-demo", help="bucket to use; created if it does not exist")
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--fail-rate", type=float, default=0.0, help="share of requests the emulator answers 503 SlowDown")
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--save-every", type=int, default=40)
    parser.add_argument("--upload-threads", type=int, default=8)
    parser.add_argument("--report", type=Path, default=Path("demo-report.html"))
    args = parser.parse_args(argv)
    if not 0 <= args.fail_rate < 1:
        parser.error(f"--fail-rate must be at least 0 and less than 1, not {args.fail_rate}")
    if args.fail_rate and args.endpoint:
        parser.error("--fail-rate needs the emulator; it cannot be used with --endpoint")
    if args.steps < 3 * args.save_every:
        parser.error(f"--steps is {args.steps}; the demo needs at least three saves, so at least {3 * args.save_every}")
    return args


def fill_bucket(args: argparse.Namespace, client: penstock.S3Client) -> tuple[int, int, float]:
    """Creates the bucket, removes checkpoints of an earlier demo and uploads; returns the values of upload()."""
    client.create_bucket(args.bucket)
    remove_open_uploads(client, args.bucket)
    for page in client.list_objects(args.bucket, CHECKPOINTS):
        for info in page.object_info:
            client.delete_object(args.bucket, info.key)
    return upload(args, client, args.bucket)


def main(argv: list[str] | None = None) -> None:
    args = parse(argv)
    out = Path("demo-out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    os.environ["PENSTOCK_TRACE"] = str(out.resolve() / "trace.jsonl")
    started = time.time()
    with contextlib.ExitStack() as stack:
        if args.endpoint is None:
            os.environ.update(AWS_ACCESS_KEY_ID=ACCESS_KEY, AWS_SECRET_ACCESS_KEY=SECRET_KEY)
            os.environ.pop("AWS_SESSION_TOKEN", None)
            args.endpoint = stack.enter_context(emulator(args.fail_rate, out))
            console.print(f"emulator at {args.endpoint}, fail rate {args.fail_rate:g}")
        else:
            console.print(f"S3 at {escape(args.endpoint)}, bucket {escape(args.bucket)}", soft_wrap=True)
        try:
            config = penstock.S3ClientConfig(force_path_style=True)
            client = penstock.S3Client(args.region, endpoint=args.endpoint, s3client_config=config)
            objects, size, seconds = fill_bucket(args, client)
        except penstock.S3Exception as error:  # unreachable service, or refused credentials
            fail(str(error))
        console.print(f"uploaded {objects} objects, {size / 1e6:.1f} MB, in {seconds:.1f} s")
        killed_at = train_and_kill(args, args.bucket, out)
        killed = time.time()
        incomplete = show_and_remove(client, args.bucket, killed_at)
        train_to_end(args, args.bucket, out)
    metrics = read_metrics(out)
    resume = check_resume(metrics, args.steps)
    trace = read_lines(out / "trace.jsonl")
    run = Run(
        metrics=metrics,
        trace=trace,
        started=started,
        killed=killed,
        killed_at=killed_at,
        incomplete=incomplete,
        resume=resume,
        uploaded=(objects, size, seconds),
        fail_rate=args.fail_rate,
        endpoint=args.endpoint,
    )
    write_table(run)
    write_html(run, args.report)
    console.print(f"[green]resumed from step {resume['step']} with the checkpoint's loss; report: {args.report}")


if __name__ == "__main__":
    main()
