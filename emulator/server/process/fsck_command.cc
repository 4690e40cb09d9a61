#include "emulator/server/process/fsck_command.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "emulator/identity/user_database.h"
#include "emulator/identity/user_database_check.h"
#include "emulator/server/namespaces/data_directory.h"
#include "emulator/server/namespaces/namespaces.h"
#include "emulator/store/checks/fsck.h"
#include "emulator/store/sqlite/commit_check.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/system/directory_lock.h"
#include "emulator/store/system/directory_names.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

constexpr int kFindings = 1;
constexpr int kNotChecked = 2;
constexpr int kDeepest = 4;  // levels of directories between the data directory and a store

struct Flags {
  std::string directory;
  bool deep = false;
  bool json = false;
  bool accept_loss = false;
  bool upgrade = false;
};

std::string OneLine(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

FsckOutcome NotChecked(std::string message) {
  return {kNotChecked, {}, OneLine(std::move(message))};
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Returns true if the directory is that of a store.
bool CollectStore(const fs::path& folder, FoundStores& found) {
  if (!Exists(folder / "penstock.db") && !Exists(folder / "penstock.db-mark")) return false;
  const bool is_unfinished = store::IsUnfinishedStore(folder.string());
  (is_unfinished ? found.leftovers : found.stores).push_back(folder.string());
  return true;
}

// Directories of other programs, such as lost+found, may be unreadable.
bool IsOfEmulator(const fs::path& folder, int depth) {
  return depth == 0 || folder.filename() == "namespaces" ||
         folder.parent_path().filename() == "namespaces";
}

void Collect(const fs::path& folder, int depth, FoundStores& found) {
  if (CollectStore(folder, found) || depth == kDeepest || DataDirectory::IsDeleted(folder.string()))
    return;
  const bool is_of_namespaces = depth == 1 && folder.filename() == "namespaces";
  std::error_code error;
  std::optional<std::pair<std::uint64_t, fs::path>> living;
  std::vector<std::string> unfinished;
  bool has_generations = false;
  for (const std::string& name : store::NamesIn(folder.string(), error)) {
    const fs::path path = folder / name;
    if (is_of_namespaces && Namespaces::IsForeign(folder.parent_path().string(), name)) {
      found.foreign.push_back(path.string());
      continue;
    }
    std::error_code ignored;
    if (!fs::is_directory(path, ignored) || DataDirectory::IsTrash(name)) continue;
    const auto generation = is_of_namespaces ? std::nullopt : DataDirectory::GenerationOf(name);
    // A start follows a link, but other links may lead anywhere.
    if (!generation && !IsOfEmulator(path, depth + 1) && fs::is_symlink(path, ignored)) continue;
    has_generations = has_generations || generation;
    if (!generation) {
      Collect(path, depth + 1, found);
    } else if (store::IsUnfinishedStore(path.string())) {
      unfinished.push_back(path.string());
    } else if (!living || *generation > living->first) {
      living = {*generation, path};
    }
  }
  if (error && IsOfEmulator(folder, depth))
    found.unreadable.push_back({folder.string(), error.message()});
  if (error || is_of_namespaces) return;
  if (living) found.stores.push_back(living->second.string());
  const auto problem = DataDirectory::StoreProblem(folder.string());
  if (problem.ok() && !problem->empty()) {
    found.problems.push_back({folder.string(), *problem});
    return;
  }
  if (!has_generations && Exists(folder / "penstock.lock"))
    found.leftovers.push_back(folder.string());
  found.leftovers.insert(found.leftovers.end(), unfinished.begin(), unfinished.end());
}

nlohmann::ordered_json ToJson(const std::vector<store::FsckFinding>& findings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const store::FsckFinding& finding : findings) {
    json.push_back({{"kind", finding.is_note ? "note" : "damage"},
                    {"code", finding.code},
                    {"subject", finding.subject},
                    {"message", finding.message}});
  }
  return json;
}

nlohmann::ordered_json ToJson(const std::string& store, const store::FsckReport& report) {
  nlohmann::ordered_json json;
  json["store"] = store;
  json["clean"] = report.clean();
  json["buckets"] = report.buckets;
  json["versions"] = report.versions;
  json["uploads"] = report.uploads;
  json["parts"] = report.parts;
  json["blobs"] = report.blobs;
  json["bytes_read"] = report.bytes_read;
  json["findings"] = ToJson(report.findings);
  json["omitted"] = report.omitted;
  return json;
}

nlohmann::ordered_json ToJson(const identity::UserDatabaseReport& report) {
  return {{"file", report.path},
          {"clean", report.clean()},
          {"accounts", report.accounts},
          {"access_keys", report.access_keys},
          {"findings", ToJson(report.findings)}};
}

std::string ToText(const std::vector<store::FsckFinding>& findings) {
  std::string text;
  for (const store::FsckFinding& finding : findings) {
    text +=
        (finding.is_note ? "note: " : "damage: ") + finding.subject + ": " + finding.message + "\n";
  }
  return text;
}

std::string ToText(const identity::UserDatabaseReport& report) {
  return ToText(report.findings) + report.path + ": " + (report.clean() ? "clean" : "damaged") +
         ", " + std::to_string(report.accounts) + " accounts, " +
         std::to_string(report.access_keys) + " access keys\n";
}

std::string ToText(const std::string& store, const store::FsckReport& report) {
  std::string text = ToText(report.findings);
  if (report.omitted > 0) text += "and " + std::to_string(report.omitted) + " more\n";
  return text + store + ": " + (report.clean() ? "clean" : "damaged") + ", " +
         std::to_string(report.buckets) + " buckets, " + std::to_string(report.versions) +
         " versions, " + std::to_string(report.uploads) + " uploads, " +
         std::to_string(report.blobs) + " blobs\n";
}

// Accepts the loss of damaged database contents.
Result<void> AcceptLoss(const std::string& directory, const std::vector<std::string>& stores) {
  for (const std::string& store : stores)
    PENSTOCK_TRY(store::AcceptCommitLoss(store + "/penstock.db"));
  return identity::AcceptUsersLoss(directory);
}

// Upgrades databases of older versions. Damaged and newer ones stay as they are: the check reports
// them.
Result<void> Upgrade(const std::string& directory, const std::vector<std::string>& stores) {
  const auto unless_reported = [](const auto& upgraded) -> Result<void> {
    if (upgraded.ok() || upgraded.error().kind == ErrorKind::kDataLoss ||
        upgraded.error().kind == ErrorKind::kInvalidArgument)
      return Ok();
    return upgraded.error();
  };
  for (const std::string& store : stores)
    PENSTOCK_TRY(unless_reported(store::UpgradeDatabase(store + "/penstock.db")));
  if (!Exists(fs::path(directory) / identity::kUserDatabaseFile)) return Ok();
  return unless_reported(identity::UserDatabase::Open(directory, store::Durability::kStrict));
}

// Makes the changes that `flags` ask for; the following check reports what remains.
Result<void> ChangeStores(const Flags& flags, const std::vector<std::string>& stores) {
  if (!flags.accept_loss && !flags.upgrade) return Ok();
  // Locked while an emulator uses the directory.
  PENSTOCK_ASSIGN(const auto lock, store::DirectoryLock::Take(flags.directory));
  if (flags.accept_loss) PENSTOCK_TRY(AcceptLoss(flags.directory, stores));
  return flags.upgrade ? Upgrade(flags.directory, stores) : Ok();
}

// Collects the output of one run: the text or JSON object, and the exit status.
class Findings {
 public:
  explicit Findings(bool json) : json_(json) {}

  void Add(const std::string& store, const store::FsckReport& report) {
    Note(report.clean());
    all_["stores"].push_back(ToJson(store, report));
    text_ += ToText(store, report);
  }
  void Add(const identity::UserDatabaseReport& report) {
    Note(report.clean());
    all_["users"] = ToJson(report);
    text_ += ToText(report);
  }
  void AddLeftovers(const std::vector<store::FsckFinding>& leftovers) {
    Note(std::all_of(leftovers.begin(), leftovers.end(),
                     [](const store::FsckFinding& leftover) { return leftover.is_note; }));
    all_["leftovers"] = ToJson(leftovers);
    text_ += ToText(leftovers);
  }
  // The store could not be checked, for example because of another build's schema version. The
  // other stores are checked.
  void AddUnchecked(const std::string& store, const std::string& message) {
    all_["clean"] = false;
    all_["stores"].push_back({{"store", store}, {"clean", false}, {"not_checked", message}});
    text_ += store + ": not checked\n";
    if (error_.empty()) error_ = OneLine(message);
  }

  FsckOutcome Finish() && {
    const int status = is_damaged_ ? kFindings : error_.empty() ? 0 : kNotChecked;
    // Keys are bytes; invalid UTF-8 is replaced.
    if (json_)
      text_ = all_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    return {status, std::move(text_), std::move(error_)};
  }

 private:
  void Note(bool is_clean) {
    if (is_clean) return;
    is_damaged_ = true;
    all_["clean"] = false;
  }

  const bool json_;
  bool is_damaged_ = false;
  nlohmann::ordered_json all_{{"clean", true}, {"stores", nlohmann::ordered_json::array()}};
  std::string text_;
  std::string error_;
};

std::vector<store::FsckFinding> Leftovers(const FoundStores& found) {
  std::vector<store::FsckFinding> findings;
  for (const auto& [folder, problem] : found.problems)
    findings.push_back({"store", folder, problem, false});
  for (const std::string& folder : found.leftovers) {
    findings.push_back(
        {"leftover", folder,
         "the creation of this store was interrupted, and nothing was stored in it; the next "
         "start removes it",
         true});
  }
  for (const std::string& path : found.foreign)
    findings.push_back({"foreign", path, "is not a namespace; the emulator ignores it", true});
  return findings;
}

// Returns an error if nothing can be checked.
Result<void> CheckStore(const std::string& store, const Flags& flags, Findings& findings) {
  const auto report = store::Fsck({.directory = store, .deep = flags.deep});
  if (report.ok()) {
    findings.Add(store, *report);
    return Ok();
  }
  const Error& error = report.error();
  if (error.kind == ErrorKind::kConflict) return error;  // in use
  if (error.kind != ErrorKind::kDataLoss) {
    findings.AddUnchecked(store, error.message);
    return Ok();
  }
  store::FsckReport damaged;
  damaged.findings.push_back(
      {"database", store + "/penstock.db", "cannot be checked: " + error.message, false});
  findings.Add(store, damaged);
  return Ok();
}

void AddUsers(const std::string& directory, Findings& findings) {
  const auto users = identity::CheckUserDatabase(
      directory, [&](const std::string& name) { return Namespaces::StateOf(directory, name); });
  const std::string path = directory + "/" + std::string(identity::kUserDatabaseFile);
  if (users.ok()) {
    if (*users) findings.Add(**users);
  } else if (users.error().kind != ErrorKind::kDataLoss) {
    findings.AddUnchecked(path, users.error().message);
  } else {
    identity::UserDatabaseReport damaged;
    damaged.path = path;
    damaged.findings.push_back(
        {"database", path, "cannot be checked: " + users.error().message, false});
    findings.Add(damaged);
  }
}

// Ensures that the output is one JSON object in all cases.
FsckOutcome InJson(FsckOutcome outcome) {
  if (outcome.out.empty()) {
    const nlohmann::ordered_json unchecked{
        {"clean", false}, {"stores", nlohmann::ordered_json::array()}, {"error", outcome.error}};
    outcome.out =
        unchecked.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return outcome;
}

FsckOutcome Check(const Flags& flags) {
  const FoundStores found = StoresIn(flags.directory);
  const auto unreadable = [](const auto& folder) {
    return "cannot read the directory '" + folder.first + "': " + folder.second +
           "; check the path, and that this user may read it";
  };
  if (found.stores.empty() && found.leftovers.empty() && found.problems.empty()) {
    if (!found.unreadable.empty()) return NotChecked(unreadable(found.unreadable.front()));
    return NotChecked("there is no store in '" + flags.directory +
                      "'; give the directory that --data names");
  }
  if (const auto changed = ChangeStores(flags, found.stores); !changed.ok())
    return NotChecked(changed.error().message);
  // An emulator holds this lock until all its databases are closed. It may close stores of its
  // namespaces earlier.
  const auto lock = store::DirectoryLock::Share(flags.directory);
  if (!lock.ok()) return NotChecked(lock.error().message);
  Findings findings(flags.json);
  for (const std::string& store : found.stores) {
    const auto checked = CheckStore(store, flags, findings);
    if (!checked.ok()) return NotChecked(checked.error().message);
  }
  for (const auto& folder : found.unreadable)
    findings.AddUnchecked(folder.first, unreadable(folder));
  findings.AddLeftovers(Leftovers(found));
  AddUsers(flags.directory, findings);
  return std::move(findings).Finish();
}

}  // namespace

FoundStores StoresIn(const std::string& directory) {
  FoundStores found;
  Collect(directory, 0, found);
  std::sort(found.stores.begin(), found.stores.end());
  std::sort(found.leftovers.begin(), found.leftovers.end());
  std::sort(found.foreign.begin(), found.foreign.end());
  return found;
}

FsckOutcome RunFsck(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Checks a data directory; without --accept-loss and --upgrade it changes nothing. Exit "
      "status: 0 clean, 1 damage found, 2 not checked.",
      "penstock-emulator fsck");
  Flags flags;
  app.add_option("directory", flags.directory, "the directory that --data names")->required();
  app.add_flag("--deep", flags.deep, "also read every byte and compare ETags and checksums");
  app.add_flag(
      "--accept-loss", flags.accept_loss,
      "first accept the loss of committed changes in a damaged log or database file, so that "
      "the emulator can start again");
  app.add_flag(
      "--upgrade", flags.upgrade,
      "first upgrade databases of older versions; an emulator upgrades a namespace when it "
      "is first used");
  app.add_flag("--json", flags.json, "print one JSON object");
  try {
    // CLI11 expects the arguments in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return {0, app.help(), {}};
  } catch (const CLI::ParseError& error) {
    return NotChecked(error.what());
  }
  FsckOutcome outcome = Check(flags);
  return flags.json ? InJson(std::move(outcome)) : outcome;
}

}  // namespace penstock::emulator::server
