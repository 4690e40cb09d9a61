"""The demo's final table and demo-report.html, from the metrics and the request trace."""

from __future__ import annotations

import base64
import io
import itertools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

COLOURS = {"GetObject": "#2f6db3", "PutObject": "#d98032", "UploadPart": "#8d5bb5", "ListObjectsV2": "#4d9a57"}
OTHER_COLOUR = "#8a8f98"
FAILED_COLOUR = "#c43b3b"
CANCELLED = "cancelled"  # code of requests that the client ended
# Responses that are no failures, though their status is not 2xx.
EXPECTED = {
    ("GetObject", 416): "InvalidRange",  # to a range request for an empty object
    ("CreateBucket", 409): "BucketAlreadyOwnedByYou",  # outside us-east-1, if the bucket exists
}


@dataclass
class Incomplete:
    """A multipart upload that was not completed: its key and id, and the number and bytes of its parts."""

    key: str
    upload_id: str
    parts: int
    size: int


@dataclass
class Run:
    """Data of one demo. `metrics` are train.py's lines, `trace` the client's, one per attempt of a request."""

    metrics: list[dict[str, Any]]
    trace: list[dict[str, Any]]
    started: float  # seconds since the epoch
    killed: float  # seconds since the epoch
    killed_at: int  # step
    incomplete: Incomplete  # the upload that the kill interrupted
    resume: dict[str, Any]
    uploaded: tuple[int, int, float]  # objects, bytes, seconds
    fail_rate: float
    endpoint: str

    def of(self, event: str) -> list[dict[str, Any]]:
        return [m for m in self.metrics if m["event"] == event]


def _succeeded(attempt: dict[str, Any]) -> bool:
    """Whether S3 answered as expected, or the client itself ended the request, for example the slower one of a hedged read."""
    if attempt["code"] == CANCELLED:
        return True
    return 200 <= attempt["status"] < 300 or EXPECTED.get((attempt["operation"], attempt["status"])) == attempt["code"]


def _millis(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    least, most = f"{1e3 * min(seconds):.0f}", f"{1e3 * max(seconds):.0f}"
    return f"{least} ms" if len(seconds) == 1 else f"{least} to {most} ms ({len(seconds)} times)"


def rows(run: Run) -> list[tuple[str, str]]:
    """The table: label and value."""
    steps = run.of("step")
    gets = [t for t in run.trace if t["operation"] == "GetObject" and 200 <= t["status"] < 300]
    objects, size, seconds = run.uploaded
    busy = sum(b["time"] - a["time"] for a, b in itertools.pairwise(steps) if a["pid"] == b["pid"])
    read = sum(s["bytes"] for s in steps)
    operations = Counter(t["operation"] for t in run.trace)
    retries = sum(t["attempt"] > 1 for t in run.trace)
    throttled = sum(t["status"] == 503 for t in run.trace)
    return [
        ("uploaded", f"{objects} objects, {size / 1e6:.1f} MB, {size / seconds / 1e6:.1f} MB/s"),
        ("trained on", f"{sum(s['objects'] for s in steps)} objects, {read / 1e6:.1f} MB"),
        ("read from S3", f"{len(gets)} GETs, {sum(t['bytes_received'] for t in gets) / 1e6:.1f} MB"),
        (
            "training throughput",
            f"{sum(s['objects'] for s in steps) / busy:.0f} samples/s, {read / busy / 1e6:.2f} MB/s",
        ),
        *((f"requests: {name}", str(count)) for name, count in operations.most_common()),
        ("failed attempts", f"{sum(not _succeeded(t) for t in run.trace)}"),
        ("retries", f"{retries} (503 responses: {throttled})"),
        ("configured fail rate", f"{run.fail_rate:g}"),
        ("checkpoint save", _millis([m["seconds"] for m in run.of("saved")])),
        ("checkpoint load", _millis([run.resume["seconds"]])),
        ("killed / resumed at step", f"{run.killed_at} / {run.resume['step']}"),
        ("parts of the killed save, aborted", f"{run.incomplete.parts}, {run.incomplete.size / 1e6:.1f} MB"),
        (
            "loss at the checkpoint / after resume",
            f"{run.resume['saved_probe_loss']:.6f} / {run.resume['probe_loss']:.6f} (probe batch)",
        ),
        ("final loss", f"{run.of('finished')[-1]['loss']:.4f}"),
    ]


def write_table(run: Run) -> None:
    table = Table(title="Penstock demo", show_header=False)
    for label, value in rows(run):
        table.add_row(label, value)
    Console().print(table)


def _png(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130, bbox_inches="tight")
    return base64.b64encode(buffer.getvalue()).decode()


def loss_picture(run: Run) -> str:
    figure = Figure(figsize=(9, 3.6))
    axes = figure.add_subplot()
    first_pid = run.of("step")[0]["pid"]
    for before, colour, label in ((True, "#8a8f98", "before the kill"), (False, "#2f6db3", "after resume")):
        points = [(m["step"], m["loss"]) for m in run.of("step") if (m["pid"] == first_pid) == before and m["loss"] is not None]
        axes.plot([s for s, _ in points], [loss for _, loss in points], color=colour, label=label, linewidth=1.8)
    axes.axvline(
        run.killed_at, color=FAILED_COLOUR, linestyle="--", linewidth=1, label=f"SIGKILL during the save of step {run.killed_at}"
    )
    axes.plot(
        [run.resume["step"]],
        [run.resume["loss"]],
        "o",
        color="#4d9a57",
        label=f"checkpoint of step {run.resume['step']}",
    )
    axes.set(xlabel="step", ylabel="loss (nats per byte, smoothed)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return _png(figure)


def timeline_picture(run: Run) -> str:
    """Each attempt as a dot by start time and duration; failed attempts in red."""
    figure = Figure(figsize=(9, 3.6))
    axes = figure.add_subplot()
    good = [t for t in run.trace if _succeeded(t)]
    for name in sorted({t["operation"] for t in good}, key=lambda n: (n not in COLOURS, n)):
        points = [(t["started"] - run.started, 1e3 * t["seconds"]) for t in good if t["operation"] == name]
        axes.scatter(*zip(*points, strict=True), s=6, alpha=0.6, linewidths=0, color=COLOURS.get(name, OTHER_COLOUR), label=name)
    failed = [(t["started"] - run.started, 1e3 * t["seconds"]) for t in run.trace if not _succeeded(t)]
    if failed:
        axes.scatter(*zip(*failed, strict=True), s=12, marker="x", color=FAILED_COLOUR, label="failed attempt")
    axes.axvline(run.killed - run.started, color=FAILED_COLOUR, linewidth=1, linestyle="--", label="SIGKILL")
    for m in run.of("resume"):
        axes.axvline(m["time"] - run.started, color="#4d9a57", linewidth=1, linestyle="--", label="resume")
    axes.set(xlabel="seconds since start", ylabel="duration of the request (ms)", yscale="log")
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(frameon=False, ncols=7, fontsize=8, markerscale=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    for handle in legend.legend_handles:
        handle.set_alpha(1)
    return _png(figure)


def write_html(run: Run, path: Path) -> None:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True)
    page = environment.get_template("report.html.jinja").render(
        rows=rows(run),
        loss=loss_picture(run),
        timeline=timeline_picture(run),
        endpoint=run.endpoint,
        fail_rate=run.fail_rate,
    )
    path.write_text(page, encoding="utf-8")
