"""Places on the command line: files and folders, ``s3://bucket/key``, and wildcards. No I/O except through arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

STDIO = "-"

_TEMPORARY_NAME = 200  # bytes that the name of a temporary file has of a long name

_WILDCARD = re.compile(r"[*?]")
# ARNs may contain a slash: arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME
_ACCESS_POINT = re.compile(r"(arn:[^/]*:accesspoint[:/][^/]+)(?:/(.*))?", re.DOTALL)


class UsageError(ValueError):
    """The arguments of a command do not fit together."""


class S3Url(NamedTuple):
    """A bucket, and a key or the beginning of keys."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    @property
    def is_folder(self) -> bool:
        """Whether this is a bucket, or a key that ends in a slash."""
        return not self.key or self.key.endswith("/")

    @property
    def folder(self) -> S3Url:
        """This place as a folder: with a slash at the end of the key, or the whole bucket."""
        return self if self.is_folder else S3Url(self.bucket, self.key + "/")


Place: TypeAlias = S3Url | str  # str: the path of a file or folder, or STDIO


class Source(NamedTuple):
    """The files or objects that an argument selects.

    Attributes:
        root: A single object or file; or the folder that names are relative to, and its key or path ends in a slash.
        tree: Whether everything below `root` is selected.
        prefix: S3: the beginning of the keys to list, at least the key of `root`.
        pattern: Names must match; None: all names.
        wildcard: The S3 URI with the wildcard that `pattern` comes from.
    """

    root: Place
    tree: bool
    prefix: str = ""
    pattern: re.Pattern[str] | None = None
    wildcard: S3Url | None = None

    def selects(self, name: str) -> bool:
        return self.pattern is None or self.pattern.fullmatch(name) is not None


def parse(text: str) -> Place:
    """Parses an argument. Texts that do not begin with ``s3://`` are paths."""
    if not text.startswith("s3://"):
        if text.lower().startswith("s3:"):
            raise UsageError(f"invalid S3 URI {text!r}: write s3://bucket/key, or ./{text} for a local file")
        if not text:
            raise UsageError("a path is empty; give a local path, or s3://bucket/key")
        return text
    rest = text.removeprefix("s3://")
    arn = _ACCESS_POINT.fullmatch(rest)
    bucket, key = (arn[1], arn[2] or "") if arn else (rest.partition("/")[0], rest.partition("/")[2])
    if not bucket:
        raise UsageError(f"invalid S3 URI {text!r}: it names no bucket; write s3://bucket/key")
    return S3Url(bucket, key)


def parse_s3(text: str) -> S3Url:
    """Parses an argument that must be an S3 URI."""
    place = parse(text)
    if not isinstance(place, S3Url):
        raise UsageError(f"{text!r} is not an S3 URI; write s3://bucket/key")
    return place


def parse_object(text: str) -> S3Url:
    """Parses an argument that must be the S3 URI of one object."""
    url = parse_s3(text)
    if not url.key:
        raise UsageError(f"{text!r} is a bucket; write the S3 URI of an object, s3://bucket/key")
    return url


def wildcard_regex(pattern: str) -> re.Pattern[str]:
    """Translates a pattern: ``*`` matches any characters, slashes included; ``?`` matches one character."""
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(character) or re.escape(character) for character in pattern), re.DOTALL)


def _with_wildcard(text: str) -> tuple[str, str, re.Pattern[str]] | None:
    """Splits a text with a wildcard into its folder, the text before the wildcard, and the pattern below the folder."""
    found = _WILDCARD.search(text)
    if found is None:
        return None
    begin = text[: found.start()]
    root = begin[: begin.rfind("/") + 1]
    return root, begin, wildcard_regex(text[len(root) :])


def s3_source(url: S3Url, *, recursive: bool, raw: bool = False) -> Source:
    """Returns what an S3 URI selects.

    Args:
        recursive: Select everything below the folder ``url/``.
        raw: Take ``*`` and ``?`` as plain characters.

    Raises:
        UsageError: The URI is a folder and `recursive` is false.
    """
    split = None if raw else _with_wildcard(url.key)
    if split is not None:
        root, prefix, pattern = split
        return Source(S3Url(url.bucket, root), True, prefix, pattern, url)
    if recursive:
        return Source(url.folder, True, url.folder.key)
    if url.is_folder:
        raise UsageError(f"{url} is a {'folder' if url.key else 'bucket'}; add --recursive for everything in it")
    return Source(url, False)


def local_source(
    path: str,
    *,
    recursive: bool,
    raw: bool = False,
    exists: Callable[[str], bool] = os.path.lexists,
    is_folder: Callable[[str], bool] = os.path.isdir,
) -> Source:
    """Returns what a local path selects. A path that exists has no wildcards. Arguments and errors as in :func:`s3_source`."""
    split = None if raw or exists(path) else _with_wildcard(path)
    if split is not None:
        root, _, pattern = split
        return Source(root or "./", True, "", pattern)
    if not is_folder(path):
        if path.endswith("/") or (recursive and not exists(path)):
            raise UsageError(f"the folder {path!r} does not exist")
        return Source(path, False)
    if not recursive:
        raise UsageError(f"{path!r} is a folder; add --recursive for everything in it")
    return Source(path if path.endswith("/") else path + "/", True)


def base_name(place: Place) -> str:
    """Returns the text after the last slash."""
    return (place.key if isinstance(place, S3Url) else place).rpartition("/")[2]


def below(root: Place, name: str) -> Place:
    """Returns the place with a relative name below a folder."""
    if isinstance(root, S3Url):
        return S3Url(root.bucket, root.key + name)
    return root + name


def target_root(target: Place) -> Place:
    """Returns the target of a tree as a folder, with a slash at its end."""
    if isinstance(target, S3Url):
        return target.folder
    return target if target.endswith("/") else target + "/"


def single_target(source: Place, target: Place, is_folder: Callable[[str], bool] = os.path.isdir) -> Place:
    """Returns where a single file or object goes: to `target`, or below it if it is a folder."""
    into = target.is_folder if isinstance(target, S3Url) else target.endswith("/") or is_folder(target)
    return below(target_root(target), base_name(source)) if into else target


def name_problem(name: str) -> str:
    """Returns why a relative name cannot be a file below a folder; empty: it can.

    Keys are not paths: they may have components that would leave the folder, or that no file system can store.
    """
    if "\0" in name:
        return "the key has a NUL character, which no file name can have"
    for component in name.split("/"):
        if component in (".", ".."):
            return f"the key has the component {component!r}, which would be another folder"
        if not component:
            return "the key has an empty component ('//', or a '/' at its beginning), which no path can have"
    return ""


def key_problem(name: str) -> str:
    """Returns why a file's name cannot be a key; empty: it can."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "the name is not UTF-8, as S3 keys are; rename the file"
    return ""


def temporary_name(name: str, identity: str) -> str:
    """Returns the name of a temporary file beside `name`, or with a part of its identity the beginning of such names."""
    return f".{os.fsdecode(os.fsencode(name)[:_TEMPORARY_NAME])}.penstock-{identity}"


def partial_name(name: str, identity: str) -> str:
    """Returns the name of the file beside `name` that has the bytes of an incomplete download.

    Args:
        identity: Of the transfer: 32 hexadecimal digits.
    """
    return f"{temporary_name(name, identity)}.partial"


def is_partial(name: str) -> bool:
    """Whether a file's name is one of :func:`partial_name`."""
    begin, _, identity = name.removesuffix(".partial").rpartition(".penstock-")
    return name.endswith(".partial") and begin.startswith(".") and len(identity) == 32
