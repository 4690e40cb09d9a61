"""obstore (Rust's object_store) on one endpoint. The Python of requirements-clients.txt runs this."""

import datetime
import os
import sys

import obstore
from obstore.exceptions import NotFoundError
from obstore.store import S3Store

endpoint, bucket = sys.argv[1:]
store = S3Store(
    bucket,
    endpoint=endpoint,
    region="us-east-1",
    access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
    secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
    client_options={"allow_http": True, "allow_invalid_certificates": endpoint.startswith("https")},
)
small, big = os.urandom(1000), os.urandom(11 * 2**20 + 7)
put = obstore.put(store, "dir/small", small)
obstore.put(store, "dir/big", big, use_multipart=True, chunk_size=5 * 2**20)
assert obstore.get(store, "dir/small").bytes() == small
assert obstore.get(store, "dir/big").bytes() == big
assert bytes(obstore.get_range(store, "dir/big", start=100, end=200)) == big[100:200]
assert [bytes(part) for part in obstore.get_ranges(store, "dir/big", starts=[0, 10_000_000], ends=[9, 10_000_009])] == [
    big[:9],
    big[10_000_000:10_000_009],
]
head = obstore.head(store, "dir/small")
assert (head["size"], head["e_tag"]) == (1000, put["e_tag"])
assert [item["path"] for page in obstore.list(store) for item in page] == ["dir/big", "dir/small"]
listing = obstore.list_with_delimiter(store)
assert (listing["common_prefixes"], listing["objects"]) == (["dir"], [])
obstore.copy(store, "dir/small", "a copy+of ä")
obstore.rename(store, "a copy+of ä", "renamed")
assert obstore.get(store, "renamed").bytes() == small
try:
    obstore.put(store, "renamed", b"x", mode="create")
except Exception as error:
    assert "exists" in type(error).__name__.lower(), error
else:
    raise AssertionError("a conditional put overwrote")
signed = obstore.sign(store, "GET", "renamed", datetime.timedelta(minutes=1))
assert "X-Amz-Signature=" in signed
obstore.delete(store, ["dir/big", "dir/small", "renamed"])
try:
    obstore.head(store, "renamed")
except (NotFoundError, FileNotFoundError):
    pass
else:
    raise AssertionError("a deleted object is still there")
print("obstore ok")
