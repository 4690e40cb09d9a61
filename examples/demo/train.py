"""The training process of the demo: a byte-level language model on every object below an S3 prefix.

demo.py starts it, kills it and starts it again; it also works alone. It resumes from the newest complete checkpoint,
trains to the last step and writes one JSON line per step, save and load to ``--metrics``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import penstock
import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from torch import nn
from torch.utils.data import DataLoader, get_worker_info

CONTEXT = 64  # bytes before each prediction
SEQUENCES_PER_OBJECT = 4
OBJECTS_PER_BATCH = 8
VOCABULARY = 256
PAIRS = 8192  # rows of the table for pairs of bytes, which makes a checkpoint large enough for several parts
PART_SIZE = 5 << 20  # the smallest size of a part in S3
SLOW_SAVE_BYTES_PER_SECOND = 4 << 20


class ByteModel(nn.Module):
    """Next-byte prediction with one GRU layer. Input: int64 [batch, time]; output: logits [batch, time, 256].

    A position is represented by its byte and by the pair that it forms with the byte before.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.embed_pair = nn.Embedding(PAIRS, width)
        self.recur = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        before = nn.functional.pad(tokens[:, :-1], (1, 0))
        return self.head(self.recur(self.embed(tokens) + self.embed_pair((before * VOCABULARY + tokens) % PAIRS))[0])


class Sample(NamedTuple):
    """Sequences of one object, uint8 [sequences, CONTEXT + 1], and the number of bytes read."""

    sequences: torch.Tensor
    object_bytes: int


class CutSequences:
    """Turns a reader into training sequences; skips batches before the resumed position without reading them.

    A DataLoader with N workers takes batch b from worker b % N. A worker's own count of objects therefore determines the
    global batch of the next object.
    """

    def __init__(self, batches_seen: int) -> None:
        self.batches_seen = batches_seen
        self.objects = 0

    def __call__(self, reader: penstock.S3Reader) -> Sample:
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        batch = self.objects // OBJECTS_PER_BATCH * workers + worker
        self.objects += 1
        if batch < self.batches_seen:
            return Sample(torch.empty(0, CONTEXT + 1, dtype=torch.uint8), 0)
        with reader:
            data = reader.read()
        whole = len(data) // (CONTEXT + 1)
        if whole == 0:
            return Sample(torch.empty(0, CONTEXT + 1, dtype=torch.uint8), len(data))
        rows = torch.frombuffer(bytearray(data), dtype=torch.uint8)[: whole * (CONTEXT + 1)].view(whole, CONTEXT + 1)
        step = max(1, whole // SEQUENCES_PER_OBJECT)
        return Sample(rows[::step][:SEQUENCES_PER_OBJECT].clone(), len(data))


def collate(samples: list[Sample]) -> tuple[torch.Tensor, int, int]:
    """Joins samples: int64 [rows, CONTEXT + 1], number of objects read, bytes read."""
    rows = torch.cat([s.sequences for s in samples]).long()
    return rows, sum(s.object_bytes > 0 for s in samples), sum(s.object_bytes for s in samples)


def loss_of(model: nn.Module, rows: torch.Tensor) -> torch.Tensor:
    logits = model(rows[:, :-1])
    return nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), rows[:, 1:].reshape(-1))


def probe_batch() -> torch.Tensor:
    """The same batch in every process: the first bytes of this file. int64 [16, CONTEXT + 1]."""
    text = Path(__file__).read_bytes()[: 16 * (CONTEXT + 1)]
    return torch.frombuffer(bytearray(text), dtype=torch.uint8).view(16, CONTEXT + 1).long()


