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

  struct Version {
    std::uint64_t id = 0;     // 0 if the bucket is not versioned
    std::uint32_t value = 0;  // identifies the put that created it; 0: a delete marker
    std::uint32_t tag = 0;    // 0: none
    bool operator==(const Version&) const = default;
  };
  struct State {
    bool versioned = false;
    std::array<std::vector<Version>, kKeys> keys;  // newest first
    std::vector<std::uint64_t> uploads;            // open uploads, sorted
    bool operator==(const State&) const = default;
    std::size_t Hash() const {
      std::size_t hash = 0;
      const auto mix = [&](std::uint64_t part) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL + (hash >> 29);
      };
      for (const auto& versions : keys) {
        mix(versions.size());
        for (const Version& version : versions)
          mix(version.id ^ (std::uint64_t{version.value} << 20) ^ version.tag);
      }
      for (const std::uint64_t upload : uploads) mix(upload);
      return hash;
    }
  };

  enum class Kind {
    kPut,
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
  enum class Outcome { kOk, kNotFound, kRefused };
  struct Operation {
    Kind kind{};
    std::size_t key = 0;
    std::size_t other = 0;
    Condition condition = Condition::kNone;
    std::uint32_t expected = 0;  // kMatches: the expected value
    Version version;             // written or read
    std::uint64_t upload = 0;
    // Results.
    Outcome outcome = Outcome::kOk;
    std::array<bool, 2> existed{};  // deletions: whether `key` and `other` existed
    // Listings: without tags; kList: the latest version only.
    std::array<std::vector<Version>, kKeys> seen;
    std::vector<std::uint64_t> uploads;  // kListUploads, sorted
  };

  static bool Apply(State& state, const Operation& op) {
    switch (op.kind) {
      case Kind::kPut: return Put(state, op);
      case Kind::kComplete:
        return RemoveUpload(state, op, op.outcome != Outcome::kRefused) &&
               (op.outcome == Outcome::kNotFound || Put(state, op));
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
        state.uploads.insert(
            std::lower_bound(state.uploads.begin(), state.uploads.end(), op.upload), op.upload);
        return true;
      case Kind::kPutPart: return RemoveUpload(state, op, false);
      case Kind::kAbort: return RemoveUpload(state, op, true);
      case Kind::kListUploads: return state.uploads == op.uploads;
    }
    return false;
  }

  static std::string Describe(const Operation& op) {
    static constexpr const char* kNames[] = {"put",           "complete upload",
                                             "get",           "get version",
                                             "delete",        "delete version",
                                             "delete both",   "tag",
                                             "rename",        "list",
                                             "list versions", "create upload",
                                             "put part",      "abort upload",
                                             "list uploads"};
    std::string text =
        std::string(kNames[static_cast<int>(op.kind)]) + " key " + std::to_string(op.key);
    if (op.kind == Kind::kRename || op.kind == Kind::kDeleteBoth)
      text += " and key " + std::to_string(op.other);
    if (op.condition == Condition::kAbsent) text += " if absent";
    if (op.condition == Condition::kMatches) text += " if it is " + std::to_string(op.expected);
    text += ": " + DescribeVersion(op.version);
    if (op.outcome != Outcome::kOk)
      text += op.outcome == Outcome::kNotFound ? ", not found" : ", precondition failed";
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

  static bool Put(State& state, const Operation& op) {
    const Version* const latest = Latest(state, op.key);
    bool admitted = true;
    if (op.condition == Condition::kAbsent) admitted = latest == nullptr;
    if (op.condition == Condition::kMatches)
      admitted = latest != nullptr && latest->value == op.expected;
    if (admitted != (op.outcome == Outcome::kOk)) return false;
    if (admitted) Add(state, op.key, op.version);
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

  // For operations that need the upload: if it does not exist, the outcome must be kNotFound.
  static bool RemoveUpload(State& state, const Operation& op, bool remove) {
    const auto found = std::lower_bound(state.uploads.begin(), state.uploads.end(), op.upload);
    const bool exists = found != state.uploads.end() && *found == op.upload;
    if (exists == (op.outcome == Outcome::kNotFound)) return false;
    if (exists && remove) state.uploads.erase(found);
    return true;
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
