"""A slow evaluator of lifecycle rules, written from the Amazon S3 User Guide and independent of the emulator's.

It keeps every version of a bucket in lists and applies the rules of one run to all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

DAY = timedelta(days=1)
WATERFALL = ["STANDARD", "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE"]
# "S3 Intelligent-Tiering is favored by S3 Lifecycle over any storage class, aside from the S3 Glacier and S3 Glacier Deep
# Archive storage classes." Otherwise the cheaper class.
FAVORED = ["STANDARD_IA", "ONEZONE_IA", "GLACIER_IR", "INTELLIGENT_TIERING", "GLACIER", "DEEP_ARCHIVE"]


@dataclass
class Version:
    id: str
    modified: datetime
    marker: bool = False
    size: int = 0
    tags: dict[str, str] = field(default_factory=dict)
    storage_class: str = "STANDARD"


@dataclass
class Upload:
    key: str
    id: str
    initiated: datetime


@dataclass
class Bucket:
    versioning: str = ""  # "", "Enabled" or "Suspended"
    keys: dict[str, list[Version]] = field(default_factory=dict)  # newest first
    uploads: list[Upload] = field(default_factory=list)
    rules: list[dict[str, Any]] = field(default_factory=list)  # as boto3 writes them
    minimum: str = "all_storage_classes_128K"

    def add(self, key: str, version: Version) -> None:
        versions = self.keys.setdefault(key, [])
        if version.id == "null":
            versions[:] = [other for other in versions if other.id != "null"]
        versions.insert(0, version)

    def delete(self, key: str, marker_id: str, now: datetime) -> None:
        if self.versioning == "":
            self.keys.pop(key, None)
        else:
            self.add(key, Version(marker_id, now, marker=True))

    def run(self, now: datetime) -> None:
        """Applies the rules. Ids of new markers are "new", or "null"."""
        for key in list(self.keys):
            versions = self.keys[key]
            self._move(key, versions[0], 0, None, now)
            if not versions[0].marker and self._expires(key, versions[0], now):
                self.delete(key, "null" if self.versioning == "Suspended" else "new", now)
            versions = self.keys.get(key, [])
            above = versions[0] if versions else None
            kept = versions[:1]
            for index, version in enumerate(versions[1:]):
                assert above is not None
                since = max(above.modified, version.modified)
                above = version
                self._move(key, version, index, since, now)
                if not self._expires_noncurrent(key, version, index, since, now):
                    kept.append(version)
            if len(kept) == 1 and kept[0].marker and self._expires_marker(key, kept[0], now):
                kept = []
            self.keys[key] = kept
            if not kept:
                del self.keys[key]
        self.uploads = [upload for upload in self.uploads if not self._aborts(upload, now)]

    # -- actions

    def _applying(self, key: str, version: Version | None) -> list[dict[str, Any]]:
        return [rule for rule in self.rules if rule["Status"] == "Enabled" and applies(rule["Filter"], key, version)]

    def _expires(self, key: str, version: Version, now: datetime) -> bool:
        dates = []
        for rule in self._applying(key, version):
            expiration = rule.get("Expiration", {})
            if "Days" in expiration:
                dates.append(midnight(version.modified, expiration["Days"]))
            if "Date" in expiration:
                dates.append(expiration["Date"])
        return any(date <= now for date in dates)

    def _expires_noncurrent(self, key: str, version: Version, newer: int, since: datetime, now: datetime) -> bool:
        for rule in self._applying(key, version):
            action = rule.get("NoncurrentVersionExpiration")
            if action is None or newer < action.get("NewerNoncurrentVersions", 0):
                continue
            if midnight(since, action["NoncurrentDays"]) <= now:
                return True
        return False

    def _expires_marker(self, key: str, marker: Version, now: datetime) -> bool:
        for rule in self._applying(key, marker):
            expiration = rule.get("Expiration", {})
            days = expiration.get("Days", 0 if expiration.get("ExpiredObjectDeleteMarker") else None)
            if days is not None and midnight(marker.modified, days) <= now:
                return True
        return False

    def _aborts(self, upload: Upload, now: datetime) -> bool:
        return any(
            midnight(upload.initiated, rule["AbortIncompleteMultipartUpload"]["DaysAfterInitiation"]) <= now
            for rule in self.rules
            if rule["Status"] == "Enabled"
            and "AbortIncompleteMultipartUpload" in rule
            and upload.key.startswith(rule["Filter"].get("Prefix", ""))
        )

    def _move(self, key: str, version: Version, newer: int, since: datetime | None, now: datetime) -> None:
        if version.marker:
            return
        by_date: dict[datetime, set[str]] = {}
        for rule in self._applying(key, version):
            for move in rule.get("Transitions" if since is None else "NoncurrentVersionTransitions", []):
                to = move["StorageClass"]
                if newer < move.get("NewerNoncurrentVersions", 0) or self._is_too_small(rule, version, to):
                    continue
                days = move.get("Days", move.get("NoncurrentDays"))
                date = move["Date"] if "Date" in move else midnight(since or version.modified, days)
                by_date.setdefault(date, set()).add(to)
        for date in sorted(by_date):
            if date > now:
                break
            at = version.storage_class
            possible = {to for to in by_date[date] if to == at or can_move(at, to)}
            if possible:
                version.storage_class = max(possible, key=FAVORED.index)

    def _is_too_small(self, rule: dict[str, Any], version: Version, to: str) -> bool:
        conditions = rule["Filter"].get("And", rule["Filter"])
        if "ObjectSizeGreaterThan" in conditions or "ObjectSizeLessThan" in conditions or version.size >= 128 * 1024:
            return False
        return self.minimum != "varies_by_storage_class" or to not in ("GLACIER", "DEEP_ARCHIVE")


def midnight(begin: datetime, days: int) -> datetime:
    """The start of the day after `begin`, plus `days`."""
    return begin.replace(hour=0, minute=0, second=0, microsecond=0) + (days + 1) * DAY


def can_move(from_class: str, to_class: str) -> bool:
    if (from_class, to_class) == ("ONEZONE_IA", "GLACIER_IR"):
        return False
    return WATERFALL.index(from_class) < WATERFALL.index(to_class)


def applies(filter_: dict[str, Any], key: str, version: Version | None) -> bool:
    conditions = filter_.get("And", filter_)
    if not key.startswith(conditions.get("Prefix", "")):
        return False
    tags = conditions.get("Tags", [conditions["Tag"]] if "Tag" in conditions else [])
    above, below = conditions.get("ObjectSizeGreaterThan"), conditions.get("ObjectSizeLessThan")
    if version is None or version.marker:
        return not tags and above is None and below is None
    if any(version.tags.get(tag["Key"]) != tag["Value"] for tag in tags):
        return False
    return (above is None or version.size > above) and (below is None or version.size < below)
