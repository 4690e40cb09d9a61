"""A model and its optimiser in one object, saved and loaded."""

from __future__ import annotations

import common
import torch
from penstock import S3Checkpoint
from torch import nn


def main() -> None:
    common.make_bucket()
    model = nn.Linear(256, 256)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(8, 256)).sum().backward()
    optimizer.step()

    checkpoint = S3Checkpoint(region=common.REGION)
    where = common.uri("model.pt")
    # The whole object appears at the end of the block; an exception inside leaves the previous object unchanged.
    with checkpoint.writer(where) as writer:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 1}, writer)
    with checkpoint.reader(where) as reader:
        state = torch.load(reader, weights_only=True)

    other = nn.Linear(256, 256)
    other.load_state_dict(state["model"])
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(model.parameters(), other.parameters(), strict=True))
    print(f"ok: step {state['step']} saved to {where} and loaded again")


if __name__ == "__main__":
    main()
