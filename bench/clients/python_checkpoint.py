"""Saves or loads a checkpoint with torch and prints the cost as one JSON line.

python_checkpoint.py CLIENT VERB ENDPOINT BUCKET MIB ROUNDS; CLIENT: penstock or s3torchconnector; VERB: save or load.

`peak_mib` is the peak of memory above the state's own tensors.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from cost import cost_of

TENSORS = 16


def make_state(mebibytes: int) -> dict[str, Any]:
    import torch

    elements = mebibytes * 1024 * 1024 // TENSORS // 4
    return {f"layer.{i}": torch.full((elements,), float(i)) for i in range(TENSORS)}


def main() -> None:
    name, verb, endpoint, bucket, mebibytes, rounds = sys.argv[1:]
    import torch

    module = importlib.import_module(name)
    config = module.S3ClientConfig(force_path_style=True)
    checkpoint = module.S3Checkpoint("us-east-1", endpoint=endpoint, s3client_config=config)
    state = make_state(int(mebibytes)) if verb == "save" else {}

    def save() -> int:
        with checkpoint.writer(f"s3://{bucket}/saved-by-{name}.pt") as writer:
            torch.save(state, writer)
        return int(mebibytes) << 20

    def load() -> int:
        with checkpoint.reader(f"s3://{bucket}/checkpoint.pt") as reader:
            loaded = torch.load(reader, weights_only=True)
        return sum(tensor.numel() * tensor.element_size() for tensor in loaded.values())

    run = {"save": save, "load": load}[verb]
    held_kib = int(mebibytes) * 1024 if verb == "load" else 0  # the loaded tensors; the saved ones exist before
    print(json.dumps(cost_of(run, int(rounds), held_kib)))


if __name__ == "__main__":
    main()
