"""The pure parts of the file commands: places, wildcards, filters, sync plans, names of files, the meter."""

from __future__ import annotations

import argparse
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from penstock import S3DataLossError
from penstock._commands import _options, _plan, _pool, _urls
from penstock._commands._filters import Filters
from penstock._commands._plan import CaseConflicts, Entry, FileFolderConflicts
from penstock._commands._progress_meter import Meter, duration_text
from penstock._commands._urls import S3Url, UsageError


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("s3://bucket", S3Url("bucket", "")),
        ("s3://bucket/", S3Url("bucket", "")),
        ("s3://bucket/a//b/", S3Url("bucket", "a//b/")),
        ("s3://bucket//a", S3Url("bucket", "/a")),
        ("s3://bucket/a?b#c%20", S3Url("bucket", "a?b#c%20")),
        ("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/mine/a/b", S3Url(
            "arn:aws:s3:eu-west-1:123456789012:accesspoint/mine", "a/b")),
        ("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint:mine/a", S3Url(
            "arn:aws:s3:eu-west-1:123456789012:accesspoint:mine", "a")),
        ("a/b", "a/b"),
        ("./s3:", "./s3:"),
        ("-", "-"),
    ],
)  # fmt: skip
def test_places(text, place):
    assert _urls.parse(text) == place


@pytest.mark.parametrize("text", ["s3:/bucket/key", "S3://bucket/key", "s3://", "s3:///key", ""])
def test_texts_that_are_no_places(text):
    with pytest.raises(UsageError):
        _urls.parse(text)


def s3(key: str, recursive: bool = False, raw: bool = False) -> _urls.Source:
    return _urls.s3_source(S3Url("b", key), recursive=recursive, raw=raw)


def test_a_folder_needs_recursive_and_ends_in_a_slash():
    assert s3("logs", recursive=True).prefix == "logs/"
    assert s3("logs/", recursive=True) == s3("logs", recursive=True)
    assert s3("", recursive=True).prefix == ""
    for key in ("logs/", ""):
        with pytest.raises(UsageError, match="--recursive"):
            s3(key)
    assert s3("logs") == _urls.Source(S3Url("b", "logs"), False)


@pytest.mark.parametrize(
    ("key", "root", "prefix", "matching", "others"),
    [
        ("a/b*/c.gz", "a/", "a/b", ["b/c.gz", "bb/x/c.gz"], ["c.gz", "b/c.gzip", "xb/c.gz"]),
        ("*", "", "", ["a", "a/b", ""], []),
        ("a/[x].t?t", "a/", "a/[x].t", ["[x].txt"], ["x.txt", "[x].tt"]),
    ],
)
def test_wildcards(key, root, prefix, matching, others):
    source = s3(key)
    assert (source.root, source.tree, source.prefix) == (S3Url("b", root), True, prefix)
    assert all(source.selects(name) for name in matching)
    assert not any(source.selects(name) for name in others)
    assert s3(key, raw=True) == _urls.Source(S3Url("b", key), False)


def test_local_sources():
    def local(path: str, recursive: bool = False, exists: bool = True, folder: bool = False) -> _urls.Source:
        return _urls.local_source(path, recursive=recursive, exists=lambda _: exists, is_folder=lambda _: folder)

    assert local("a*") == _urls.Source("a*", False), "a file with this name exists"
    assert local("a*", exists=False).root == "./"
    assert local("d/a*", exists=False).root == "d/"
    assert local("d", recursive=True, folder=True) == _urls.Source("d/", True)
    with pytest.raises(UsageError, match="--recursive"):
        local("d", folder=True)
    with pytest.raises(UsageError, match="does not exist"):
        local("d", recursive=True, exists=False)
    with pytest.raises(UsageError, match="does not exist"):
        local("d/", exists=False)


@pytest.mark.parametrize(
    ("source", "target", "folder", "place"),
    [
        ("d/f", S3Url("b", ""), False, S3Url("b", "f")),
        ("d/f", S3Url("b", "p"), False, S3Url("b", "p")),
        ("d/f", S3Url("b", "p/"), False, S3Url("b", "p/f")),
        (S3Url("b", "p/k"), "x", False, "x"),
        (S3Url("b", "p/k"), "x", True, "x/k"),
        (S3Url("b", "p/k"), "x/", False, "x/k"),
        (S3Url("b", "p/k"), "/", True, "/k"),
    ],
)
def test_targets_of_single_files(source, target, folder, place):
    assert _urls.single_target(source, target, lambda _: folder) == place


