// The reference model of the linearizability test: a group of keys with their versions and uploads.
#ifndef PENSTOCK_EMULATOR_STORE_GROUP_MODEL_TESTING_H_
#define PENSTOCK_EMULATOR_STORE_GROUP_MODEL_TESTING_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::emulator::store::testing {

// Listings use the group's prefix, so that one operation reads the whole group and none reads two
// groups.
struct GroupModel {
  static constexpr std::size_t kKeys = 3;
  static constexpr std::size_t kParts = 2;

  struct Version {
    std::uint64_t id = 0;     // 0 if the bucket is not versioned
    std::uint64_t value = 0;  // identifies the body (Joined); 0: a delete marker
    std::uint64_t size = 0;
    std::uint32_t tag = 0;  // 0: none
    bool operator==(const Version&) const = default;
  };
  // Every piece of a body has its own number. The value of a body: Joined over its pieces in order.
  static std::uint64_t Joined(std::uint64_t value, std::uint64_t piece) {
    return value == 0 ? piece : (value ^ (piece << 32)) * 0x9E3779B97F4A7C15ULL + piece;
  }

  struct Upload {
    std::uint64_t id = 0;
    std::array<std::uint64_t, kParts> parts{};  // the piece in each part; 0: none
    bool operator==(const Upload&) const = default;
  };
  struct State {
    bool versioned = false;
    std::array<std::vector<Version>, kKeys> keys;  // newest first
    std::vector<Upload> uploads;                   // open uploads, sorted by id
    bool operator==(const State&) const = default;
    std::size_t Hash() const {
      std::size_t hash = 0;
      const auto mix = [&](std::uint64_t part) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL + (hash >> 29);
      };
      for (const auto& versions : keys) {
        mix(versions.size());
        for (const Version& version : versions)
          mix(version.id ^ (version.value << 20) ^ version.tag);
      }
      for (const Upload& upload : uploads) mix(upload.id ^ upload.parts[0] ^ upload.parts[1] << 20);
      return hash;
    }
  };

  enum class Kind {
    kPut,
    kCopy,  // the write of a copy; its read is a kGet or kGetVersion
    kAppend,
    kComplete,
    kGet,
    kGetVersion,
    kDelete,
    kDeleteVersion,
    kDeleteBoth,  // deletes `key` and `other` in one commit
    kTag,
    kRename,  // renames `key` to `other`
    kList,
    kListVersions,
    kCreateUpload,
    kPutPart,
    kAbort,
    kListUploads,
  };
  enum class Condition { kNone, kAbsent, kMatches };
  enum class Outcome { kOk, kNotFound, kRefused, kInvalidPart };
  struct Operation {
    Kind kind{};
    std::size_t key = 0;
    std::size_t other = 0;
    Condition condition = Condition::kNone;
    std::uint64_t expected = 0;  // kMatches: the expected value
    Version version;             // written or read
    std::uint64_t offset = 0;    // kAppend
    std::uint64_t piece = 0;     // kAppend
    std::uint64_t upload = 0;
    // kPutPart: the piece of the part that it writes. kComplete: those of the parts that it lists.
    std::array<std::uint64_t, kParts> parts{};
    // Results.
    Outcome outcome = Outcome::kOk;
    std::array<bool, 2> existed{};  // deletions: whether `key` and `other` existed
    // Listings: without tags; kList: the latest version only.
    std::array<std::vector<Version>, kKeys> seen;
    std::vector<std::uint64_t> uploads;  // kListUploads, sorted
  };

  static bool Apply(State& state, const Operation& op) {
    switch (op.kind) {
      case Kind::kPut:
      case Kind::kCopy: return Put(state, op);
      case Kind::kAppend: return Append(state, op);
      case Kind::kComplete: return Complete(state, op);
      case Kind::kGet: return Get(state, op);
      case Kind::kGetVersion: return GetVersion(state, op);
      case Kind::kDelete: return Delete(state, op, op.key, op.existed[0]);
      case Kind::kDeleteVersion: return DeleteVersion(state, op);
      case Kind::kDeleteBoth:
        return Delete(state, op, op.key, op.existed[0]) &&
               Delete(state, op, op.other, op.existed[1]);
      case Kind::kTag: return Tag(state, op);
      case Kind::kRename: return Rename(state, op);
      case Kind::kList:
      case Kind::kListVersions: return List(state, op);
      case Kind::kCreateUpload:
        state.uploads.insert(FindUpload(state, op.upload), Upload{op.upload, {}});
        return true;
      case Kind::kPutPart: return PutPart(state, op);
      case Kind::kAbort: return Abort(state, op);
      case Kind::kListUploads:
        return std::equal(state.uploads.begin(), state.uploads.end(), op.uploads.begin(),
                          op.uploads.end(),
                          [](const Upload& upload, std::uint64_t id) { return upload.id == id; });
    }
    return false;
  }

  static std::string Describe(const Operation& op) {
    static constexpr const char* kNames[] = {
        "put",          "copy",        "append",         "complete upload", "get",
        "get version",  "delete",      "delete version", "delete both",     "tag",
        "rename",       "list",        "list versions",  "create upload",   "put part",
        "abort upload", "list uploads"};
    static constexpr const char* kOutcomes[] = {"", ", not found", ", precondition failed",
                                                ", invalid part"};
    std::string text =
        std::string(kNames[static_cast<int>(op.kind)]) + " key " + std::to_string(op.key);
    if (op.kind == Kind::kRename || op.kind == Kind::kDeleteBoth)
      text += " and key " + std::to_string(op.other);
    if (op.condition == Condition::kAbsent) text += " if absent";
    if (op.condition == Condition::kMatches) text += " if it is " + std::to_string(op.expected);
    if (op.kind == Kind::kAppend)
      text += " of " + std::to_string(op.piece) + " at offset " + std::to_string(op.offset);
    text += ": " + DescribeVersion(op.version) + kOutcomes[static_cast<int>(op.outcome)];
    if (op.existed[0] || op.existed[1])
      text +=
          std::string(", existed: ") + (op.existed[0] ? "1" : "0") + (op.existed[1] ? "1" : "0");
    if (op.kind == Kind::kList || op.kind == Kind::kListVersions)
      text += ", saw " + DescribeKeys(op.seen);
    return text;
  }
  static std::string DescribeState(const State& state) {
    return DescribeKeys(state.keys) + " and " + std::to_string(state.uploads.size()) + " uploads";
  }

 private:
  static const Version* Latest(const State& state, std::size_t key) {
    const auto& versions = state.keys[key];
    return versions.empty() || versions.front().value == 0 ? nullptr : &versions.front();
  }

  static void Add(State& state, std::size_t key, Version version) {
    auto& versions = state.keys[key];
    if (!state.versioned) versions.clear();
    versions.insert(versions.begin(), version);
  }

  static bool Admits(const State& state, const Operation& op) {
    const Version* const latest = Latest(state, op.key);
    if (op.condition == Condition::kAbsent) return latest == nullptr;
    if (op.condition == Condition::kMatches)
      return latest != nullptr && latest->value == op.expected;
    return true;
  }

  static bool Put(State& state, const Operation& op) {
    const bool admitted = Admits(state, op);
    if (admitted != (op.outcome == Outcome::kOk)) return false;
    if (admitted) Add(state, op.key, op.version);
    return true;
  }

  // Extends the object if `offset` is its size. Offset 0 also creates the object.
  static bool Append(State& state, const Operation& op) {
    const Version* const latest = Latest(state, op.key);
    if (latest == nullptr && op.offset != 0) return op.outcome == Outcome::kNotFound;
    const Version before = latest == nullptr ? Version() : *latest;
    if (before.size != op.offset) return op.outcome == Outcome::kRefused;
    if (op.outcome != Outcome::kOk || op.version.value != Joined(before.value, op.piece))
      return false;
    Add(state, op.key, op.version);
    return true;
  }

  static bool Get(const State& state, const Operation& op) {
    const Version* const latest = Latest(state, op.key);
    if (latest == nullptr) return op.outcome == Outcome::kNotFound;
    return op.outcome == Outcome::kOk && *latest == op.version;
  }

  static bool GetVersion(const State& state, const Operation& op) {
    const auto& versions = state.keys[op.key];
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [&](const Version& it) { return it.id == op.version.id; });
    if (found == versions.end()) return op.outcome == Outcome::kNotFound;
    return op.outcome == Outcome::kOk && *found == op.version;
  }

  static bool Delete(State& state, const Operation& op, std::size_t key, bool existed) {
    if ((Latest(state, key) != nullptr) != existed) return false;
    if (state.versioned) {
      Add(state, key, {op.version.id, 0, 0});
    } else {
      state.keys[key].clear();
    }
    return true;
  }

  static bool DeleteVersion(State& state, const Operation& op) {
    auto& versions = state.keys[op.key];
    const auto found = std::find_if(versions.begin(), versions.end(),
                                    [&](const Version& it) { return it.id == op.version.id; });
    if ((found != versions.end()) != op.existed[0]) return false;
    if (found != versions.end()) versions.erase(found);
    return true;
  }

  static bool Tag(State& state, const Operation& op) {
    if (Latest(state, op.key) == nullptr) return op.outcome == Outcome::kNotFound;
    if (op.outcome != Outcome::kOk) return false;
    state.keys[op.key].front().tag = op.version.tag;
    return true;
  }

  static bool Rename(State& state, const Operation& op) {
    const Version* const source = Latest(state, op.key);
    if (source == nullptr) return op.outcome == Outcome::kNotFound;
    if (op.outcome != Outcome::kOk) return false;
    if (op.key != op.other) {
      state.keys[op.other] = std::move(state.keys[op.key]);
      state.keys[op.key].clear();
    }
    return true;
  }

  static bool List(const State& state, const Operation& op) {
    for (std::size_t key = 0; key < kKeys; ++key) {
      std::size_t shown = state.keys[key].size();
      if (op.kind == Kind::kList) shown = Latest(state, key) == nullptr ? 0 : 1;
      if (op.seen[key].size() != shown) return false;
      for (std::size_t i = 0; i < shown; ++i) {
        const Version& version = state.keys[key][i];
        if (op.seen[key][i].value != version.value) return false;
        if (op.kind == Kind::kListVersions && op.seen[key][i].id != version.id) return false;
      }
    }
    return true;
  }

  static std::vector<Upload>::iterator FindUpload(State& state, std::uint64_t id) {
    return std::lower_bound(state.uploads.begin(), state.uploads.end(), id,
                            [](const Upload& it, std::uint64_t wanted) { return it.id < wanted; });
  }
  // Null: the upload is not open.
  static Upload* OpenUpload(State& state, std::uint64_t id) {
    const auto found = FindUpload(state, id);
    return found != state.uploads.end() && found->id == id ? &*found : nullptr;
  }

  static bool Complete(State& state, const Operation& op) {
    const Upload* const upload = OpenUpload(state, op.upload);
    if (upload == nullptr) return op.outcome == Outcome::kNotFound;
    if (!Admits(state, op)) return op.outcome == Outcome::kRefused;
    for (std::size_t i = 0; i < kParts; ++i) {
      if (op.parts[i] != 0 && op.parts[i] != upload->parts[i])
        return op.outcome == Outcome::kInvalidPart;
    }
    if (op.outcome != Outcome::kOk) return false;
    state.uploads.erase(FindUpload(state, op.upload));
    Add(state, op.key, op.version);
    return true;
  }

  static bool PutPart(State& state, const Operation& op) {
    Upload* const upload = OpenUpload(state, op.upload);
    if (upload == nullptr) return op.outcome == Outcome::kNotFound;
    for (std::size_t i = 0; i < kParts; ++i) {
      if (op.parts[i] != 0) upload->parts[i] = op.parts[i];
    }
    return op.outcome == Outcome::kOk;
  }

  static bool Abort(State& state, const Operation& op) {
    if (OpenUpload(state, op.upload) == nullptr) return op.outcome == Outcome::kNotFound;
    state.uploads.erase(FindUpload(state, op.upload));
    return op.outcome == Outcome::kOk;
  }

  static std::string DescribeVersion(const Version& version) {
    return std::to_string(version.value) +
           (version.tag != 0 ? " tagged " + std::to_string(version.tag) : "");
  }
  static std::string DescribeKeys(const std::array<std::vector<Version>, kKeys>& keys) {
    std::string text;
    for (const auto& versions : keys) {
      text += "[";
      for (const Version& version : versions) text += " " + DescribeVersion(version);
      text += " ]";
    }
    return text;
  }
};

}  // namespace penstock::emulator::store::testing

#endif  // PENSTOCK_EMULATOR_STORE_GROUP_MODEL_TESTING_H_
