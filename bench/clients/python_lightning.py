"""Saves and loads a model's checkpoint through S3LightningCheckpoint and prints the cost as one JSON line.

python_lightning.py CLIENT ENDPOINT BUCKET MIB ROUNDS; CLIENT: penstock or s3torchconnector.

`bytes` is the sum of the saved and the loaded bytes; `save` and `load` are the seconds of each. `peak_mib` is the peak of memory
above the model's own tensors and the loaded ones.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from cost import memory_kib
from python_checkpoint import make_state


def main() -> None:
    name, endpoint, bucket, mebibytes, rounds = sys.argv[1:]
    config = importlib.import_module(name).S3ClientConfig(force_path_style=True)
    plugin = importlib.import_module(f"{name}.lightning").S3LightningCheckpoint("us-east-1", config, endpoint)
    checkpoint = {"epoch": 0, "global_step": 1, "state_dict": make_state(int(mebibytes))}
    url = f"s3://{bucket}/by-{name}.ckpt"

    def save_and_load() -> tuple[float, float]:
        start = time.perf_counter()
        plugin.save_checkpoint(checkpoint, url)
        saved = time.perf_counter()
        loaded = plugin.load_checkpoint(url, map_location="cpu", weights_only=True)
        taken = saved - start, time.perf_counter() - saved
        assert loaded["state_dict"].keys() == checkpoint["state_dict"].keys()
        return taken

    before = memory_kib("VmRSS")
    save_and_load()  # opens connections, imports modules; `before` is older, as the allocator may keep the memory that this frees
    cpu = time.process_time()
    times = [save_and_load() for _ in range(int(rounds))]
    cpu = time.process_time() - cpu
    save, load = (sum(each) for each in zip(*times, strict=True))
    peak = (memory_kib("VmHWM") - before) / 1024 - int(mebibytes)
    total = 2 * int(rounds) * (int(mebibytes) << 20)
    print(json.dumps({"seconds": save + load, "save": save, "load": load, "cpu": cpu, "bytes": total, "peak_mib": peak}))


if __name__ == "__main__":
    main()
