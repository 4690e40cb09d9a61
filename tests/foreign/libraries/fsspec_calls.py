"""Calls of fsspec's interface whose results s3fs and penstock.fsspec are compared by.

As a program, with the Python of requirements-clients.txt, it makes the calls with s3fs and prints the results as JSON.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import traceback
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 2**20


def kind(error: BaseException) -> str:
    """Name of the exception's class, or of its first base class that Python defines."""
    return next(each.__name__ for each in type(error).__mro__ if hasattr(builtins, each.__name__))


def fetch(url: str) -> str:
    return urllib.request.urlopen(url).read().decode()


class Calls:
    """The calls on one file system. Each method that starts with `of_` returns a value for JSON.

    Args:
        fs: The file system, with ``version_aware=True``.
        make: Returns another file system with further arguments.
        bucket: A bucket with versioning and one open multipart upload.
        folder: An empty local folder.
    """

    def __init__(self, fs: Any, make: Callable[..., Any], bucket: str, folder: Path) -> None:
        self.fs, self.make, self.bucket, self.folder = fs, make, bucket, folder

    def results(self) -> dict[str, Any]:
        found = {}
        for name in sorted(name for name in dir(self) if name.startswith("of_")):
            try:
                value = json.dumps(getattr(self, name)())
            except Exception:
                value = json.dumps("failed: " + traceback.format_exc())
            found[name] = json.loads(value.replace(self.bucket, "BUCKET"))
        return found

    def raised(self, name: str, *args: Any, **kwargs: Any) -> str:
        try:
            value = getattr(self.fs, name)(*args, **kwargs)
            if name == "open":
                value = value.read()
        except Exception as error:
            return kind(error)
        return f"returned {value!r}"[:100]

    def file(self, name: str, data: bytes = b"data") -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return str(path)

    # ---- contents

    def of_content_types(self) -> Any:
        fs, base = self.fs, f"{self.bucket}/types"
        for name in ("a.html", "b.csv.gz", "c", "d.json"):
            fs.put_file(self.file(name), f"{base}/{name}")
        fs.put(self.file("e.txt"), f"{base}/e.txt")
        fs.put(str(self.folder / "a.html"), f"{base}/f", ContentType="text/plain")
        fs.put(self.file("tree/g.png"), f"{base}/tree/")
        fs.pipe(f"{base}/h.html", b"x")
        fs.pipe({f"{base}/i.html": b"x", f"{base}/j": b"x"})
        fs.pipe(f"{base}/k", b"x", ContentType="text/css", CacheControl="no-store", ContentLanguage="de")
        with fs.open(f"{base}/l.html", "wb") as file:
            file.write(b"x")
        return {name: fs.info(name, refresh=True)["ContentType"] for name in fs.find(base)}

    def of_attributes(self) -> Any:
        given = {
            "ServerSideEncryption": "AES256",
            "StorageClass": "STANDARD_IA",
            "CacheControl": "max-age=5",
            "Tagging": "a=b&c=",
        }
        fs, base = self.make(s3_additional_kwargs=given), f"{self.bucket}/attributes"
        fs.pipe(f"{base}/piped", b"x")
        fs.put(self.file("put"), f"{base}/put")
        with fs.open(f"{base}/opened", "wb") as file:
            file.write(b"x")
        fs.touch(f"{base}/touched")
        fs.cp(f"{base}/piped", f"{base}/copied")
        with fs.open(f"{base}/opened", "ab") as file:
            file.write(b"y")
        return fs.cat(f"{base}/opened").decode()

    # ---- metadata

    def of_metadata(self) -> Any:
        fs, path = self.fs, f"{self.bucket}/metadata"
        fs.pipe(path, b"x", ContentType="text/plain", Metadata={"kept": "1", "gone": "2"})
        fs.setxattr(path, copy_kwargs={"ContentType": "text/css"}, set_here="3", gone=None)
        with fs.open(path) as file:
            of_file = [file.getxattr("set_here"), file.metadata(), fetch(file.url())]
        names = [fs.getxattr(path, name) for name in ("set_here", "set-here", "kept", "gone", "never")]
        return [fs.metadata(path), names, of_file, fs.info(path, refresh=True)["ContentType"], fs.cat(path).decode()]

    def of_tags(self) -> Any:
        fs, path = self.fs, f"{self.bucket}/tags"
        fs.pipe(path, b"x")
        found = [fs.get_tags(path)]
        for tags, mode in (({"a": "1", "b": "2"}, "o"), ({"b": "3", "c": "4"}, "m"), ({"d": "5"}, "o")):
            fs.put_tags(path, tags, mode=mode)
            found.append(fs.get_tags(path))
        return [*found, self.raised("put_tags", path, {}, mode="x"), self.raised("get_tags", f"{self.bucket}/none")]

    def of_urls(self) -> Any:
        fs, path = self.fs, f"{self.bucket}/a b/\u00e4+"
        fs.pipe(path, b"behind a URL")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(fs.sign(path, expiration=77)).query)
        plain = fs.url(path, ResponseContentType="text/x")
        with urllib.request.urlopen(plain) as response:
            response_text = [response.headers["Content-Type"], response.read().decode()]
        request = urllib.request.Request(fs.url(path, client_method="put_object"), data=b"put", method="PUT")
        urllib.request.urlopen(request).close()
        default = urllib.parse.parse_qs(urllib.parse.urlsplit(fs.url(path)).query)["X-Amz-Expires"]
        return [query["X-Amz-Expires"], default, response_text, fs.cat(path).decode()]

    # ---- versions

    def of_versions(self) -> Any:
        fs, folder = self.fs, f"{self.bucket}/versions"
        path = f"{folder}/v"
        fs.pipe(path, b"old")
        old = fs.open(path)
        fs.pipe(path, b"newer")
        versions = fs.object_version_info(path)
        first = versions[-1]["VersionId"]
        named = f"{path}?versionId={first}"
        with fs.open(path, version_id=first) as file, fs.open(named) as same, fs.open(named, "r") as text:
            opened = [file.read().decode(), same.read().decode(), text.read()]
        fs.get_file(path, str(self.folder / "version"), version_id=first)
        fs.cp_file(named, f"{folder}/copy")
        return {
            "old": old.read().decode(),
            "opened": opened,
            "info": [fs.info(path, version_id=first)["size"], fs.info(named)["size"], fs.info(path, refresh=True)["size"]],
            "cat": [fs.cat_file(path, version_id=first).decode(), fs.cat_file(path).decode()],
            "got": (self.folder / "version").read_text(),
            "copy": fs.cat_file(f"{folder}/copy").decode(),
            "versions": [[each["Key"], each["Size"], each["IsLatest"], each["StorageClass"]] for each in versions],
            "listed": [len(fs.ls(folder, versions=True, refresh=True)), fs.ls(folder, detail=False)],
            "exists": [fs.exists(named), self.raised("info", f"{path}?versionId={'0' * 32}")],
            "is_versioned": fs.is_bucket_versioned(self.bucket),
        }  # fmt: skip

    def of_unaware(self) -> Any:
        self.fs.pipe(f"{self.bucket}/unaware", b"x")
        aware, self.fs = self.fs, self.make(version_aware=False)
        path = f"{self.bucket}/unaware"
        try:
            return [self.raised("open", path, version_id="v"), self.raised("info", path, version_id="v")]
        finally:
            self.fs = aware

    def of_replaced_before_the_first_read(self) -> Any:
        fs, path = self.make(version_aware=False), f"{self.bucket}/replaced"
        fs.pipe(path, b"1")
        with fs.open(path) as file:
            fs.pipe(path, b"22")
            try:
                return file.read().decode()
            except Exception as error:
                return kind(error)

    # ---- directories

    def of_find_with_prefix(self) -> Any:
        fs, base = self.fs, f"{self.bucket}/find"
        fs.pipe({f"{base}/{name}": b"x" for name in ("a/1", "ab", "b", "a/2/3")})
        given: list[dict[str, Any]] = [{"prefix": None}, {"prefix": ""}, {"prefix": "a"}, {"prefix": "a", "maxdepth": 1}]
        return [fs.find(base, **arguments) for arguments in given]

    def of_buckets(self) -> Any:
        fs, new = self.fs, f"{self.bucket}-new"
        fs.mkdir(new)
        found = [self.raised(name, new) for name in ("mkdir", "makedirs")]
        fs.makedirs(new, exist_ok=True)
        found.append(fs.exists(new))
        fs.rm(new)
        fs.invalidate_cache()
        unknown = f"{self.bucket}-unknown"
        found += [fs.exists(new), self.raised("rm", unknown, recursive=True)]
        found += [self.raised(name, unknown) for name in ("rm", "ls", "rmdir")]
        return [*found, self.raised("mkdir", f"{unknown}/d", create_parents=False)]

    def of_forgotten_directories(self) -> Any:
        fs, path = self.fs, f"{self.bucket}/made/up"
        fs.mkdir(path)
        fs.invalidate_cache()
        return [fs.exists(path), fs.isdir(path)]

    # ---- multipart uploads

    def of_merge(self) -> Any:
        fs, base = self.fs, f"{self.bucket}/merge"
        fs.pipe({f"{base}/1": b"1" * 5 * MIB, f"{base}/2": b"2" * 6 * MIB, f"{base}/3": b"33"})
        fs.merge(f"{base}/all", [f"{base}/1", f"{base}/2", f"{base}/3"])
        data = fs.cat_file(f"{base}/all")
        return [len(data), data[:: 4 * MIB].decode(), data[-3:].decode(), fs.info(f"{base}/all", refresh=True)["ETag"]]

    def of_uploads(self) -> Any:
        fs = self.fs
        found = [[each["Key"], len(each["UploadId"]) > 0] for each in fs.list_multipart_uploads(self.bucket)]
        fs.clear_multipart_uploads(self.bucket)
        return [found, fs.list_multipart_uploads(self.bucket)]

    # ---- names

    def of_names(self) -> Any:
        fs, path = self.fs, f"{self.bucket}/names/n"
        fs.pipe(path, b"12345")
        fs.connect(refresh=True)
        with fs.open(path) as file:
            of_file = [file.bucket, file.key, file.path, file.size, file.details["size"], file.info()["size"], file.s3 is fs]
        return [
            of_file,
            fs.checksum(path),
            fs.du(f"{self.bucket}/names"),
            fs.split_path(f"s3://{self.bucket}/names/n?versionId=7"),
            fs.default_block_size,
            fs.modified(path) == fs.info(path, refresh=True)["LastModified"],
            [list(each) for each in fs.walk(f"{self.bucket}/names")],
            self.make(version_aware=False, default_block_size=6 * MIB).default_block_size,
            fs._get_kwargs_from_urls("s3://b/k?versionId=1"),
        ]


def main() -> None:
    import s3fs

    endpoint, bucket, folder = sys.argv[1:]
    base: dict[str, Any] = {
        "endpoint_url": endpoint,
        "version_aware": True,
        "use_listings_cache": False,
        "skip_instance_cache": True,
    }
    base["config_kwargs"] = {"signature_version": "s3v4"}

    def make(**arguments: Any) -> Any:
        return s3fs.S3FileSystem(**{**base, **arguments})

    print(json.dumps(Calls(make(), make, bucket, Path(folder)).results()))


if __name__ == "__main__":
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    main()
