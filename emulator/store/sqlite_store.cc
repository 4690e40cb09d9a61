#include "emulator/store/sqlite_store.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/blobs/blob_memory.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/tables/blob_references.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

constexpr int kReaders = 8;
// Stores with a shorter life, such as those of tests, are not verified.
constexpr std::chrono::seconds kFirstScrubAfter{10};

constinit DiagnosticEvent sweep_failed("store.sweep_failed");  // the next start sweeps again

std::string DatabasePath(const std::string& directory) {
  return directory.empty() ? ":memory:" : directory + "/penstock.db";
}

CacheLimits LimitsOf(const StoreOptions& options) {
  CacheLimits limits;
  // Entries may be reclaimed, but what they leave between the records stays fragmented.
  if (options.directory.empty() && options.memory_limit != nullptr)
    limits.bytes = std::min(limits.bytes, options.memory_limit->limit_bytes() / 8);
  // In memory mode blobs live as long as their records, cached or not.
  limits.descriptors = options.directory.empty()
                           ? UINT64_MAX
                           : static_cast<std::uint64_t>(DescriptorShare::Limit()) / 4;
  return limits;
}

// Fails if the database of a complete store is missing: a new one would be empty, and the sweep
// would delete the blob files.
Result<void> CheckDatabaseExists(const std::string& directory) {
  PENSTOCK_TRY(CheckDatabaseIsThere(directory));
  std::error_code missing;
  if (std::filesystem::file_size(DatabasePath(directory), missing) > 0 && !missing) return Ok();
  return VisitBlobFiles(directory, [&](std::int64_t, const std::string& path) -> Result<void> {
    return LostDatabase(directory, "object data (" + path + ")");
  });
}

// Uses its own connection because the sweep of a large directory takes long.
void SweepOrphans(const std::string& directory, std::int64_t first_number,
                  const std::atomic<bool>& stop) {
  auto connection = OpenReader(DatabasePath(directory));
  if (!connection.ok()) return sweep_failed.Report(connection.error());
  const auto is_known = [&](std::int64_t id) -> Result<bool> {
    Query query(**connection, "SELECT 1 FROM blobs WHERE id=? AND bytes IS NULL");
    return query.Bind(id).Step();
  };
  const auto swept = SweepBlobDirectory(directory, {first_number, is_known, &stop});
  if (!swept.ok()) sweep_failed.Report(swept.error());
}

}  // namespace

Result<std::unique_ptr<Store>> Store::Open(StoreOptions options) {
  PENSTOCK_ASSIGN(auto store, SqliteStore::Open(std::move(options)));
  return std::unique_ptr<Store>(std::move(store));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(StoreOptions options) {
  DirectoryLock lock;
  if (!options.directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.directory, error);
    if (error) {
      return SystemError(ErrorKind::kInvalidArgument, "create the directory", options.directory,
                         error.value());
    }
    PENSTOCK_ASSIGN(lock, DirectoryLock::Take(options.directory));
    PENSTOCK_TRY(CheckDatabaseExists(options.directory));
    ReleaseReserve(options.directory);  // opening needs space; the guard takes the reserve again
  }
  PENSTOCK_ASSIGN(auto connection,
                  OpenDatabase(DatabasePath(options.directory), options.durability));
  PENSTOCK_ASSIGN(const std::int64_t first_number, ReserveNumbers(*connection));
  if (!options.directory.empty())
    PENSTOCK_TRY(PrepareBlobDirectory(options.directory, options.durability));
  Connection& database = *connection;
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(options), std::move(lock), std::move(connection), first_number));
  PENSTOCK_TRY(store->buckets_.Load(database));
  store->StartHousekeeping(database, first_number);
  return store;
}

SqliteStore::SqliteStore(StoreOptions options, DirectoryLock lock,
                         std::unique_ptr<Connection> writer, std::int64_t first_number)
    : options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : SystemClock()),
      event_signal_(options_.event_signal ? options_.event_signal
                                          : std::make_shared<ChangeSignal>()),
      lock_(std::move(lock)),
      registry_(std::make_shared<BlobRegistry>(
          options_.directory, first_number,
          options_.directory.empty() ? options_.memory_limit : nullptr)),
      row_memory_(registry_->memory_limit()),
      next_number_(first_number),
      buckets_(registry_->memory_limit()),
      cache_(std::make_shared<ObjectCache>(
          LimitsOf(options_), options_.directory.empty() ? options_.memory_limit : nullptr)),
      guard_(options_.directory.empty()
                 ? nullptr
                 : std::make_unique<DiskGuard>(options_.directory, options_.durability)),
      writer_(std::move(writer)),
      queue_(writer_, guard_.get()) {
  if (options_.directory.empty()) {
    if (MemoryLimit* const limit = registry_->memory_limit(); limit != nullptr) {
      limit->AddReclaimable(
          std::shared_ptr<ReclaimableMemory>(registry_, &registry_->spare_memory()));
      limit->AddReclaimable(cache_);
    }
    return;
  }
  readers_.emplace(kReaders,
                   [path = DatabasePath(options_.directory)] { return OpenReader(path); });
}

