#include "emulator/store/checks/fsck.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/blobs/block_checksums.h"
#include "emulator/store/checks/fsck_digests.h"
#include "emulator/store/records/codec.h"
#include "emulator/store/sqlite/commit_check.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/directory_lock.h"
#include "emulator/store/system/directory_names.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;

struct BlobUse {
  std::int64_t counted = 0;  // number of references in the blob's row
  std::int64_t found = 0;    // number of references in records
  std::uint64_t size = 0;
  bool in_file = false;
  bool readable = true;
};

// One run. Reads one snapshot of a database that no other process uses.
class Checker {
 public:
  Checker(Connection& connection, const FsckOptions& options, FsckReport& report)
      : connection_(connection),
        options_(options),
        report_(report),
        paths_(std::make_shared<BlobRegistry>(options.directory, 0)) {}

  Result<void> Run() {
    PENSTOCK_TRY(CheckDatabase());
    PENSTOCK_TRY(LoadBuckets());
    PENSTOCK_TRY(LoadBlobs());
    PENSTOCK_TRY(CheckVersions(
        "SELECT bucket, key, version_id, is_marker, size, etag, checksum_algorithm, checksum_type,"
        " checksum, attributes, tags, content, parts FROM current"));
    PENSTOCK_TRY(CheckVersions(
        "SELECT bucket, key, version_id, is_marker, size, etag, checksum_algorithm, checksum_type,"
        " checksum, attributes, tags, content, parts FROM versions"));
    PENSTOCK_TRY(CheckUploads());
    PENSTOCK_TRY(CheckParts());
    CheckReferences();
    return CheckOrphans();
  }

 private:
  struct Upload {
    std::string subject;
    std::string checksum_algorithm;
  };
  // The bytes that a record refers to.
  struct Bytes {
    std::vector<SliceReference> slices;
    std::uint64_t size = 0;
    bool whole = true;  // every slice exists
  };

  void AddFinding(std::string code, std::string subject, std::string message,
                  bool is_note = false) {
    if (report_.findings.size() >= kFsckFindings) {
      ++report_.omitted;
      return;
    }
    report_.findings.push_back({std::move(code), std::move(subject), std::move(message), is_note});
  }

  // The later checks read damaged pages as they are.
  Result<void> CheckDatabase() {
    PENSTOCK_ASSIGN(std::vector<std::string> problems, FindDatabaseDamage(connection_));
    for (std::string& problem : problems)
      AddFinding("database", connection_.path(), std::move(problem));
    connection_.ReadDamagedPages();
    return Ok();
  }

