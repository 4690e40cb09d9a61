"""The retention of a training job's checkpoints, tested in about a second: the clock of an emulator moves, not the test.

The job keeps a checkpoint a day under `daily/` for a week, and one a week under `weekly/`, in the archive after 30 days. Unlike
the other programs, this one needs no S3 service: it starts an emulator of its own.
"""

from __future__ import annotations

import penstock
from penstock_emulator import Emulator

BUCKET = "training"
DAY_S = 86_400
RULES = """<LifecycleConfiguration>
  <Rule>
    <ID>daily</ID><Filter><Prefix>daily/</Prefix></Filter><Status>Enabled</Status>
    <Expiration><Days>7</Days></Expiration>
    <AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>
  </Rule>
  <Rule>
    <ID>weekly</ID><Filter><And><Prefix>weekly/</Prefix><ObjectSizeGreaterThan>0</ObjectSizeGreaterThan></And></Filter>
    <Status>Enabled</Status>
    <Transition><Days>30</Days><StorageClass>GLACIER</StorageClass></Transition>
  </Rule>
</LifecycleConfiguration>"""


def classes(client: penstock.S3Client, prefix: str) -> dict[str, str]:
    """The storage class of every object below the prefix."""
    pages = client.list_objects(BUCKET, prefix)
    return {info.key: str(info.storage_class) for page in pages for info in page.object_info}


def main() -> None:
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket(BUCKET)
        client.put_bucket_configuration(BUCKET, "lifecycle", RULES)
        emulator.clock().freeze()

        for day in range(60):
            client.put(BUCKET, f"daily/{day:03}.pt", b"weights")
            if day % 7 == 0:
                client.put(BUCKET, f"weekly/{day:03}.pt", b"weights")
            emulator.clock().advance(DAY_S)
            emulator.run_lifecycle()

        daily = classes(client, "daily/")
        print(f"daily checkpoints after 60 days: {', '.join(daily)}")
        assert len(daily) == 7 and "daily/059.pt" in daily

        weekly = classes(client, "weekly/")
        archived = [key for key, storage_class in weekly.items() if storage_class == "GLACIER"]
        print(f"weekly checkpoints: {len(weekly)}, in the archive: {', '.join(archived)}")
        assert len(weekly) == 9 and archived == [f"weekly/{day:03}.pt" for day in (0, 7, 14, 21, 28)]

        # The console and scripts can ask in advance.
        preview = emulator.preview_lifecycle(by=emulator.clock().now.replace(year=emulator.clock().now.year + 1))
        expiring = [entry["key"] for entry in preview["log"] if entry["action"] == "expire_object"]
        assert sorted(expiring) == sorted(daily)
    print(f"ok: {len(daily)} daily and {len(weekly)} weekly checkpoints kept")


if __name__ == "__main__":
    main()
