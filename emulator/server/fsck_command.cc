#include "emulator/server/fsck_command.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "emulator/server/data_directory.h"
#include "emulator/server/kept_users.h"
#include "emulator/server/kept_users_check.h"
#include "emulator/store/commit_check.h"
#include "emulator/store/fsck.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

constexpr int kFindings = 1;
constexpr int kNotChecked = 2;
constexpr int kDeepest = 4;  // folders between the data directory and a store

struct Flags {
  std::string directory;
  bool deep = false;
  bool json = false;
  bool accept_loss = false;
};

FsckOutcome NotChecked(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  return {kNotChecked, {}, std::move(message)};
}

void Collect(const fs::path& folder, int depth, std::vector<std::string>& stores) {
  std::error_code error;
  if (fs::exists(folder / "penstock.db", error) || fs::exists(folder / "penstock.db-mark", error)) {
    stores.push_back(folder.string());
    return;
  }
  if (depth == kDeepest || DataDirectory::IsDeleted(folder.string())) return;
  std::optional<std::pair<std::uint64_t, fs::path>> living;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored) || at->is_symlink(ignored)) continue;
    const std::string name = at->path().filename().string();
    if (DataDirectory::IsGrave(name)) continue;
    const auto generation = DataDirectory::GenerationOf(name);
    if (!generation) {
      Collect(at->path(), depth + 1, stores);
    } else if (!living || *generation > living->first) {
      living = {*generation, at->path()};
    }
  }
  if (living) Collect(living->second, depth + 1, stores);
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

nlohmann::ordered_json ToJson(const KeptUsersReport& report) {
  return {{"file", report.path},
          {"clean", report.clean()},
          {"accounts", report.accounts},
          {"access_keys", report.access_keys},
          {"findings", ToJson(report.findings)}};
}

std::string ToText(const std::vector<store::FsckFinding>& findings) {
  std::string text;
  for (const store::FsckFinding& finding : findings) {
    text += (finding.is_note ? "note: " : "damage: ") + finding.subject + ": " + finding.message + "\n";
  }
  return text;
}

std::string ToText(const KeptUsersReport& report) {
  return ToText(report.findings) + report.path + ": " + (report.clean() ? "clean" : "damaged") + ", " +
         std::to_string(report.accounts) + " accounts, " + std::to_string(report.access_keys) + " access keys\n";
}

std::string ToText(const std::string& store, const store::FsckReport& report) {
  std::string text = ToText(report.findings);
  if (report.omitted > 0) text += "and " + std::to_string(report.omitted) + " more\n";
  return text + store + ": " + (report.clean() ? "clean" : "damaged") + ", " + std::to_string(report.buckets) +
         " buckets, " + std::to_string(report.versions) + " versions, " + std::to_string(report.uploads) + " uploads, " +
         std::to_string(report.blobs) + " blobs\n";
}

// Gives up what the databases of the directory lost; the check that follows says what is left. Empty: done.
std::string AcceptLoss(const std::string& directory, const std::vector<std::string>& stores) {
  // Held while an emulator uses the directory.
  const auto data = DataDirectory::Open(directory);
  if (!data.ok()) return data.error().message;
  std::vector<std::string> databases;
  for (const std::string& store : stores) databases.push_back(store + "/penstock.db");
  databases.push_back(directory + "/" + std::string(kKeptUsersFile));
  for (const std::string& database : databases) {
    const auto accepted = store::AcceptCommitLoss(database);
    if (!accepted.ok()) return accepted.error().message;
  }
  return {};
}

// One JSON object whatever happened.
FsckOutcome InJson(FsckOutcome outcome) {
  if (!outcome.error.empty()) {
    const nlohmann::ordered_json unchecked{{"clean", false}, {"stores", nlohmann::ordered_json::array()}, {"error", outcome.error}};
    outcome.out = unchecked.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return outcome;
}

FsckOutcome Check(const Flags& flags) {
  const std::vector<std::string> stores = StoresIn(flags.directory);
  if (stores.empty()) {
    return NotChecked("there is no store in '" + flags.directory + "'; name the directory that --data named");
  }
  if (flags.accept_loss) {
    if (std::string error = AcceptLoss(flags.directory, stores); !error.empty()) return NotChecked(std::move(error));
  }
  FsckOutcome outcome;
  nlohmann::ordered_json all{{"clean", true}, {"stores", nlohmann::ordered_json::array()}};
  for (const std::string& store : stores) {
    const auto report = store::Fsck({.directory = store, .deep = flags.deep});
    if (!report.ok()) return NotChecked(report.error().message);
    if (!report->clean()) {
      outcome.status = kFindings;
      all["clean"] = false;
    }
    all["stores"].push_back(ToJson(store, *report));
    if (!flags.json) outcome.out += ToText(store, *report);
  }
  // The stores were not in use, so nobody has the users open.
  const auto users = CheckKeptUsers(flags.directory);
  if (!users.ok()) return NotChecked(users.error().message);
  if (*users) {
    if (!(*users)->clean()) {
      outcome.status = kFindings;
      all["clean"] = false;
    }
    all["users"] = ToJson(**users);
    if (!flags.json) outcome.out += ToText(**users);
  }
  // Keys are bytes: what is no UTF-8 is replaced.
  if (flags.json) outcome.out = all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return outcome;
}

}  // namespace

std::vector<std::string> StoresIn(const std::string& directory) {
  std::vector<std::string> stores;
  Collect(directory, 0, stores);
  std::sort(stores.begin(), stores.end());
  return stores;
}

FsckOutcome RunFsck(const std::vector<std::string>& arguments) {
  CLI::App app("Checks a data directory; without --accept-loss it changes nothing. Exit status: 0 clean, 1 damage found, 2 not "
               "checked.",
               "penstock-emulator fsck");
  Flags flags;
  app.add_option("directory", flags.directory, "what --data named")->required();
  app.add_flag("--deep", flags.deep, "also read every byte and compare ETags and checksums");
  app.add_flag("--accept-loss", flags.accept_loss,
               "first give up committed changes that a damaged log or database file lost, so that the emulator starts again");
  app.add_flag("--json", flags.json, "print one JSON object");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them last first
  } catch (const CLI::CallForHelp&) {
    return {0, app.help(), {}};
  } catch (const CLI::ParseError& error) {
    return NotChecked(error.what());
  }
  FsckOutcome outcome = Check(flags);
  return flags.json ? InJson(std::move(outcome)) : outcome;
}

}  // namespace penstock::emulator::server