@pytest.mark.parametrize("name", ["../a", "a/../b", "..", "/a", "a//b", "./a", "a/.", "a\0b", "a/"])
def test_names_that_would_leave_the_folder(name):
    assert _urls.name_problem(name)


@pytest.mark.parametrize("name", ["a", "a/b", "..a", "...", "a\\..\\b", "a\nb", " "])
def test_names_that_are_paths(name):
    assert not _urls.name_problem(name)


def test_the_last_filter_that_matches_wins():
    filters = Filters([(False, "*"), (True, "*.txt"), (False, "tmp/*")])
    assert [name for name in ("a.txt", "a.bin", "d/a.txt", "tmp/a.txt") if filters.selects(name)] == ["a.txt", "d/a.txt"]
    assert Filters([(True, "*.txt")]).selects("a.bin"), "all names are selected until a filter excludes them"
    assert not Filters([(False, "[!a]?")]).selects("bc") and Filters([(False, "[!a]?")]).selects("ac")


def entry(name: str, size: int = 1, modified: float = 0, bucket: str = "") -> Entry:
    return Entry(name, S3Url(bucket, name) if bucket else name, size, modified)


def planned(sources, targets, root="d/", filters=(), rule=_plan.differs_by_time, **options):
    steps = _plan.sync(iter(sources), iter(targets), root, Filters(filters), rule, **options)
    return [("copy", step.transfer.entry.name) if step.transfer else ("delete", step.delete.name) for step in steps]


def test_sync_copies_what_is_missing_or_has_another_size():
    sources = [entry("a", bucket="s"), entry("b", 2, bucket="s"), entry("c", bucket="s")]
    assert planned(sources, [entry("b"), entry("c")]) == [("copy", "a"), ("copy", "b")]


@pytest.mark.parametrize(
    ("rule", "upload", "download"),
    [
        # Whether a target that is older than, as old as, newer than the source is replaced.
        (_plan.differs_by_time, [True, False, False], [False, False, True]),
        (_plan.differs_by_exact_time, [True, False, False], [True, False, True]),
        (_plan.never_differs, [False] * 3, [False] * 3),
    ],
)
def test_rules_of_sync(rule, upload, download):
    times = (9, 10, 11)
    assert [rule(entry("a", 1, 10), entry("a", 1, time, "s")) for time in times] == upload
    assert [rule(entry("a", 1, 10, "s"), entry("a", 1, time, "t")) for time in times] == upload, "copies inside S3"
    assert [rule(entry("a", 1, 10, "s"), entry("a", 1, time)) for time in times] == download


def test_sync_deletes_only_when_told_and_never_what_is_excluded():
    targets = [entry("a"), entry("b.keep"), entry("c")]
    assert planned([], targets) == []
    assert planned([], targets, delete=True, filters=[(False, "*.keep")]) == [("delete", "a"), ("delete", "c")]
    marker = entry("folder/", 0, bucket="t")
    assert planned([], [marker], S3Url("t", ""), delete=True) == [], "folder markers have no local file"


NAMES = st.text(st.sampled_from("a-/\u00e9\U0001f600"), min_size=1, max_size=4)
SIZES = st.dictionaries(NAMES, st.integers(0, 2), max_size=12)


def ascending(sizes: dict[str, int], bucket: str = "") -> list[Entry]:
    return [entry(name, sizes[name], bucket=bucket) for name in sorted(sizes, key=str.encode)]


@given(SIZES, SIZES)
def test_a_sync_makes_both_sides_equal(sources, targets):
    steps = list(_plan.sync(iter(ascending(sources, "s")), iter(ascending(targets)), "d/", Filters([(False, "-*")]),
                            _plan.never_differs, delete=True))  # fmt: skip
    result = dict(targets)
    for step in steps:
        if step.transfer is not None:
            result[step.transfer.target.removeprefix("d/")] = step.transfer.entry.size
        else:
            del result[step.delete.name]
    kept = {name: size for name, size in targets.items() if name.startswith("-")}
    assert result == kept | {name: size for name, size in sources.items() if not name.startswith("-")}
    assert len(steps) == len({step.transfer.entry.name if step.transfer else step.delete.name for step in steps})