void SqliteStore::StartHousekeeping(Connection& writer, std::int64_t first_number) {
  if (options_.directory.empty()) return;
  const auto sweep = [directory = options_.directory, first_number](const std::atomic<bool>& stop) {
    SweepOrphans(directory, first_number, stop);
  };
  HousekeeperOptions options{DatabasePath(options_.directory)};
  if (options_.scrub_bytes_per_second > 0) {
    const auto adopt = [this](std::int64_t id, const std::string& checksums) {
      return AdoptChecksums(id, checksums);
    };
    scrubber_.emplace(
        ScrubberOptions{DatabasePath(options_.directory), options_.scrub_bytes_per_second, adopt},
        registry_);
    options.step = [this] { return scrubber_->Step(); };
    options.first_step_after = kFirstScrubAfter;
  }
  // Captured by reference: the scrubber may commit while the optional is being reset.
  Housekeeper& housekeeper = housekeeper_.emplace(std::move(options), writer_, sweep);
  writer.OnCommit([this, &writer, &housekeeper](int log_pages) {
    guard_->SetLogPages(log_pages);
    housekeeper.Committed(writer, log_pages);
  });
}

Result<void> SqliteStore::AdoptChecksums(std::int64_t blob_id, const std::string& checksums) {
  return queue_.Run([&](WriteTransaction& transaction) {
    Query query(transaction.connection(),
                "UPDATE blobs SET checksums=? WHERE id=? AND checksums IS NULL");
    return query.BindBytes(checksums).Bind(blob_id).Run();
  });
}

SqliteStore::~SqliteStore() {
  housekeeper_.reset();
  scrubber_.reset();
  if (guard_) guard_->BeginClose();
  registry_->DropReferences();
}

Result<std::unique_ptr<BlobWriter>> SqliteStore::NewBlob(std::uint64_t size_hint) {
  if (options_.directory.empty()) {
    MemoryLimit* const limit = registry_->memory_limit();
    if (limit != nullptr && size_hint > 0 && !limit->HasRoomFor(size_hint))
      return limit->Exceeded(size_hint);
    return NewMemoryBlobWriter(registry_, size_hint);
  }
  PENSTOCK_TRY(guard_->Admit());
  return NewFileBlobWriter(registry_, {options_.inline_limit_bytes, options_.durability},
                           size_hint);
}

ObjectWrite SqliteStore::BeginObjectWrite(WriteTransaction& transaction, const Bucket& bucket) {
  return {transaction,  registry_,     bucket, next_number_.fetch_add(1, std::memory_order_relaxed),
          clock_.Now(), *event_signal_};
}

void SqliteStore::Publish(WriteTransaction& transaction, const BucketName& bucket,
                          const ObjectKey& key, ObjectPtr object) {
  transaction.AroundCommit([this, bucket, key, object = std::move(object)](CommitPhase phase) {
    if (phase == CommitPhase::kBefore) {
      HoldInCache(bucket, key);
    } else if (phase == CommitPhase::kCommitted && object != nullptr) {
      cache_->Set(bucket.value, object);
    } else {
      cache_->Erase(bucket.value, key.value);
    }
  });
}

void SqliteStore::HoldInCache(const BucketName& bucket, const ObjectKey& key) {
  // Without reader connections, all reads of the database wait for the writer's connection until
  // the effects of the write have run.
  if (readers_.has_value()) cache_->Hold(bucket.value, key.value);
}

Result<std::optional<ObjectPtr>> SqliteStore::LoadObject(Connection& connection, ObjectRow row) {
  PENSTOCK_ASSIGN(auto content, LoadContent(connection, registry_, row.slices));
  if (!content.has_value()) return std::optional<ObjectPtr>();
  row.record.content = std::move(*content);
  return std::optional<ObjectPtr>(std::make_shared<const ObjectRecord>(std::move(row.record)));
}

}  // namespace penstock::emulator::store
