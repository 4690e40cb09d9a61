#include "emulator/store/tables/bucket_table.h"

#include <algorithm>

#include <memory>
#include <utility>

#include "emulator/store/records/codec.h"

namespace penstock::emulator::store {

Error NoSuchBucket(const BucketName& name) {
  Error error = Error::Make(ErrorKind::kNotFound, "The specified bucket does not exist");
  error.code = "NoSuchBucket";
  error.bucket = name.value;
  return error;
}

std::uint64_t MemoryOf(const BucketRecord& record) {
  constexpr std::uint64_t kParsedRules = 2;  // for each byte of the document, at most
  std::uint64_t bytes = sizeof(BucketRecord) + sizeof(Bucket) + 128 + 2 * record.name.value.size() +
                        record.owner_id.size() + record.region.size();
  for (const auto& [sub_resource, document] : record.configuration) {
    bytes += sizeof(Attributes::value_type) + sub_resource.size() + document.size();
    if (sub_resource == "lifecycle") bytes += kParsedRules * document.size();
  }
  return bytes;
}

Result<void> BucketTable::Load(Connection& connection) {
  Query query(connection,
              "SELECT id, name, owner_id, region, created, versioning, configuration FROM buckets");
  for (;;) {
    PENSTOCK_ASSIGN(const bool row, query.Step());
    if (!row) return Ok();
    auto configuration = DecodeAttributes(query.Bytes(6));
    if (!configuration) {
      return Error::Make(ErrorKind::kDataLoss, "the database file " + connection.path() +
                                                   " contains a damaged bucket record");
    }
    auto record = std::make_shared<BucketRecord>();
    record->name = BucketName(query.Text(1));
    record->owner_id = query.Text(2);
    record->region = query.Text(3);
    record->created = FromNanoseconds(query.Int(4));
    record->versioning = static_cast<Versioning>(query.Int(5));
    record->configuration = std::move(*configuration);
    Set({query.Int(0), std::move(record)});
  }
}

Result<Bucket> BucketTable::Find(const BucketName& name) const {
  const MutexLock lock(mutex_);
  while (held_ == name.value && !held_.empty()) released_.WaitIdle(mutex_);
  const auto found = buckets_.find(name.value);
  if (found == buckets_.end()) return NoSuchBucket(name);
  return found->second;
}

std::vector<BucketPtr> BucketTable::All() const {
  std::vector<BucketPtr> all;
  const MutexLock lock(mutex_);
  while (!held_.empty()) released_.WaitIdle(mutex_);
  all.reserve(buckets_.size());
  for (const auto& [name, bucket] : buckets_) all.push_back(bucket.record);
  return all;
}

std::size_t BucketTable::CountOf(std::string_view owner_id) const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(buckets_.begin(), buckets_.end(),
                    [&](const auto& entry) { return entry.second.record->owner_id == owner_id; }));
}

void BucketTable::Set(Bucket bucket) {
  const MutexLock lock(mutex_);
  Bucket& place = buckets_[bucket.record->name.value];
  const std::uint64_t before = place.record != nullptr ? MemoryOf(*place.record) : 0;
  place = std::move(bucket);
  charge_.SetAnyway(charge_.bytes() - before + MemoryOf(*place.record));
}

void BucketTable::Erase(const BucketName& name) {
  const MutexLock lock(mutex_);
  const auto found = buckets_.find(name.value);
  if (found == buckets_.end()) return;
  const std::uint64_t before = MemoryOf(*found->second.record);
  buckets_.erase(found);
  charge_.SetAnyway(charge_.bytes() - before);
}

void BucketTable::Hold(const BucketName& name) {
  const MutexLock lock(mutex_);
  held_ = name.value;
}

void BucketTable::Release() {
  {
    const MutexLock lock(mutex_);
    held_.clear();
  }
  released_.NotifyAll();
}

Result<void> WriteBucket(Connection& connection, const Bucket& bucket) {
  const BucketRecord& record = *bucket.record;
  const std::string configuration = EncodeAttributes(record.configuration);
  Query query(connection,
              "REPLACE INTO buckets(id, name, owner_id, region, created, versioning, configuration)"
              " VALUES(?,?,?,?,?,?,?)");
  query.Bind(bucket.id)
      .BindBytes(record.name.value)
      .BindText(record.owner_id)
      .BindText(record.region);
  query.Bind(ToNanoseconds(record.created)).Bind(static_cast<std::int64_t>(record.versioning));
  return query.BindBytes(configuration).Run();
}

Result<void> RemoveBucket(Connection& connection, std::int64_t id) {
  Query query(connection, "DELETE FROM buckets WHERE id=?");
  return query.Bind(id).Run();
}

}  // namespace penstock::emulator::store
