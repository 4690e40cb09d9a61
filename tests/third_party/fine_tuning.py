"""A program like a fine-tuning recipe: samples from S3, a checkpoint per epoch, and a state to resume from."""

import io
import sys

import torch
from s3torchconnector import S3Checkpoint, S3IterableDataset, S3Reader
from s3torchconnector._s3client import S3Client
from torch.utils.data import DataLoader

REGION = "us-east-1"


def tokens(reader: S3Reader) -> torch.Tensor:
    return torch.load(io.BytesIO(reader.read()))


def padded(batch):
    return torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)


class Recipe:
    def __init__(self, bucket: str, resume: bool) -> None:
        self.bucket = bucket
        self.checkpoint = S3Checkpoint(region=REGION)
        torch.manual_seed(0)
        self.model = torch.nn.EmbeddingBag(100, 8, padding_idx=0)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.epoch = 0
        if resume:
            with self.checkpoint.reader(f"s3://{bucket}/recipe/recipe_state.pt") as reader:
                state = torch.load(reader, weights_only=True)
            with self.checkpoint.reader(f"s3://{bucket}/recipe/epoch_{state['epoch']}/model.pt") as reader:
                self.model.load_state_dict(torch.load(reader, weights_only=True))
            self.optimizer.load_state_dict(state["optimizer"])
            self.epoch = state["epoch"] + 1

    def train(self, epochs: int) -> None:
        samples = S3IterableDataset.from_prefix(f"s3://{self.bucket}/tokens/", region=REGION, transform=tokens)
        for epoch in range(self.epoch, epochs):
            for batch in DataLoader(samples, batch_size=4, collate_fn=padded):
                loss = self.model(batch).pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            with self.checkpoint.writer(f"s3://{self.bucket}/recipe/epoch_{epoch}/model.pt") as writer:
                torch.save(self.model.state_dict(), writer)
            with self.checkpoint.writer(f"s3://{self.bucket}/recipe/recipe_state.pt") as writer:
                torch.save({"epoch": epoch, "optimizer": self.optimizer.state_dict()}, writer)
        print(f"{float(self.model.weight.detach().abs().sum()):.5f}")


if __name__ == "__main__":
    name, epochs = sys.argv[1], int(sys.argv[2])
    client = S3Client(REGION)
    for number in range(8):
        sample = io.BytesIO()
        torch.save(torch.randint(1, 100, (5 + number,), generator=torch.Generator().manual_seed(number)), sample)
        with client.put_object(name, f"tokens/{number}.pt") as writer:
            writer.write(sample.getvalue())
    Recipe(name, resume="resume" in sys.argv).train(epochs)
