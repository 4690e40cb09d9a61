"""Lightning: fit with checkpoints on S3, then resume from the last one."""

from __future__ import annotations

import common
import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from penstock.lightning import S3LightningCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regression(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        features, wanted = batch
        loss = nn.functional.mse_loss(self.layer(features), wanted)
        self.log("loss", loss, on_epoch=True)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=0.05)


def trainer(epochs: int) -> pl.Trainer:
    where = common.uri("lightning")
    return pl.Trainer(
        default_root_dir=where,
        max_epochs=epochs,
        accelerator="cpu",
        plugins=[S3LightningCheckpoint(region=common.REGION)],
        callbacks=[ModelCheckpoint(dirpath=f"{where}/checkpoints", monitor="loss", save_top_k=2, save_last=True)],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def main() -> None:
    torch.manual_seed(0)
    common.make_bucket()
    features = torch.randn(64, 4)
    data = DataLoader(TensorDataset(features, features.sum(1, keepdim=True)), batch_size=16)
    trainer(epochs=3).fit(Regression(), data)

    resumed = trainer(epochs=5)
    resumed.fit(Regression(), data, ckpt_path=common.uri("lightning", "checkpoints", "last.ckpt"))
    bucket, _, prefix = common.uri("lightning").removeprefix("s3://").partition("/")
    keys = [info.key for page in common.client().list_objects(bucket, prefix) for info in page.object_info]
    print("\n".join(keys))
    assert resumed.current_epoch == 5
    print(f"ok: resumed after epoch 3, ended after epoch {resumed.current_epoch}")


if __name__ == "__main__":
    main()