  Result<void> LoadBuckets() {
    Query query(connection_, "SELECT id, name, configuration FROM buckets");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) break;
      buckets_[query.Int(0)] = query.Text(1);
      if (!DecodeAttributes(query.Bytes(2)))
        AddFinding("record", "s3://" + query.Text(1), "its configuration is damaged");
    }
    report_.buckets = buckets_.size();
    return Ok();
  }

  Result<void> LoadBlobs() {
    Query query(connection_, "SELECT id, refs, size, length(bytes), checksums FROM blobs");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) break;
      const std::int64_t id = query.Int(0);
      BlobUse blob{query.Int(1), 0, static_cast<std::uint64_t>(query.Int(2)), query.IsNull(3),
                   true};
      blob.readable =
          blob.in_file ? CheckFile(id, blob.size) : CheckInline(id, blob.size, query.Int(3));
      if (blob.readable && !query.IsNull(4)) PENSTOCK_TRY(CheckBlocks(id, blob, query.Text(4)));
      blobs_.emplace(id, blob);
    }
    report_.blobs = blobs_.size();
    return Ok();
  }

  bool CheckInline(std::int64_t id, std::uint64_t size, std::int64_t found) {
    if (static_cast<std::uint64_t>(found) == size) return true;
    AddFinding(
        "blob", "blob " + std::to_string(id),
        "has " + std::to_string(found) + " of " + std::to_string(size) + " bytes in the database");
    return false;
  }

  bool CheckFile(std::int64_t id, std::uint64_t size) {
    struct stat status {};
    const std::string path = paths_->PathOf(id);
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) {
      AddFinding("blob", path, std::string("cannot be read: ") + std::strerror(errno));
      return false;
    }
    if (!exists) {
      AddFinding("blob", path,
                 "is missing; " + std::to_string(size) + " bytes of objects are lost");
      return false;
    }
    if (static_cast<std::uint64_t>(status.st_size) == size) return true;
    AddFinding(
        "blob", path,
        "has " + std::to_string(status.st_size) + " bytes instead of " + std::to_string(size));
    return false;
  }

  // The bytes of a damaged blob remain readable, so that the check of the digests can name the
  // affected object.
  Result<void> CheckBlocks(std::int64_t id, const BlobUse& blob, const std::string& checksums) {
    const std::string subject = blob.in_file ? paths_->PathOf(id) : "blob " + std::to_string(id);
    if (!FitsSize(checksums, blob.size)) {
      AddFinding("blob", subject,
                 "has " + std::to_string(checksums.size()) + " bytes of checksums for " +
                     std::to_string(blob.size) + " bytes");
      return Ok();
    }
    if (!options_.deep) return Ok();
    BlockHasher hasher;
    const Result<void> read =
        ReadBlob(id, blob.in_file, {0, blob.size}, [&](ByteView bytes) { hasher.Update(bytes); });
    if (!read.ok()) {
      AddFinding("blob", subject, "cannot be read: " + read.error().message);
      return Ok();
    }
    report_.bytes_read += blob.size;
    const std::string found = hasher.Finish();
    for (std::uint64_t block = 0; block < BlocksOf(blob.size); ++block) {
      if (ChecksumOf(found, block) == ChecksumOf(checksums, block)) continue;
      AddFinding("blob", subject,
                 "is damaged at offset " + std::to_string(block * kBlockBytes) +
                     ": the block does not match its checksum");
    }
    return Ok();
  }

  std::string SubjectOf(std::int64_t bucket, std::string_view key) const {
    const auto found = buckets_.find(bucket);
    const std::string name = found == buckets_.end() ? "?" + std::to_string(bucket) : found->second;
    return "s3://" + name + "/" + std::string(key);
  }

  void CheckBucket(std::int64_t bucket, const std::string& subject) {
    if (!buckets_.contains(bucket))
      AddFinding("record", subject, "belongs to a bucket that does not exist");
  }

  // The name identifies a directory bucket (Amazon S3 User Guide, "Directory bucket naming rules").
  bool IsDirectory(std::int64_t bucket) const {
    const auto found = buckets_.find(bucket);
    return found != buckets_.end() && found->second.ends_with("--x-s3");
  }

  // Decodes the list and counts its references. nullopt: the list is damaged.
  std::optional<Bytes> Resolve(std::string_view packed, const std::string& subject) {
    auto slices = DecodeSlices(packed);
    if (!slices) {
      AddFinding("record", subject, "its list of blobs is damaged");
      return std::nullopt;
    }
    Bytes bytes{std::move(*slices)};
    for (const SliceReference& slice : bytes.slices) {
      bytes.size += slice.range.size();
      const auto blob = blobs_.find(slice.blob_id);
      if (blob == blobs_.end()) {
        AddFinding("record", subject,
                   "refers to blob " + std::to_string(slice.blob_id) + ", which does not exist");
        bytes.whole = false;
        continue;
      }
      ++blob->second.found;
      if (slice.range.end > blob->second.size) {
        AddFinding("record", subject,
                   "refers to bytes beyond the end of blob " + std::to_string(slice.blob_id));
        bytes.whole = false;
      }
      bytes.whole = bytes.whole && blob->second.readable;
    }
    return bytes;
  }

  Result<void> CheckVersions(const char* sql) {
    Query query(connection_, sql);
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) return Ok();
      ++report_.versions;
      PENSTOCK_TRY(CheckVersion(query));
    }
  }

  Result<void> CheckVersion(const Query& query) {
    const std::string subject =
        SubjectOf(query.Int(0), query.Bytes(1)) +
        (query.Bytes(2) == "null" ? std::string() : "?versionId=" + query.Text(2));
    CheckBucket(query.Int(0), subject);
    if (IsDirectory(query.Int(0)) && query.Bytes(2) != "null")
      AddFinding("record", subject, "is a version, but directory buckets are not versioned");
    ObjectRecord record;
    record.size = static_cast<std::uint64_t>(query.Int(4));
    record.etag = ETag(query.Text(5));
    record.checksum_algorithm = query.Text(6);
    record.checksum_type = query.Text(7);
    record.checksum = query.Text(8);
    auto attributes = DecodeAttributes(query.Bytes(9));
    auto parts = DecodeParts(query.Bytes(12));
    const auto bytes = Resolve(query.Bytes(11), subject);
    if (!attributes || !parts || !DecodeAttributes(query.Bytes(10))) {
      AddFinding("record", subject, "its attributes, tags or parts are damaged");
      return Ok();
    }
    if (!bytes || query.Int(3) != 0) return Ok();
    record.attributes = std::move(*attributes);
    record.parts = std::move(*parts);
    if (!CheckSizes(record, *bytes, subject) || !options_.deep) return Ok();
    const auto read = [&](ByteRange range, const std::function<void(ByteView)>& take) {
      return Read(*bytes, range, take);
    };
    return Report(
        subject,
        CompareDigests(record, read, IsDirectory(query.Int(0)) ? ETags::kOpaque : ETags::kDigests));
  }

  // True: all bytes exist and can be compared.
  bool CheckSizes(const ObjectRecord& record, const Bytes& bytes, const std::string& subject) {
    if (bytes.size != record.size) {
      AddFinding("record", subject,
                 "has " + std::to_string(record.size) + " bytes, but its blobs have " +
                     std::to_string(bytes.size) + " bytes");
      return false;
    }
    std::uint64_t of_parts = 0;
    for (const PartRecord& part : record.parts) of_parts += part.size;
    if (!record.parts.empty() && of_parts != record.size) {
      AddFinding("record", subject,
                 "has " + std::to_string(record.size) + " bytes, but its parts have " +
                     std::to_string(of_parts) + " bytes");
      return false;
    }
    return bytes.whole;
  }

  Result<void> Report(const std::string& subject, Result<std::vector<std::string>> mismatches) {
    if (!mismatches.ok()) {
      AddFinding("content", subject, "cannot be read: " + mismatches.error().message);
      return Ok();
    }
    for (std::string& mismatch : *mismatches) AddFinding("content", subject, std::move(mismatch));
    return Ok();
  }

  Result<void> CheckUploads() {
    Query query(connection_,
                "SELECT bucket, key, sequence, checksum_algorithm, attributes, tags FROM uploads");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) break;
      const std::string subject = SubjectOf(query.Int(0), query.Bytes(1)) + " (upload)";
      CheckBucket(query.Int(0), subject);
      if (!DecodeAttributes(query.Bytes(4)) || !DecodeAttributes(query.Bytes(5))) {
        AddFinding("record", subject, "its attributes or tags are damaged");
      }
      uploads_[query.Int(2)] = {subject, query.Text(3)};
    }
    report_.uploads = uploads_.size();
    return Ok();
  }

  Result<void> CheckParts() {
    Query query(connection_, "SELECT upload, number, record, content FROM parts");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) return Ok();
      ++report_.parts;
      const auto upload = uploads_.find(query.Int(0));
      std::string subject =
          "part " + std::to_string(query.Int(1)) + " of upload " + std::to_string(query.Int(0));
      if (upload == uploads_.end()) {
        AddFinding("upload", subject, "belongs to an upload that does not exist");
      } else {
        subject = upload->second.subject + " part " + std::to_string(query.Int(1));
      }
      const auto bytes = Resolve(query.Bytes(3), subject);
      const auto record = DecodeParts(query.Bytes(2));
      if (!record || record->size() != 1 || record->front().number != query.Int(1)) {
        AddFinding("upload", subject, "its record is damaged");
      } else if (bytes && bytes->size != record->front().size) {
        AddFinding("upload", subject,
                   "has " + std::to_string(record->front().size) + " bytes, but its blobs have " +
                       std::to_string(bytes->size) + " bytes");
      } else if (bytes && bytes->whole && options_.deep && upload != uploads_.end()) {
        const auto read = [&](ByteRange range, const auto& take) {
          return Read(*bytes, range, take);
        };
        PENSTOCK_TRY(Report(
            subject, ComparePartDigests(record->front(), upload->second.checksum_algorithm, read)));
      }
    }
  }

  void CheckReferences() {
    for (const auto& [id, blob] : blobs_) {
      if (blob.counted == blob.found) continue;
      AddFinding("references", "blob " + std::to_string(id),
                 "counts " + std::to_string(blob.counted) + " references, but records contain " +
                     std::to_string(blob.found));
    }
  }

  Result<void> CheckOrphans() {
    const auto note = [this](const std::string& path) {
      AddFinding("orphan", path, "no record refers to it; the next start deletes it", true);
    };
    std::error_code ignored;
    const std::string temporary = options_.directory + "/tmp";
    for (const std::string& name : NamesIn(temporary, ignored)) note(temporary + "/" + name);
    return VisitBlobFiles(options_.directory, [&](std::int64_t id, const std::string& path) {
      const auto blob = blobs_.find(id);
      if (blob == blobs_.end() || !blob->second.in_file) note(path);
      return Ok();
    });
  }

  // Reads `range` of the bytes, across slices.
  Result<void> Read(const Bytes& bytes, ByteRange range,
                    const std::function<void(ByteView)>& take) {
    std::uint64_t at = 0;
    for (const SliceReference& slice : bytes.slices) {
      const std::uint64_t begin = std::max(at, range.begin);
      const std::uint64_t end = std::min(at + slice.range.size(), range.end);
      if (begin < end) {
        const ByteRange part{slice.range.begin + (begin - at), slice.range.begin + (end - at)};
        PENSTOCK_TRY(ReadBlob(slice.blob_id, blobs_.at(slice.blob_id).in_file, part, take));
        report_.bytes_read += part.size();
      }
      at += slice.range.size();
    }
    return Ok();
  }

  Result<void> ReadBlob(std::int64_t id, bool in_file, ByteRange range,
                        const std::function<void(ByteView)>& take) {
    if (!in_file) {
      Query query(connection_, "SELECT bytes FROM blobs WHERE id=?");
      PENSTOCK_ASSIGN(const bool row, query.Bind(id).Step());
      if (row) take(AsBytes(query.Bytes(0)).subspan(range.begin, range.size()));
      return Ok();
    }
    const std::string path = paths_->PathOf(id);
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return SystemError(ErrorKind::kInternal, "open", path, errno);
    buffer_.resize(kReadBytes);
    for (std::uint64_t at = range.begin; at < range.end;) {
      const std::size_t wanted = std::min<std::uint64_t>(kReadBytes, range.end - at);
      const ssize_t count = ::pread(file.get(), buffer_.data(), wanted, static_cast<off_t>(at));
      if (count <= 0)
        return SystemError(ErrorKind::kDataLoss, "read", path, count == 0 ? EIO : errno);
      take(ByteView(buffer_.data(), static_cast<std::size_t>(count)));
      at += static_cast<std::uint64_t>(count);
    }
    return Ok();
  }

  Connection& connection_;
  const FsckOptions& options_;
  FsckReport& report_;
  const std::shared_ptr<BlobRegistry> paths_;  // used for PathOf only
  std::map<std::int64_t, std::string> buckets_;
  std::unordered_map<std::int64_t, BlobUse> blobs_;
  std::map<std::int64_t, Upload> uploads_;
  std::vector<std::byte> buffer_;
};

}  // namespace

