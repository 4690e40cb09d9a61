"""Hugging Face: datasets streamed from S3, checkpoints of Trainer in S3, and accelerate.

Penstock handles penstock:// URLs, and s3fs the same URLs with s3://. Nothing is fetched from the Hugging Face Hub.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import comparison
import datasets
import pyarrow as pa
import pyarrow.parquet
import torch
from accelerate import Accelerator
from comparison import common
from transformers import Trainer, TrainerCallback, TrainingArguments

FILES, ROWS = 4, 500
FEATURES = 256
STEPS = 8

datasets.disable_progress_bars()


def write_table(files: Any) -> None:
    common.make_bucket()
    for number in range(FILES):
        generator = torch.Generator().manual_seed(number)
        features = torch.rand(ROWS, FEATURES, generator=generator)
        table = pa.table({"features": features.tolist(), "labels": features.mean(dim=1).tolist()})
        memory = io.BytesIO()
        pyarrow.parquet.write_table(table, memory, row_group_size=100)
        files.pipe_file(common.uri("hf/table", f"{number:03}.parquet"), memory.getvalue())


def streamed(scheme: str) -> datasets.IterableDataset:
    pattern = f"{scheme}://{common.uri('hf/table').removeprefix('s3://')}/*.parquet"
    return datasets.load_dataset("parquet", data_files=pattern, split="train", streaming=True)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(torch.nn.Linear(FEATURES, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))

    def forward(self, features: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        result = self.layers(features).squeeze(1)
        return {"loss": (result - labels).square().mean(), "logits": result}


class Upload(TrainerCallback):
    """Uploads each checkpoint of a Trainer, whose `output_dir` must be a local folder."""

    def __init__(self, files: Any, target: str) -> None:
        self._files = files
        self._target = target

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        folder = Path(args.output_dir, f"checkpoint-{state.global_step}")
        self._files.put(f"{folder}/", f"{self._target}/{folder.name}/", recursive=True)


def trainer(files: Any, output: str, steps: int) -> Trainer:
    arguments = TrainingArguments(
        output, max_steps=steps, save_steps=STEPS // 2, per_device_train_batch_size=20, logging_strategy="no", report_to=[],
        use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    upload = Upload(files, common.uri("hf/trainer"))
    return Trainer(Model(), arguments, train_dataset=streamed("penstock").with_format("torch"), callbacks=[upload])


def train_and_resume(systems: dict[str, Any]) -> int:
    """Returns the step at which the second run began."""
    files = systems["penstock"]
    with tempfile.TemporaryDirectory() as folder:
        whole = trainer(files, folder, STEPS)
        whole.train()
        checkpoint = f"{folder}/checkpoint-{STEPS}/"
        comparison.compare(
            "upload of a checkpoint",
            {
                name: lambda name=name: systems[name].put(checkpoint, common.uri("hf/comparison", name) + "/", recursive=True)
                for name in systems
            },
        )
    with tempfile.TemporaryDirectory() as folder:
        name = f"checkpoint-{STEPS // 2}"
        comparison.compare(
            "download of a checkpoint",
            {
                client: lambda client=client: systems[client].get(
                    common.uri("hf/trainer", name) + "/", f"{folder}/{client}/{name}/", recursive=True
                )
                for client in systems
            },
        )
        resumed = trainer(files, folder, STEPS)
        resumed.train(resume_from_checkpoint=f"{folder}/penstock/{name}")
    assert resumed.state.global_step == STEPS
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)  # the resumed run read the same samples as the whole one
    return STEPS // 2


def accelerated(files: Any) -> None:
    def prepared() -> tuple[Accelerator, torch.nn.Module, torch.optim.Optimizer]:
        accelerator = Accelerator(cpu=True)
        model = Model()
        return accelerator, *accelerator.prepare(model, torch.optim.AdamW(model.parameters()))

    accelerator, model, optimizer = prepared()
    loader = torch.utils.data.DataLoader(streamed("penstock").with_format("torch"), batch_size=50)
    for batch in accelerator.prepare(loader):
        accelerator.backward(model(**batch)["loss"])
        optimizer.step()
        optimizer.zero_grad()
    where = common.uri("hf/accelerate")
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        files.put(f"{folder}/", f"{where}/", recursive=True)
    again, loaded, _ = prepared()
    with tempfile.TemporaryDirectory() as folder:
        files.get(f"{where}/", f"{folder}/", recursive=True)
        again.load_state(folder)
    for one, other in zip(model.parameters(), loaded.parameters(), strict=True):
        assert torch.equal(one, other)


def main() -> None:
    systems = comparison.file_systems()
    write_table(systems["penstock"])
    urls = {"penstock": "penstock", "s3fs": "s3"}
    rows = comparison.compare(
        f"{FILES * ROWS} rows of datasets", {name: lambda scheme=scheme: list(streamed(scheme)) for name, scheme in urls.items()}
    )
    assert rows["penstock"] == rows["s3fs"]
    assert len(rows["penstock"]) == FILES * ROWS
    step = train_and_resume(systems)
    accelerated(systems["penstock"])
    print(f"ok: {FILES * ROWS} rows streamed, a Trainer resumed at step {step} of {STEPS}, the state of accelerate loaded again")


if __name__ == "__main__":
    main()