class Metrics:
    """One JSON line per event, flushed, so that a killed process loses none."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, event: str, **fields: Any) -> None:
        self._file.write(json.dumps({"event": event, "time": time.time(), "pid": os.getpid(), **fields}) + "\n")
        self._file.flush()


class Checkpoints:
    """Checkpoints named by step below one prefix. Every listed object is complete."""

    def __init__(self, args: argparse.Namespace, config: penstock.S3ClientConfig) -> None:
        self._uri = args.checkpoints.rstrip("/")
        self._slow_from = args.slow_saves_from
        parts = dataclasses.replace(config, part_size=PART_SIZE)
        slow = dataclasses.replace(parts, max_bytes_per_second=SLOW_SAVE_BYTES_PER_SECOND)
        self._io = penstock.S3Checkpoint(region=args.region, endpoint=args.endpoint, s3client_config=parts)
        self._slow_io = penstock.S3Checkpoint(region=args.region, endpoint=args.endpoint, s3client_config=slow)
        self._client = penstock.S3Client(args.region, endpoint=args.endpoint, s3client_config=config)

    def newest_step(self) -> int | None:
        bucket, _, prefix = self._uri.removeprefix("s3://").partition("/")
        keys = [o.key for page in self._client.list_objects(bucket, f"{prefix}/step-") for o in page.object_info]
        return max((int(key.rsplit("-", 1)[1].removesuffix(".pt")) for key in keys), default=None)

    def uri(self, step: int) -> str:
        return f"{self._uri}/step-{step:08d}.pt"

    def save(self, step: int, state: dict[str, Any]) -> float:
        start = time.perf_counter()
        io = self._io if self._slow_from is None or step < self._slow_from else self._slow_io
        with io.writer(self.uri(step)) as writer:
            torch.save(state, writer)
        return time.perf_counter() - start

    def load(self, step: int) -> tuple[dict[str, Any], float]:
        start = time.perf_counter()
        with self._io.reader(self.uri(step)) as reader:
            state = torch.load(reader, weights_only=True)
        return state, time.perf_counter() - start


def batches(args: argparse.Namespace, config: penstock.S3ClientConfig, seen: int) -> Iterator[tuple[torch.Tensor, int, int]]:
    """Endless batches, epoch after epoch, from batch number `seen` on. The order is the same in every run."""
    while True:
        dataset = penstock.S3IterableDataset.from_prefix(
            args.data, region=args.region, endpoint=args.endpoint, transform=CutSequences(seen),
            s3client_config=config, enable_sharding=True,
        )  # fmt: skip
        loader = DataLoader(dataset, batch_size=OBJECTS_PER_BATCH, num_workers=2, collate_fn=collate, prefetch_factor=4)
        count = 0
        for count, batch in enumerate(loader, 1):
            if count > seen:
                yield batch
        if count == 0:
            sys.exit(f"train: no objects below {args.data}")
        seen = max(0, seen - count)


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="s3://bucket/prefix of the training objects")
    parser.add_argument("--checkpoints", required=True, help="s3://bucket/prefix of the checkpoints")
    parser.add_argument("--metrics", required=True, type=Path, help="file that gets one JSON line per event")
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--endpoint", default=None)
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--save-every", type=int, default=40)
    parser.add_argument(
        "--slow-saves-from", type=int, metavar="STEP", help="limit the rate of saves from this step on, so that they take seconds"
    )
    parser.add_argument("--width", type=int, default=192)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    args = parse(argv)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = penstock.S3ClientConfig(force_path_style=args.endpoint is not None)
    metrics = Metrics(args.metrics)
    checkpoints = Checkpoints(args, config)
    model = ByteModel(args.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    probe = probe_batch()

    step, last_loss = 0, None
    found = checkpoints.newest_step()
    if found is not None:
        state, seconds = checkpoints.load(found)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, last_loss = state["step"], state["loss"]
        with torch.no_grad():
            probe_loss = float(loss_of(model, probe))
        metrics.write("resume", step=step, loss=last_loss, probe_loss=probe_loss, saved_probe_loss=state["probe_loss"],
                      seconds=seconds, uri=checkpoints.uri(found))  # fmt: skip

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rates]}"),
               TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, refresh_per_second=4) as progress:
        bar = progress.add_task("resumed" if found is not None else "training", total=args.steps, completed=step, rates="")
        start, samples, read = time.perf_counter(), 0, 0
        for rows, objects, size in batches(args, config, seen=step):
            if len(rows):
                loss = loss_of(model, rows)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                last_loss = loss.item() if last_loss is None else 0.9 * last_loss + 0.1 * loss.item()
            step, samples, read = step + 1, samples + objects, read + size
            seconds = time.perf_counter() - start
            metrics.write("step", step=step, loss=last_loss, objects=objects, bytes=size)
            rates = f"{samples / seconds:6.0f} samples/s {read / seconds / 1e6:6.2f} MB/s  loss {last_loss:.3f}"
            progress.update(bar, completed=step, rates=rates)
            if step % args.save_every == 0 or step == args.steps:
                with torch.no_grad():
                    probe_loss = float(loss_of(model, probe))
                metrics.write("save-begins", step=step)
                seconds = checkpoints.save(step, {
                    "model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "loss": last_loss,
                    "probe_loss": probe_loss,
                })  # fmt: skip
                metrics.write("saved", step=step, seconds=seconds, uri=checkpoints.uri(step))
            if step >= args.steps:
                break
    metrics.write("finished", step=step, loss=last_loss)


if __name__ == "__main__":
    main()
