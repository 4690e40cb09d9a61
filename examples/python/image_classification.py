"""A small CNN on image objects: PNG files below a prefix, with the label in the key."""

from __future__ import annotations

import io

import common
import numpy as np
import torch
from penstock import S3MapDataset, S3Reader
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader

CLASSES = ("horizontal", "vertical")
SIDE = 16


def picture(label: int, generator: np.random.Generator) -> bytes:
    """A PNG with a horizontal or vertical stripe."""
    pixels = generator.integers(0, 100, (SIDE, SIDE), dtype=np.uint8)
    line = generator.integers(2, SIDE - 2)
    if label == 0:
        pixels[line, :] = 255
    else:
        pixels[:, line] = 255
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


def sample(item: S3Reader) -> tuple[torch.Tensor, int]:
    pixels = np.asarray(Image.open(io.BytesIO(item.read())), dtype=np.float32) / 255
    return torch.from_numpy(pixels).unsqueeze(0), CLASSES.index(item.key.split("/")[-2])


def main() -> None:
    torch.manual_seed(0)
    common.make_bucket()
    generator = np.random.default_rng(0)
    for number in range(200):
        label = number % len(CLASSES)
        common.put(common.uri("images", CLASSES[label], f"{number:04}.png"), picture(label, generator))

    images = S3MapDataset.from_prefix(common.uri("images") + "/", region=common.REGION, transform=sample)
    loader = DataLoader(images, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(4), nn.Flatten(), nn.Linear(8 * 16, len(CLASSES)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(6):
        right = total = 0
        for pixels, labels in loader:
            scores = model(pixels)
            loss = nn.functional.cross_entropy(scores, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += int((scores.argmax(1) == labels).sum())
            total += len(labels)
        print(f"epoch {epoch}: loss {loss.item():.3f}, {right} of {total} right")
    assert right / total > 0.9
    print(f"ok: {right} of {total} images classified correctly")


if __name__ == "__main__":
    main()
