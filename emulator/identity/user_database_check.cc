#include "emulator/identity/user_database_check.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "emulator/identity/access_reader.h"
#include "emulator/store/sqlite/migrations.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::identity {
namespace {

using store::Connection;
using store::Query;

constexpr std::uint64_t kPageBytes = 4096;  // of the database

class Check {
 public:
  Check(const NamespaceStates& state_of, std::string path, Connection& connection)
      : state_of_(state_of), connection_(connection) {
    report_.path = std::move(path);
  }

  Result<UserDatabaseReport> Run() {
    CheckMode();
    PENSTOCK_TRY(CheckIntegrity());
    if (!report_.clean()) return std::move(report_);
    PENSTOCK_TRY(CheckAccounts());
    PENSTOCK_TRY(CheckKeys());
    PENSTOCK_TRY(CheckRoots());
    PENSTOCK_TRY(CheckAccess());
    return std::move(report_);
  }

 private:
  void Damage(const char* code, std::string subject, std::string message) {
    report_.findings.push_back({code, std::move(subject), std::move(message), false});
  }
  void Note(std::string subject, std::string message) {
    report_.findings.push_back({"record", std::move(subject), std::move(message), true});
  }

  void CheckMode() {
    struct stat status {};
    if (::stat(report_.path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
      Note(report_.path,
           "other users may read it, and it contains secrets; the next start corrects its mode");
    }
  }

  Result<void> CheckIntegrity() {
    PENSTOCK_ASSIGN(std::vector<std::string> problems, store::FindDatabaseDamage(connection_));
    for (std::string& problem : problems) Damage("database", report_.path, std::move(problem));
    return Ok();
  }

  Result<void> CheckAccounts() {
    Query query(connection_, "SELECT account_id, canonical_id FROM accounts");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) return Ok();
      ++report_.accounts;
      const std::string id = query.Text(0);
      accounts_.insert(id);
      CheckAccount("account '" + id + "'", id, query.Text(1));
    }
  }

  void CheckAccount(const std::string& subject, const std::string& id,
                    const std::string& canonical_id) {
    for (const std::string& problem : {AccountIdProblem(id), CanonicalIdProblem(canonical_id)}) {
      if (!problem.empty()) Damage("record", subject, problem);
    }
  }

  Result<void> CheckKeys() {
    Query query(connection_,
                "SELECT access_key_id, account_id, namespace, secret_access_key = '', expires IS "
                "NOT NULL AND session_token = '' "
                "FROM access_keys");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) return Ok();
      ++report_.access_keys;
      const std::string id = query.Text(0);
      const std::string subject = "access key '" + id + "'";
      const std::string name_space = query.Text(2);
      for (const std::string& problem :
           {AccessKeyIdProblem(id), NamespaceNameProblem(name_space)}) {
        if (!problem.empty()) Damage("record", subject, problem);
      }
      if (!accounts_.contains(query.Text(1)))
        Damage("references", subject, "its account '" + query.Text(1) + "' is missing");
      if (query.Int(3) != 0) Damage("record", subject, "it has no secret");
      if (query.Int(4) != 0) Damage("record", subject, "it expires and has no session token");
      if (name_space != kDefaultNamespace) CheckNamespace(subject, name_space);
    }
  }

  void CheckNamespace(const std::string& subject, const std::string& name) {
    switch (state_of_(name)) {
      case NamespaceState::kStored: return;
      case NamespaceState::kDeleted:
        return Note(subject,
                    "its namespace '" + name + "' was deleted; the next start removes the key");
      case NamespaceState::kMissing:
        return Damage("references", subject,
                      "the directory of its namespace '" + name +
                          "' is missing or has no store; restore the directory, or start the "
                          "emulator and delete the key");
    }
  }

  Result<void> CheckRoots() {
    Query query(connection_, "SELECT access_key_id, account_id, canonical_id FROM roots");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) return Ok();
      CheckAccount("account of access key '" + query.Text(0) + "'", query.Text(1), query.Text(2));
    }
  }

  Result<void> CheckAccess() {
    Query query(connection_, "SELECT account_id, kind, name, document FROM access");
    for (;;) {
      PENSTOCK_ASSIGN(const bool row, query.Step());
      if (!row) return Ok();
      const std::string subject = query.Text(1) + " '" + query.Text(2) + "'";
      AccountAccess access{.account_id = query.Text(0)};
      if (!accounts_.contains(access.account_id))
        Damage("references", subject, "its account '" + access.account_id + "' is missing");
      if (const auto read = ReadEntity(query.Text(1), query.Text(3), access); !read.ok())
        Damage("record", subject, read.error().message);
    }
  }

  const NamespaceStates& state_of_;
  Connection& connection_;
  std::set<std::string> accounts_;
  UserDatabaseReport report_;
};

// nullopt: no database was created, or the process was interrupted while it created it.
std::optional<UserDatabaseReport> WithoutDatabase(const std::string& directory,
                                                  UserDatabaseReport lost) {
  std::optional<std::string> problem = MissingUsersProblem(directory);
  if (!problem) return std::nullopt;
  lost.findings.push_back({"database", lost.path, std::move(*problem), false});
  return lost;
}

}  // namespace

bool UserDatabaseReport::clean() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const store::FsckFinding& finding) { return finding.is_note; });
}

Result<std::optional<UserDatabaseReport>> CheckUserDatabase(const std::string& directory,
                                                            const NamespaceStates& state_of) {
  const std::string path = directory + "/" + std::string(kUserDatabaseFile);
  UserDatabaseReport damaged{.path = path};
  PENSTOCK_ASSIGN(damaged.findings, store::CheckLog(path, /*may_be_emptied=*/true));
  if (!damaged.clean()) return std::optional(std::move(damaged));
  PENSTOCK_ASSIGN(const std::uint64_t size, store::FileSize(path));
  // After a crash there is a log. Without one, even a read-only connection would create one.
  PENSTOCK_ASSIGN(const std::uint64_t log_size, store::FileSize(path + "-wal"));
  const bool has_log = log_size > 0;
  if (size == 0 && !has_log) return WithoutDatabase(directory, std::move(damaged));
  PENSTOCK_ASSIGN(const auto connection,
                  Connection::Open(path, has_log ? Connection::Access::kReadOnly
                                                 : Connection::Access::kImmutable));
  PENSTOCK_TRY(connection->Execute("PRAGMA trusted_schema=0; PRAGMA query_only=1;"));
  PENSTOCK_ASSIGN(const std::int64_t version, store::SchemaVersionOf(*connection));
  // Equivalent to an empty file, from an earlier build.
  if (version == 0 && size <= kPageBytes) return WithoutDatabase(directory, std::move(damaged));
  if (version != kUserDatabaseVersion)
    return store::WrongSchemaVersion(path, version, kUserDatabaseVersion);
  if (!connection->HasPageChecksums()) return store::MissingPageChecksums(path);
  PENSTOCK_ASSIGN(UserDatabaseReport report, Check(state_of, path, *connection).Run());
  report.findings.insert(report.findings.end(), damaged.findings.begin(), damaged.findings.end());
  return std::optional<UserDatabaseReport>(std::move(report));
}

}  // namespace penstock::emulator::identity