@given(st.sets(NAMES, max_size=12))
def test_conflicts_of_files_and_folders(names):
    conflicts, before = FileFolderConflicts(), []
    for name in sorted(names, key=str.encode):
        above = conflicts.file_above(name)
        assert (above is not None) == any(name.startswith(earlier + "/") for earlier in before)
        before.append(name)


def test_names_are_merged_by_their_bytes():
    names = sorted(["a/b", "a-b", "a.b", "a", "ä", "z", "\U0001f600", "\uffff"], key=str.encode)
    sources = [entry(name, bucket="s") for name in names]
    assert planned(sources, [entry(name) for name in names]) == []
    assert list(_plan.in_order(sources, "x")) == sources


def test_a_listing_that_is_not_sorted_deletes_nothing():
    with pytest.raises(S3DataLossError, match="not in ascending order"):
        list(_plan.in_order([entry("b"), entry("a")], "s3://b/"))
    with pytest.raises(S3DataLossError):
        list(_plan.in_order([entry("a"), entry("a")], "s3://b/"))


def test_a_file_cannot_be_a_folder_too():
    conflicts = FileFolderConflicts()
    names = ["a", "a-b", "a-b/c", "a/b", "a/b/c", "ab", "b/c"]
    assert [conflicts.file_above(name) for name in names] == [None, None, "a-b", "a", "a", None, None]


def test_names_that_differ_only_in_case():
    cases = CaseConflicts()
    assert [cases.earlier(name) for name in ("A", "a", "b", "A")] == [None, "A", None, None]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [("a=1", {"a": "1"}), ("a=1,b=", {"a": "1", "b": ""}), ('{"a": "1,2"}', {"a": "1,2"}), ("a=b=c", {"a": "b=c"})],
)
def test_pairs(text, pairs):
    assert _options._pairs(text) == pairs


@pytest.mark.parametrize("text", ["a", "=1", "a=1,b", "{", '{"a": 1}'])
def test_texts_that_are_no_pairs(text):
    with pytest.raises(argparse.ArgumentTypeError):
        _options._pairs(text)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class FakeDisplay:
    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, text: str, done: int, total: int) -> None:
        self.shown.append(text)

    def hide(self) -> None:
        self.shown.append("")

    close = hide


def test_the_meter_shows_bytes_files_rate_and_time_left():
    clock, display = Clock(), FakeDisplay()
    meter = Meter(lambda: display, clock)
    for _ in range(2):
        meter.plan(2048)
    clock.now += 0.5
    meter.add(1024)
    assert display.shown == [], "short commands show nothing"
    clock.now += 1.5
    meter.planning = False
    meter.add(1024)
    assert display.shown == ["2.0 KiB of 4.0 KiB, 0 of 2 files, 1.0 KiB/s, 0:02 left"]
    meter.end_file()
    assert len(display.shown) == 1, "not more often than every interval"
    meter.close()
    clock.now += 10
    meter.add(1)
    assert display.shown[1:] == [""]


def test_durations():
    assert [duration_text(seconds) for seconds in (0.4, 59.6, 3723)] == ["0:00", "1:00", "1:02:03"]


def test_the_pool_limits_the_weight_in_progress():
    lock, running, most, done = threading.Lock(), 0, 0, []

    together = threading.Barrier(4, timeout=60)

    def work(weight: int) -> None:
        nonlocal running, most
        with lock:
            running += weight
            most = max(most, running)
        if weight == 1:
            together.wait()  # four run at the same time
        with lock:
            running -= weight
            done.append(weight)

    _pool.Pool(4).run((min(weight, 4), lambda weight=weight: work(weight)) for weight in ([1] * 4 + [3, 4, 9]) * 20)
    assert len(done) == 140 and most == 9  # 9 is run alone
    assert _pool.Pool(4).run((weight, lambda: None) for weight in [9] * 3) is None


def test_the_pool_ends_the_work_in_progress_before_it_raises():
    started, ended = threading.Event(), threading.Event()
    pool = _pool.Pool(2)

    def work() -> None:
        started.set()
        assert pool.stopping.wait(60)
        ended.set()
        raise _pool.Stopped

    def tasks():
        yield 1, work
        assert started.wait(60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.run(tasks())
    assert ended.is_set()


def test_the_pool_raises_an_exception_of_its_work():
    def fail() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        _pool.Pool(2).run((1, fail) for _ in range(100))


def test_weights():
    mib = 1024**2
    assert [_pool.weight_of(size) for size in (0, 1, 8 * mib, 8 * mib + 1, 10**12)] == [1, 1, 1, 2, 8]
