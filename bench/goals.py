"""What the figures are meant to be: by group and row, bounds on ours, or on ours divided by a peer's (see `doc.py`)."""

from __future__ import annotations

# (relation, bound) in the row's own unit, or (relation, bound, peer).
Goal = tuple[str, float] | tuple[str, float, str]

GOALS: dict[str, dict[str, list[Goal]]] = {
    "client": {
        "client.get_1gib": [("<=", 1.35, "bare recv"), ("<=", 0.3, "boto3")],
        "client.get_1gib.rate": [(">=", 3, "boto3")],
        "client.read_1gib": [(">=", 6, "s3torchconnector")],
        "client.read_1gib.cpu": [("<=", 0.12, "s3torchconnector")],
        "client.read_1gib.peak": [("<=", 1190)],  # 1.1 objects and 64 MiB
        "client.readinto_1gib": [(">=", 2, "s3torchconnector"), (">=", 2.5, "obstore")],
        "client.readinto_1gib.cpu": [("<=", 0.25, "s3torchconnector")],
        "client.readline": [(">=", 50, "s3torchconnector")],
        "client.get_1kib": [("<=", 2, "bare epoll")],
        "client.tls_1gib": [("<=", 1.15, "decryption and plain")],
        "client.put_1gib.cpu": [("<=", 0.25, "s3torchconnector")],
        "client.put_1gib.requests": [("<=", 34)],
        "client.list_100k.cpu": [("<=", 0.02, "botocore")],
        "client.list_page.parser": [("<=", 0.3)],
        "data.iter_100kb": [(">=", 20, "s3torchconnector")],
        "data.map_100kb": [(">=", 20, "s3torchconnector")],
        "data.iter_local": [(">=", 5, "s3torchconnector")],
        "data.iter_local.cpu": [("<=", 0.25, "s3torchconnector")],
        "data.map_local": [(">=", 5, "s3torchconnector")],
        "data.map_local.cpu": [("<=", 0.25, "s3torchconnector")],
        "ckpt.load_1gib": [(">=", 4, "s3torchconnector")],
        "ckpt.load_1gib.cpu": [("<=", 0.25, "s3torchconnector")],
        "ckpt.load_1gib.peak": [("<=", 128)],
        "ckpt.save_1gib": [(">=", 1.8, "s3torchconnector")],
        "ckpt.save_1gib.cpu": [("<=", 0.4, "s3torchconnector")],
        "ckpt.save_1gib.peak": [("<=", 128)],
        "import.penstock": [("<=", 60)],
    },
    "emulator": {
        "emulator.get_1kib": [(">=", 80000), (">=", 200, "moto")],
        "emulator.get_1kib_open": [(">=", 110000)],
        "emulator.get_8mib": [(">=", 6)],
        "emulator.get_8mib.cpu": [("<=", 0.08)],
        "emulator.put_8mib": [(">=", 0.85, "bare MD5")],
        "emulator.put_8mib.kms": [(">=", 2)],
        "emulator.put_1kib_relaxed": [(">=", 35000)],
        "emulator.put_1kib_strict": [(">=", 3000)],
        "emulator.list_1m.first": [("<=", 1)],
        "emulator.list_1m.middle": [("<=", 1)],
        "emulator.list_1m.last": [("<=", 1)],
        "emulator.list_1m_folders": [("<=", 5)],
        "emulator.start": [("<=", 10)],
        "emulator.start_inprocess": [("<=", 3)],
        "emulator.idle": [("<=", 12)],
        "emulator.idle.memory": [("<=", 12)],
        "emulator.big": [("<=", 32)],
        "emulator.connections": [("<=", 2, "without the idle ones")],
    },
    "faults": {
        "faults.journal": [(">=", 0.93, "without a journal")],
    },
}
