"""What pandas, PyTorch and Lightning do with fsspec's s3fs, on one endpoint. The Python of requirements-clients.txt runs this."""

import os
import sys

import fsspec
import s3fs

endpoint = sys.argv[1]
# No region_name here: s3fs would make it a LocationConstraint, and us-east-1 refuses its own name.
options = {"endpoint_url": endpoint, "client_kwargs": {}}
if os.environ.get("AWS_CA_BUNDLE"):
    options["client_kwargs"]["verify"] = os.environ["AWS_CA_BUNDLE"]
fs = fsspec.filesystem("s3", default_block_size=5 * 2**20, **options)
assert isinstance(fs, s3fs.S3FileSystem)
bucket = f"fsspec-{os.getpid()}"
fs.mkdir(bucket)
assert bucket in [name.strip("/") for name in fs.ls("")]

small, big = os.urandom(1000), os.urandom(11 * 2**20 + 7)
with fs.open(f"{bucket}/dir/small", "wb") as file:
    file.write(small)
with fs.open(f"{bucket}/dir/big", "wb", block_size=5 * 2**20) as file:  # multipart
    file.write(big)
assert fs.cat(f"{bucket}/dir/small") == small
with fs.open(f"{bucket}/dir/big", "rb") as file:
    file.seek(6 * 2**20)
    assert file.read(100) == big[6 * 2**20 : 6 * 2**20 + 100]
assert fs.cat_file(f"{bucket}/dir/big", start=-9) == big[-9:]
assert fs.info(f"{bucket}/dir/big")["size"] == len(big)
assert sorted(fs.find(bucket)) == [f"{bucket}/dir/big", f"{bucket}/dir/small"]
assert fs.ls(bucket, detail=False) == [f"{bucket}/dir"]
assert fs.isdir(f"{bucket}/dir") and fs.isfile(f"{bucket}/dir/small") and not fs.exists(f"{bucket}/none")
assert fs.glob(f"{bucket}/dir/s*") == [f"{bucket}/dir/small"]

fs.copy(f"{bucket}/dir/small", f"{bucket}/copy of+small")
fs.mv(f"{bucket}/copy of+small", f"{bucket}/moved ä")
assert fs.cat(f"{bucket}/moved ä") == small
fs.put_tags(f"{bucket}/moved ä", {"a": "b"})
assert fs.get_tags(f"{bucket}/moved ä") == {"a": "b"}
fs.setxattr(f"{bucket}/moved ä", copy_kwargs={"MetadataDirective": "REPLACE"}, colour="red")
assert fs.getxattr(f"{bucket}/moved ä", "colour") == "red"
assert fs.checksum(f"{bucket}/dir/small") != fs.checksum(f"{bucket}/dir/big")
try:
    fs.open(f"{bucket}/none", "rb").read()
except FileNotFoundError:
    pass
else:
    raise AssertionError("a missing key was read")
fs.rm(bucket, recursive=True)
fs.invalidate_cache()
assert bucket not in [name.strip("/") for name in fs.ls("")]
print("fsspec ok")