bool FsckReport::clean() const {
  return omitted == 0 && std::all_of(findings.begin(), findings.end(),
                                     [](const FsckFinding& finding) { return finding.is_note; });
}

Result<std::vector<std::string>> FindDatabaseDamage(Connection& connection) {
  std::vector<std::string> problems;
  const Result<void> read = connection.CheckIntegrity(problems);
  const std::vector<std::uint32_t> pages = connection.DamagedPages();
  if (!pages.empty()) problems.clear();
  for (const std::uint32_t page : pages)
    problems.push_back("page " + std::to_string(page) + " does not match its checksum");
  if (problems.empty()) PENSTOCK_TRY(read);
  return problems;
}

Result<std::vector<FsckFinding>> CheckLog(const std::string& database, bool may_be_emptied) {
  std::vector<FsckFinding> findings;
  PENSTOCK_ASSIGN(const auto loss, FindCommitLoss(database, BootId(), may_be_emptied));
  if (loss) {
    std::string fix = "; restore it from a backup";
    if (loss->can_be_accepted) fix += ", or accept the loss with --accept-loss";
    if (loss->is_permitted) fix = " when the machine stopped; relaxed durability permits this loss";
    findings.push_back({"log", loss->file, loss->message + fix, loss->is_permitted});
  }
  PENSTOCK_ASSIGN(const CommitMark::Inspection mark, InspectMark(database));
  if (!mark.problem.empty()) {
    findings.push_back({"mark", CommitMarkPath(database),
                        mark.problem + "; cannot determine whether the log lost committed changes",
                        true});
  }
  if (mark.state && mark.state->lost_frames > 0) {
    findings.push_back({"log", database,
                        "earlier starts continued after the loss of " +
                            std::to_string(mark.state->lost_frames) + " committed pages",
                        true});
  }
  return findings;
}

