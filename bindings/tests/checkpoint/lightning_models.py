"""A small model and Trainers that run offline without output, for either package name of Lightning."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", ".*does not have many workers.*")
warnings.filterwarnings("ignore", ".*is smaller than the logging interval.*")
for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)


class Line(pl.LightningModule):
    """y = w x + b. Logs its loss, and `score`, which by default improves with every epoch."""

    def __init__(self, rate: float = 0.1, scores: tuple[float, ...] = ()) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(1, 1)
        self.scores = scores

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.layer(x), y)
        self.log("loss", loss)
        return loss

    def on_train_epoch_end(self) -> None:
        epoch = self.current_epoch
        self.log("score", self.scores[epoch] if epoch < len(self.scores) else -float(epoch))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), self.hparams["rate"])


def batches() -> DataLoader[Any]:
    x = torch.arange(4.0).reshape(4, 1)
    return DataLoader(TensorDataset(x, 3 * x), batch_size=2)


def trainer(**options: Any) -> pl.Trainer:
    quiet = {
        "accelerator": "cpu",
        "devices": 1,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "log_every_n_steps": 1,
        "logger": False,
    }
    return pl.Trainer(**{**quiet, **options})
