// Runs stores with many threads and checks them against GroupModel with LinearizabilityChecker:
// reads, listings of objects, versions and uploads, conditional writes, appends, copies, multipart
// uploads, renames and tags.
//
// PENSTOCK_LONG=1 runs 10 million operations on each store; PENSTOCK_HISTORY_OPERATIONS sets
// another number. PENSTOCK_PROPERTY_SEED seeds the operations of the threads; their interleaving is
// not controlled.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "emulator/store/group_model_testing.h"
#include "emulator/store/linearizability_testing.h"
#include "emulator/store/store_testing.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

using Kind = GroupModel::Kind;
using Condition = GroupModel::Condition;
using Outcome = GroupModel::Outcome;
using Operation = GroupModel::Operation;
using Checker = LinearizabilityChecker<GroupModel>;

using Parts = std::array<std::uint64_t, GroupModel::kParts>;

constexpr std::size_t kGroups = 2;
// Approximate limits per group, because the checker compares all of a group's state.
constexpr std::size_t kMaxVersions = 16;
constexpr std::size_t kMaxUploads = 16;
constexpr std::size_t kThreads = 6;
constexpr std::size_t kOperationsPerRound = 3'000;  // operations of one thread between two checks
constexpr std::size_t kLargeBody = 40 << 10;        // over the inline limit: a file or a memfd