Result<FsckReport> Fsck(const FsckOptions& options) {
  const std::string database = options.directory + "/penstock.db";
  const bool is_missing = ::access(database.c_str(), F_OK) != 0 && errno == ENOENT;
  PENSTOCK_TRY(CheckDatabaseIsThere(options.directory));
  PENSTOCK_ASSIGN(const auto mark, CommitMark::Inspect(CommitMarkPath(database)));
  if (is_missing && !mark.state) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "there is no store in " + options.directory + ": it has no penstock.db");
  }
  PENSTOCK_ASSIGN(const DirectoryLock lock, DirectoryLock::Share(options.directory));
  FsckReport report;
  PENSTOCK_ASSIGN(report.findings, CheckLog(database));
  // SQLite would show an older state of the database, or none.
  if (!report.clean()) return report;
  PENSTOCK_ASSIGN(const auto connection, OpenForInspection(database));
  PENSTOCK_TRY(Query(*connection, "BEGIN").Run());
  Checker checker(*connection, options, report);
  const Result<void> done = checker.Run();
  if (done.ok()) return report;
  // Damage that stops the check is a finding.
  if (done.error().kind != ErrorKind::kDataLoss) return done.error();
  report.findings.push_back(
      {"database", database, "the check ended early: " + done.error().message});
  return report;
}

}  // namespace penstock::emulator::store