std::uint64_t NumberFrom(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t Fingerprint(std::string_view text) { return std::hash<std::string_view>()(text); }

std::string GroupPrefix(std::size_t group) { return "group-" + std::to_string(group) + "/"; }
ObjectKey KeyIn(std::size_t group, std::size_t key) {
  return ObjectKey(GroupPrefix(group) + std::to_string(key));
}

// The bytes of one piece. They identify the piece, so that a torn or mixed body is detected.
std::string BytesOf(std::uint64_t piece) {
  std::string bytes = std::to_string(piece) + ":";
  if (piece % 64 == 0) bytes.resize(kLargeBody, static_cast<char>('a' + piece / 64 % 26));
  return bytes;
}

// The model's value of a body. nullopt: it does not consist of whole pieces.
std::optional<std::uint64_t> ValueOf(std::string_view body) {
  std::uint64_t value = 0;
  while (!body.empty()) {
    const std::uint64_t piece = std::strtoull(std::string(body.substr(0, 20)).c_str(), nullptr, 10);
    const std::string bytes = BytesOf(piece);
    if (!body.starts_with(bytes)) return std::nullopt;
    body.remove_prefix(bytes.size());
    value = GroupModel::Joined(value, piece);
  }
  return value;
}

std::uint64_t ValueOf(const ETag& etag) { return std::strtoull(etag.value.c_str(), nullptr, 10); }

struct StoreParameters {
  const char* name;
  bool on_disk;
  Durability durability;
  bool versioned;
  std::uint64_t sample;  // operations in a normal run
};

// Versions and uploads of a group that exist, so that the threads can use them.
struct KnownItems {
  Mutex mutex;
  std::vector<std::pair<std::size_t, VersionId>> versions PENSTOCK_GUARDED_BY(mutex);
  // By upload id: the pieces in its parts.
  std::map<std::string, Parts> uploads PENSTOCK_GUARDED_BY(mutex);
  std::uint64_t last_value PENSTOCK_GUARDED_BY(mutex) = 0;
};

// Injected faults of one operation in a hundred.
enum class Fault {
  kNone,
  kStaleRead,           // repeats the thread's previous read of the key
  kStaleCopy,           // the same, for the source of a copy
  kAppendAnywhere,      // ignores the offset
  kAppendWithoutCheck,  // replaces another thread's write
  kCompleteUnconditional,
};

// Shared by the threads of one test.
struct SharedState {
  std::unique_ptr<Store> store;
  bool versioned = false;
  Fault fault = Fault::kNone;
  std::atomic<std::uint64_t> ticks{1};
  std::atomic<std::uint32_t> values{1};  // of pieces and tags
  std::array<KnownItems, kGroups> known;
};

// One thread's operations. Each method performs one and records it.
class Process {
 public:
  Process(SharedState& shared, std::uint64_t seed) : shared_(shared), random_(seed) {}

  void Run(std::size_t operations) {
    for (std::size_t i = 0; i < operations && !::testing::Test::HasFailure(); ++i) Step();
  }

  // The operations on a group that were recorded since the last call.
  Checker::History Take(std::size_t group) { return std::exchange(histories_[group], {}); }

 private:
  std::size_t Pick(std::size_t choices) { return static_cast<std::size_t>(random_() % choices); }

  void Step() {
    group_ = Pick(kGroups);
    operation_ = {};
    operation_.key = Pick(GroupModel::kKeys);
    operation_.other = (operation_.key + 1 + Pick(GroupModel::kKeys - 1)) % GroupModel::kKeys;
    if (shared_.versioned && HasManyVersions() && Pick(2) == 0) return Delete();
    const std::size_t choice = Pick(100);
    if (choice < 18) return Put();
    if (choice < 41) return static_cast<void>(Get());
    if (choice < 51) return ListAndGet();
    if (choice < 65) return Delete();
    if (choice < 69) return Tag();
    if (choice < 72) return HasManyUploads() ? Abort() : CreateUpload();
    if (choice < 77) return PutPart();
    if (choice < 83) return Complete();
    if (choice < 85) return Abort();
    if (choice < 88) return ListUploads();
    if (choice < 92) return Copy();
    if (shared_.versioned) return choice < 95 ? ListVersions() : static_cast<void>(GetVersion());
    if (choice < 94) return DeleteBoth();
    choice < 96 ? Rename() : Append();
  }

  bool Faulty(Fault fault) { return shared_.fault == fault && Pick(100) == 0; }

  // Makes one call to the store between two ticks.
  template <class Call>
  auto Timed(const Call& call) {
    called_ = shared_.ticks.fetch_add(1);
    auto result = call();
    returned_ = shared_.ticks.fetch_add(1);
    return result;
  }

  // Records the operation with the results of the latest Timed call.
  void Keep() { histories_[group_].push_back({std::move(operation_), called_, returned_, true}); }

  // Converts a result to an outcome of the model. Other errors fail the test.
  template <class T>
  Outcome OutcomeOf(const Result<T>& result) {
    if (result.ok()) return Outcome::kOk;
    if (result.error().kind == ErrorKind::kPreconditionFailed) return Outcome::kRefused;
    if (result.error().code == "InvalidPart") return Outcome::kInvalidPart;
    if (result.error().kind != ErrorKind::kNotFound && result.error().code != "MethodNotAllowed") {
      ADD_FAILURE() << result.error().ToString();
    }
    return Outcome::kNotFound;
  }

  std::uint64_t Identity(const VersionId& version) const {
    return shared_.versioned ? Fingerprint(version.value) : 0;
  }

  Precondition ChooseCondition() {
    const std::size_t choice = Pick(4);
    if (choice == 0) operation_.condition = Condition::kAbsent;
    if (choice == 1) {
      operation_.condition = Condition::kMatches;
      KnownItems& known = shared_.known[group_];
      const MutexLock lock(known.mutex);
      operation_.expected = known.last_value;
    }
    return [condition = operation_.condition, expected = std::to_string(operation_.expected)](
               const ObjectRecord* current) -> Result<void> {
      const bool exists = current != nullptr && !current->is_delete_marker;
      if (condition == Condition::kAbsent && exists)
        return Error::Make(ErrorKind::kPreconditionFailed, "exists");
      if (condition == Condition::kMatches && (!exists || current->etag.value != expected)) {
        return Error::Make(ErrorKind::kPreconditionFailed, "differs");
      }
      return Ok();
    };
  }

  void Wrote(const Result<PutOutcome>& result) {
    operation_.outcome = OutcomeOf(result);
    if (!result.ok()) return;
    const GroupModel::Version written = VersionOf(*result->object);
    EXPECT_EQ(written.value, operation_.version.value);
    EXPECT_EQ(written.tag, operation_.version.tag);
    operation_.version = written;
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    known.last_value = operation_.version.value;
    if (shared_.versioned) known.versions.emplace_back(operation_.key, result->object->version_id);
  }

  PutObject PieceAt(const ObjectKey& key, std::uint64_t piece) {
    PutObject put = MakePut(*shared_.store, key.value, BytesOf(piece));
    put.record.etag = ETag(std::to_string(piece));
    return put;
  }

  void Put() {
    operation_.version.value = shared_.values.fetch_add(1);
    PutObject put = PieceAt(KeyIn(group_, operation_.key), operation_.version.value);
    put.precondition = ChooseCondition();
    Wrote(Timed([&] { return shared_.store->Put(std::move(put)); }));
    Keep();
  }

  // S3 reads the source and then writes the target, so these are two operations.
  void Copy() {
    const std::size_t target = operation_.other;
    ObjectPtr source =
        shared_.versioned && Pick(2) == 0 ? GetVersion() : Get(Faulty(Fault::kStaleCopy));
    if (source == nullptr || source->is_delete_marker) return;
    operation_ = {};
    operation_.kind = Kind::kCopy;
    operation_.key = target;
    operation_.version = VersionOf(*source);
    PutObject put{kBucket, *source, ChooseCondition()};
    put.record.key = KeyIn(group_, target);
    put.record.last_modified = {};
    Wrote(Timed([&] { return shared_.store->Put(std::move(put)); }));
    Keep();
  }

  // Like an append of emulator/s3: extends the object that it read, if no write has replaced it.
  Result<PutOutcome> AppendPiece(const ObjectKey& key) {
    const bool anywhere = Faulty(Fault::kAppendAnywhere);
    const bool unchecked = Faulty(Fault::kAppendWithoutCheck);
    for (;;) {
      const auto found = shared_.store->FindObject(kBucket, key);
      if (!found.ok() && (found.error().kind != ErrorKind::kNotFound || operation_.offset != 0))
        return found.error();
      const ObjectPtr before = found.ok() ? *found : nullptr;
      const std::uint64_t size = before == nullptr ? 0 : before->size;
      if (size != operation_.offset && !anywhere)
        return Error::Make(ErrorKind::kPreconditionFailed, "another offset");
      PutObject put = PieceAt(key, operation_.piece);
      operation_.version.value = operation_.piece;
      if (before != nullptr) {
        auto& slices = put.record.content.slices;
        slices.insert(slices.begin(), before->content.slices.begin(), before->content.slices.end());
        put.record.size += size;
        operation_.version.value = GroupModel::Joined(ValueOf(before->etag), operation_.piece);
        put.record.etag = ETag(std::to_string(operation_.version.value));
      }
      bool changed = false;
      put.precondition = [&](const ObjectRecord* now) -> Result<void> {
        changed = before == nullptr ? now != nullptr : now == nullptr || now->etag != before->etag;
        if (!changed || unchecked) return Ok();
        return Error::Make(ErrorKind::kPreconditionFailed, "changed");
      };
      auto outcome = shared_.store->Put(std::move(put));
      if (!changed || unchecked) return outcome;
    }
  }

  void Append() {
    operation_.kind = Kind::kAppend;
    const ObjectKey key = KeyIn(group_, operation_.key);
    const ObjectPtr& seen = last_read_[key.value];
    operation_.offset = seen == nullptr ? 0 : seen->size;
    operation_.piece = shared_.values.fetch_add(1);
    Wrote(Timed([&] { return AppendPiece(key); }));
    Keep();
  }

  // Converts a record to a version of the model, after its body was checked.
  GroupModel::Version VersionOf(const ObjectRecord& object) {
    GroupModel::Version version{Identity(object.version_id), 0, 0, 0};
    if (object.is_delete_marker) return version;
    version.value = ValueOf(object.etag);
    version.size = object.size;
    if (!object.tags.empty())
      version.tag = static_cast<std::uint32_t>(std::stoul(object.tags.front().second));
    const std::string body = Text(object.content);
    EXPECT_EQ(body.size(), object.size);
    EXPECT_EQ(ValueOf(body), version.value) << "a torn object";
    return version;
  }

  // Reads `operation_.key`. Returns null if the object does not exist.
  ObjectPtr Get(bool stale = false) {
    operation_.kind = Kind::kGet;
    const ObjectKey key = KeyIn(group_, operation_.key);
    ObjectPtr& before = last_read_[key.value];
    stale = before != nullptr && (stale || Faulty(Fault::kStaleRead));
    const auto found = Timed([&] {
      return stale ? Result<ObjectPtr>(before) : shared_.store->FindObject(kBucket, key);
    });
    before = found.ok() ? *found : nullptr;
    operation_.outcome = OutcomeOf(found);
    if (before != nullptr) operation_.version = VersionOf(*before);
    if (before != nullptr && before->is_delete_marker) operation_.outcome = Outcome::kNotFound;
    Keep();
    return before;
  }

  // Reads the keys that were just listed. A read older than the listing is the error that occurs if
  // a write is published in two steps.
  void ListAndGet() {
    List();
    for (std::size_t key = 0; key < GroupModel::kKeys; ++key) {
      operation_ = {};
      operation_.key = key;
      Get();
    }
  }

  bool HasManyUploads() {
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    return known.uploads.size() > kMaxUploads;
  }

  bool HasManyVersions() {
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    return known.versions.size() > kMaxVersions;
  }

  // Picks a version that a thread has created. False: none is known.
  bool PickVersion(VersionId& version, bool forget) {
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    if (known.versions.empty()) return false;
    const std::size_t at = Pick(known.versions.size());
    operation_.key = known.versions[at].first;
    version = known.versions[at].second;
    if (!forget) return true;
    known.versions[at] = std::move(known.versions.back());
    known.versions.pop_back();
    return true;
  }

  ObjectPtr GetVersion() {
    operation_.kind = Kind::kGetVersion;
    VersionId version;
    if (!PickVersion(version, false)) return nullptr;
    operation_.version.id = Identity(version);
    const auto found = Timed(
        [&] { return shared_.store->FindObject(kBucket, KeyIn(group_, operation_.key), version); });
    operation_.outcome = OutcomeOf(found);
    if (found.ok()) operation_.version = VersionOf(**found);
    Keep();
    return found.ok() ? *found : nullptr;
  }

  void Delete() {
    operation_.kind = Kind::kDelete;
    DeleteObject request{kBucket, KeyIn(group_, operation_.key), std::nullopt, nullptr};
    // In a versioned bucket most deletions name a version, so that markers and versions
    // do not accumulate.
    VersionId version;
    if (shared_.versioned && Pick(8) != 0) {
      if (!PickVersion(version, true)) return;
      operation_.kind = Kind::kDeleteVersion;
      operation_.version.id = Identity(version);
      request.key = KeyIn(group_, operation_.key);
      request.version_id = version;
    }
    const auto removed = Timed([&] { return shared_.store->Delete(std::move(request)); });
    operation_.outcome = OutcomeOf(removed);
    if (!removed.ok()) return;
    operation_.existed[0] = removed->existed;
    if (removed->created_marker) {
      operation_.version.id = Identity(removed->version_id);
      KnownItems& known = shared_.known[group_];
      const MutexLock lock(known.mutex);
      known.versions.emplace_back(operation_.key, removed->version_id);
    }
    Keep();
  }

  void DeleteBoth() {
    operation_.kind = Kind::kDeleteBoth;
    std::vector<DeleteObject> requests;
    for (const std::size_t key : {operation_.key, operation_.other})
      requests.push_back({kBucket, KeyIn(group_, key), std::nullopt, nullptr});
    const auto removed = Timed([&] { return shared_.store->Delete(std::move(requests)); });
    for (std::size_t i = 0; i < removed.size(); ++i) {
      operation_.outcome = OutcomeOf(removed[i]);
      operation_.existed[i] = removed[i].ok() && removed[i]->existed;
    }
    Keep();
  }

  void Tag() {
    operation_.kind = Kind::kTag;
    operation_.version.tag = shared_.values.fetch_add(1);
    const Attributes tags{{"tag", std::to_string(operation_.version.tag)}};
    operation_.outcome = OutcomeOf(Timed([&] {
      return shared_.store->SetTags(kBucket, KeyIn(group_, operation_.key), std::nullopt, tags);
    }));
    Keep();
  }

  void Rename() {
    operation_.kind = Kind::kRename;
    RenameObject request{.bucket = kBucket,
                         .source = KeyIn(group_, operation_.key),
                         .target = KeyIn(group_, operation_.other)};
    operation_.outcome =
        OutcomeOf(Timed([&] { return shared_.store->Rename(std::move(request)); }));
    Keep();
  }

  template <class Page>
  void SawEntries(const Page& page) {
    for (const ListEntry& entry : page.entries) {
      const auto key = static_cast<std::size_t>(entry.key.back() - '0');
      auto& seen = operation_.seen.at(key);
      EXPECT_EQ(entry.is_latest, seen.empty());
      const std::uint64_t value =
          entry.is_delete_marker ? 0 : ValueOf(ETag(std::string(entry.etag)));
      seen.push_back({Identity(VersionId(std::string(entry.version_id))), value, entry.size, 0});
    }
  }

  void List() {
    operation_.kind = Kind::kList;
    const ListObjects query{.bucket = kBucket, .prefix = GroupPrefix(group_)};
    const auto page = Timed([&] { return shared_.store->List(query); });
    operation_.outcome = OutcomeOf(page);
    if (page.ok()) SawEntries(*page);
    Keep();
  }

  void ListVersions() {
    operation_.kind = Kind::kListVersions;
    const store::ListVersions query{.bucket = kBucket, .prefix = GroupPrefix(group_)};
    const auto page = Timed([&] { return shared_.store->List(query); });
    operation_.outcome = OutcomeOf(page);
    if (!page.ok()) return;
    SawEntries(*page);
    EXPECT_FALSE(page->truncated) << "the test keeps too many versions";
    Keep();
  }

  void CreateUpload() {
    operation_.kind = Kind::kCreateUpload;
    UploadRecord upload;
    upload.bucket = kBucket;
    upload.key = KeyIn(group_, 0);
    upload.owner_id = "owner";
    const auto created = Timed([&] { return shared_.store->CreateUpload(std::move(upload)); });
    operation_.outcome = OutcomeOf(created);
    if (!created.ok()) return;
    const std::string id = (*created)->id.value;
    operation_.upload = Fingerprint(id);
    Keep();
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    known.uploads[id] = {};
  }

  // Picks an upload that a thread has created, and the pieces in its parts. False: none is known.
  bool PickUpload(UploadId& id, Parts& parts, bool forget) {
    operation_.key = 0;
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    if (known.uploads.empty()) return false;
    const auto at =
        std::next(known.uploads.begin(), static_cast<std::ptrdiff_t>(Pick(known.uploads.size())));
    id = UploadId(at->first);
    parts = at->second;
    operation_.upload = Fingerprint(id.value);
    if (forget) known.uploads.erase(at);
    return true;
  }

  void PutPart() {
    operation_.kind = Kind::kPutPart;
    UploadId id;
    Parts parts;
    if (!PickUpload(id, parts, false)) return;
    const std::size_t at = Pick(parts.size());
    const std::uint64_t piece = operation_.parts[at] = shared_.values.fetch_add(1);
    const std::string bytes = BytesOf(piece);
    store::PutPart part{.bucket = kBucket,
                        .key = KeyIn(group_, 0),
                        .upload_id = id,
                        .part = {},
                        .content = MakeContent(*shared_.store, bytes)};
    part.part.number = static_cast<int>(at) + 1;
    part.part.size = bytes.size();
    part.part.etag = ETag(std::to_string(piece));
    const Outcome outcome = operation_.outcome =
        OutcomeOf(Timed([&] { return shared_.store->Put(std::move(part)); }));
    Keep();
    if (outcome != Outcome::kOk) return;
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    if (const auto upload = known.uploads.find(id.value); upload != known.uploads.end())
      upload->second[at] = piece;
  }

  void Complete() {
    operation_.kind = Kind::kComplete;
    UploadId id;
    if (!PickUpload(id, operation_.parts, false) || operation_.parts == Parts{}) return;
    CompleteUpload request;
    request.bucket = kBucket;
    request.key = KeyIn(group_, 0);
    request.upload_id = id;
    request.record.owner_id = "owner";
    std::uint64_t& value = operation_.version.value;
    for (std::size_t i = 0; i < operation_.parts.size(); ++i) {
      const std::uint64_t piece = operation_.parts[i];
      if (piece == 0) continue;
      request.parts.push_back({static_cast<int>(i) + 1, ETag(std::to_string(piece))});
      value = GroupModel::Joined(value, piece);
    }
    request.record.etag = ETag(std::to_string(value));
    request.precondition = ChooseCondition();
    if (Faulty(Fault::kCompleteUnconditional)) request.precondition = nullptr;
    Wrote(Timed([&] { return shared_.store->Complete(std::move(request)); }));
    const Outcome outcome = operation_.outcome;
    Keep();
    if (outcome == Outcome::kRefused || outcome == Outcome::kInvalidPart) return;
    KnownItems& known = shared_.known[group_];
    const MutexLock lock(known.mutex);
    known.uploads.erase(id.value);
  }

  void Abort() {
    operation_.kind = Kind::kAbort;
    UploadId id;
    Parts parts;
    if (!PickUpload(id, parts, true)) return;
    operation_.outcome =
        OutcomeOf(Timed([&] { return shared_.store->AbortUpload(kBucket, KeyIn(group_, 0), id); }));
    Keep();
  }

  void ListUploads() {
    operation_.kind = Kind::kListUploads;
    const store::ListUploads query{.bucket = kBucket, .prefix = GroupPrefix(group_)};
    const auto page = Timed([&] { return shared_.store->List(query); });
    operation_.outcome = OutcomeOf(page);
    if (!page.ok()) return;
    EXPECT_FALSE(page->truncated) << "the test keeps too many uploads";
    for (const UploadListEntry& entry : page->entries)
      operation_.uploads.push_back(Fingerprint(entry.upload->id.value));
    std::sort(operation_.uploads.begin(), operation_.uploads.end());
    Keep();
  }

  SharedState& shared_;
  std::mt19937_64 random_;
  std::size_t group_ = 0;
  Operation operation_;
  std::uint64_t called_ = 0;
  std::uint64_t returned_ = 0;
  std::array<Checker::History, kGroups> histories_;
  std::map<std::string, ObjectPtr> last_read_;
};

struct Verdict {
  std::uint64_t operations = 0;
  std::map<std::pair<Kind, Outcome>, std::uint64_t> counts;
  std::optional<std::string> problem;
};

// Runs rounds of all threads. After each round the checkers, one per group, continue with the
// recorded histories.
Verdict RunHistories(SharedState& shared, std::uint64_t operations, std::uint64_t seed) {
  std::vector<Process> processes;
  for (std::size_t i = 0; i < kThreads; ++i) processes.emplace_back(shared, seed * kThreads + i);
  GroupModel::State initial;
  initial.versioned = shared.versioned;
  std::vector<Checker> checkers(kGroups, Checker(initial));
  Verdict verdict;
  while (verdict.operations < operations && !verdict.problem && !::testing::Test::HasFailure()) {
    {
      std::vector<std::jthread> threads;
      for (Process& process : processes)
        threads.emplace_back([&process] { process.Run(kOperationsPerRound); });
    }
    for (std::size_t group = 0; group < kGroups && !verdict.problem; ++group) {
      Checker::History history;
      for (Process& process : processes) {
        for (auto& record : process.Take(group)) {
          ++verdict.counts[{record.operation.kind, record.operation.outcome}];
          history.push_back(std::move(record));
        }
      }
      verdict.operations += history.size();
      verdict.problem = checkers[group].Check(history);
    }
  }
  return verdict;
}

class Linearizability : public ::testing::TestWithParam<StoreParameters> {
 protected:
  void Open(SharedState& shared) {
    StoreOptions options;
    if (GetParam().on_disk)
      options = {.directory = directory_.path(), .durability = GetParam().durability};
    shared.versioned = GetParam().versioned;
    shared.store = OpenStore(options);
    MakeBucket(*shared.store, kBucket,
               shared.versioned ? Versioning::kEnabled : Versioning::kNever);
  }

  TemporaryDirectory directory_;
};

TEST_P(Linearizability, AllHistoriesAreLinearizable) {
  SharedState shared;
  Open(shared);
  const std::uint64_t seed = NumberFrom("PENSTOCK_PROPERTY_SEED", 1);
  const std::uint64_t default_operations =
      std::getenv("PENSTOCK_LONG") != nullptr ? 10'000'000 : GetParam().sample;
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict =
      RunHistories(shared, NumberFrom("PENSTOCK_HISTORY_OPERATIONS", default_operations), seed);
  EXPECT_FALSE(verdict.problem.has_value()) << "PENSTOCK_PROPERTY_SEED=" << seed << "\n"
                                            << *verdict.problem;
  const auto took =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
  std::cout << verdict.operations << " operations in " << took.count() << " s\n";

  std::set<std::pair<Kind, Outcome>> wanted;
  for (const Outcome outcome : {Outcome::kOk, Outcome::kRefused}) {
    for (const Kind kind : {Kind::kPut, Kind::kCopy, Kind::kComplete})
      wanted.emplace(kind, outcome);
  }
  wanted.emplace(Kind::kComplete, Outcome::kInvalidPart);
  if (!shared.versioned) {
    wanted.emplace(Kind::kRename, Outcome::kOk);
    for (const Outcome outcome : {Outcome::kOk, Outcome::kRefused, Outcome::kNotFound})
      wanted.emplace(Kind::kAppend, outcome);
  }
  for (const auto& [kind, outcome] : wanted) {
    EXPECT_TRUE(verdict.counts.contains({kind, outcome}))
        << "kind " << static_cast<int>(kind) << ", outcome " << static_cast<int>(outcome);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stores, Linearizability,
    ::testing::Values(
        StoreParameters{"memory", false, Durability::kRelaxed, false, 60'000},
        StoreParameters{"memory_versioned", false, Durability::kRelaxed, true, 30'000},
        StoreParameters{"relaxed", true, Durability::kRelaxed, false, 60'000},
        StoreParameters{"relaxed_versioned", true, Durability::kRelaxed, true, 30'000},
        StoreParameters{"strict", true, Durability::kStrict, false, 18'000},
        StoreParameters{"strict_versioned", true, Durability::kStrict, true, 18'000}),
    [](const auto& tested) { return std::string(tested.param.name); });

void PrintTo(const StoreParameters& tested, std::ostream* out) { *out << tested.name; }

class PlantedFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsDetected) {
  SharedState shared;
  shared.store = OpenStore({});
  MakeBucket(*shared.store);
  shared.fault = GetParam();
  const Verdict verdict = RunHistories(shared, 1'000'000, 1);
  ASSERT_TRUE(verdict.problem.has_value())
      << "no violation among " << verdict.operations << " operations";
  EXPECT_NE(verdict.problem->find("no instant explains: "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFault,
                         ::testing::Values(Fault::kStaleRead, Fault::kStaleCopy,
                                           Fault::kAppendAnywhere, Fault::kAppendWithoutCheck,
                                           Fault::kCompleteUnconditional));

}  // namespace
}  // namespace penstock::emulator::store
