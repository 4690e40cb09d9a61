#include "emulator/identity/user_database.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/log/diagnostics.h"
#include "emulator/identity/access_reader.h"
#include "emulator/json/json_tree.h"
#include "emulator/store/records/codec.h"
#include "emulator/store/sqlite/commit_check.h"
#include "emulator/store/sqlite/database_creation.h"
#include "emulator/store/sqlite/migrations.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::identity {
namespace {

using store::Connection;
using store::Query;

constinit DiagnosticEvent not_recorded("identity.creation_not_recorded");

constexpr std::uint64_t kPageBytes = 4096;          // a complete database has several pages
constexpr std::uint64_t kReserveBytes = 128 << 10;  // removing a few keys writes a few pages

constexpr char kTables[] = R"sql(
CREATE TABLE accounts(account_id TEXT PRIMARY KEY, canonical_id TEXT NOT NULL, display_name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE access_keys(
  access_key_id TEXT PRIMARY KEY, account_id TEXT NOT NULL, user_name TEXT NOT NULL, arn TEXT NOT NULL,
  secret_access_key TEXT NOT NULL, session_token TEXT NOT NULL, expires INTEGER, active INTEGER NOT NULL,
  namespace TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE facts(roots_known INTEGER NOT NULL);
INSERT INTO facts VALUES(0);
CREATE TABLE roots(
  ordinal INTEGER PRIMARY KEY, access_key_id TEXT NOT NULL, account_id TEXT NOT NULL, canonical_id TEXT NOT NULL,
  display_name TEXT NOT NULL);
)sql";

// Since version 4; `issued` since version 5. `document`: the entity's object of a users document.
constexpr char kAccessTables[] = R"sql(
CREATE TABLE access(
  account_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY(account_id, kind, name)) WITHOUT ROWID;
CREATE TABLE sessions(
  access_key_id TEXT PRIMARY KEY, secret_access_key TEXT NOT NULL, session_token TEXT NOT NULL, expires INTEGER NOT NULL,
  account_id TEXT NOT NULL, role TEXT NOT NULL, arn TEXT NOT NULL, user_name TEXT NOT NULL, namespace TEXT NOT NULL,
  policies TEXT NOT NULL, issued INTEGER) WITHOUT ROWID;
)sql";

std::string SetVersion() { return "PRAGMA user_version=" + std::to_string(kUserDatabaseVersion); }

std::string Schema() { return std::string(kTables) + kAccessTables + SetVersion(); }

Error Unusable(const std::string& path, const std::string& why) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the user database '" + path + "' cannot be used: " + why);
}

// Creates the file with its mode before SQLite opens it, so that other users can never read it.
Result<void> MakeFile(const std::string& path) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return Unusable(path, std::string(std::strerror(errno)) +
                              "; make this user its owner, or choose another directory");
  // Also corrects the mode of a copied file.
  const int changed = ::fchmod(file, 0600);
  const int reason = errno;
  ::close(file);
  if (changed != 0)
    return Unusable(path, std::string(std::strerror(reason)) +
                              "; it contains secrets, so this user must own it");
  return Ok();
}

std::string RecordPath(const std::string& directory) {
  return directory + "/" + std::string(kUserDatabaseRecord);
}

// Fails with kDataLoss if the creation of the database is recorded.
Result<void> CheckNotCreatedBefore(const std::string& directory) {
  const std::optional<std::string> problem = MissingUsersProblem(directory);
  if (!problem) return Ok();
  return Error::Make(ErrorKind::kDataLoss, "the user database '" + directory + "/" +
                                               std::string(kUserDatabaseFile) + "' " + *problem);
}

// A failure is only reported: the users are complete, but a later loss may stay undetected.
void RecordCreation(const std::string& directory, store::Durability durability) {
  const std::string path = RecordPath(directory);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) return;
  if (file < 0) return not_recorded.ReportSystemError(path, errno);
  ::close(file);
  if (durability != store::Durability::kStrict) return;
  if (const auto synced = store::SyncDirectory(directory); !synced.ok())
    not_recorded.Report(synced.error());
}

Result<void> PrepareTables(Connection& connection, const std::string& directory) {
  PENSTOCK_ASSIGN(const std::int64_t version, store::SchemaVersionOf(connection));
  if (version > kUserDatabaseVersion)
    return store::WrongSchemaVersion(connection.path(), version, kUserDatabaseVersion);
  if (version >= 2 && !connection.HasPageChecksums())
    return store::MissingPageChecksums(connection.path());
  if (version == kUserDatabaseVersion) return Ok();
  if (version > 0) {
    if (version < 3) PENSTOCK_TRY(connection.AddPageChecksums());
    const char* const change =
        version < 4 ? kAccessTables : "ALTER TABLE sessions ADD COLUMN issued INTEGER;";
    return connection.Execute("BEGIN IMMEDIATE;" + std::string(change) + SetVersion() + ";COMMIT;");
  }
  Query query(connection, "SELECT count(*) FROM sqlite_schema");
  PENSTOCK_TRY(query.Step());
  if (query.Int(0) != 0) return store::ForeignDatabase(connection.path());
  query.Reset();
  PENSTOCK_TRY(CheckNotCreatedBefore(directory));
  return connection.Execute("BEGIN IMMEDIATE;" + Schema() +
                            ";COMMIT;PRAGMA wal_checkpoint(TRUNCATE);");
}

Result<void> PutAccount(Connection& connection, const s3::Owner& account) {
  Query query(connection, "INSERT OR REPLACE INTO accounts VALUES(?, ?, ?)");
  return query.BindText(account.account_id)
      .BindText(account.id)
      .BindText(account.display_name)
      .Run();
}

Result<void> PutKey(Connection& connection, const KeyRecord& key) {
  const auth::User& user = key.user;
  const std::string name_space = key.name_space.value_or(std::string(kDefaultNamespace));
  Query query(connection, "INSERT OR REPLACE INTO access_keys VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.BindText(user.access_key_id)
      .BindText(user.identity.account_id)
      .BindText(user.identity.user_name);
  query.BindText(user.identity.arn).BindText(user.secret_access_key).BindText(user.session_token);
  if (user.expires) {
    query.Bind(store::ToNanoseconds(*user.expires));
  } else {
    query.BindNull();
  }
  return query.Bind(user.active ? 1 : 0).BindText(name_space).Run();
}

Result<void> PutEntity(Connection& connection, const std::string& account_id, std::string_view kind,
                       const std::string& name, const std::string& json) {
  Query query(connection, "INSERT OR REPLACE INTO access VALUES(?, ?, ?, ?)");
  return query.BindText(account_id).BindText(std::string(kind)).BindText(name).BindText(json).Run();
}

template <class Entities>
Result<void> PutEntities(Connection& connection, const std::string& account_id,
                         std::string_view kind, const Entities& entities) {
  for (const auto& [name, entity] : entities)
    PENSTOCK_TRY(PutEntity(connection, account_id, kind, name, entity.json));
  return Ok();
}

Result<void> PutAccess(Connection& connection, const AccountAccess& access) {
  const std::string& id = access.account_id;
  PENSTOCK_TRY(PutEntities(connection, id, kPolicyKind, access.managed_policies));
  PENSTOCK_TRY(PutEntities(connection, id, kGroupKind, access.groups));
  PENSTOCK_TRY(PutEntities(connection, id, kUserKind, access.users));
  PENSTOCK_TRY(PutEntities(connection, id, kRoleKind, access.roles));
  return PutEntities(connection, id, kProviderKind, access.token_providers);
}

Result<void> PutSession(Connection& connection, const SessionRecord& session) {
  const std::string policies = JsonTree(Json(session.policies)).root().dump();
  Query query(connection,
              "INSERT OR REPLACE INTO sessions VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  query.BindText(session.access_key_id)
      .BindText(session.secret_access_key)
      .BindText(session.session_token)
      .Bind(store::ToNanoseconds(session.expires));
  query.BindText(session.account_id).BindText(session.role).BindText(session.arn);
  query.BindText(session.user_name).BindText(session.name_space).BindText(policies);
  if (session.issued) {
    query.Bind(store::ToNanoseconds(*session.issued));
  } else {
    query.BindNull();
  }
  return query.Run();
}

KeyRecord ReadKey(const Query& row, const std::map<std::string, s3::Owner>& accounts) {
  KeyRecord key;
  key.user.access_key_id = row.Text(0);
  key.user.identity.access_key_id = row.Text(0);
  key.user.identity.account_id = row.Text(1);
  if (const auto account = accounts.find(key.user.identity.account_id); account != accounts.end()) {
    key.user.identity.owner_id = account->second.id;
    key.user.identity.display_name = account->second.display_name;
  }
  key.user.identity.user_name = row.Text(2);
  key.user.identity.arn = row.Text(3);
  if (!key.user.identity.user_name.empty())
    key.user.identity.user_id = UniqueId("AIDA", key.user.identity.arn);
  key.user.secret_access_key = row.Text(4);
  key.user.session_token = row.Text(5);
  key.user.identity.temporary = !key.user.session_token.empty();
  if (!row.IsNull(6)) key.user.expires = store::FromNanoseconds(row.Int(6));
  key.user.active = row.Int(7) != 0;
  key.name_space = row.Text(8);
  return key;
}

}  // namespace

std::optional<std::string> MissingUsersProblem(const std::string& directory) {
  if (::access(RecordPath(directory).c_str(), F_OK) != 0) return std::nullopt;
  return "is missing or empty, but '" + std::string(kUserDatabaseRecord) +
         "' records that its creation was completed; restore it from a backup, or accept the loss "
         "of all its users with 'penstock-emulator fsck --accept-loss DIRECTORY'";
}

Result<void> AcceptUsersLoss(const std::string& directory) {
  const std::string path = directory + "/" + std::string(kUserDatabaseFile);
  PENSTOCK_TRY(store::AcceptCommitLoss(path, /*may_be_emptied=*/true));
  PENSTOCK_ASSIGN(const std::uint64_t size, store::FileSize(path));
  const std::string record = RecordPath(directory);
  if (size > kPageBytes || ::unlink(record.c_str()) == 0 || errno == ENOENT) return Ok();
  return store::SystemError(ErrorKind::kInternal, "remove", record, errno);
}

Result<std::unique_ptr<UserDatabase>> UserDatabase::Open(const std::string& directory,
                                                         store::Durability durability) {
  const std::string path = directory + "/" + std::string(kUserDatabaseFile);
  PENSTOCK_TRY(store::CheckCommits(path, /*may_be_emptied=*/true));
  PENSTOCK_ASSIGN(const std::uint64_t size, store::FileSize(path));
  if (size == 0) PENSTOCK_TRY(CheckNotCreatedBefore(directory));
  PENSTOCK_TRY(MakeFile(path));
  const std::string reserve = directory + "/users.reserve";
  store::Reserve::Release(reserve);  // opening needs space
  PENSTOCK_TRY(store::CreateDatabaseFile(path, Schema()));
  PENSTOCK_ASSIGN(auto connection, Connection::Open(path));
  PENSTOCK_TRY(connection->ReservePageChecksums());
  // As in the store (schema.cc). Deleted data is overwritten, because it may be a secret.
  PENSTOCK_TRY(connection->Execute(
      std::string("PRAGMA trusted_schema=0; PRAGMA secure_delete=1; PRAGMA journal_mode=WAL;"
                  "PRAGMA synchronous=") +
      (durability == store::Durability::kStrict ? "FULL" : "NORMAL")));
  PENSTOCK_TRY(PrepareTables(*connection, directory));
  RecordCreation(directory, durability);
  connection->AllowLogRemoval();
  return std::unique_ptr<UserDatabase>(new UserDatabase(reserve, std::move(connection)));
}

UserDatabase::UserDatabase(const std::string& reserve_path, std::unique_ptr<Connection> connection)
    : reserve_(reserve_path),
      files_({connection->path(), connection->path() + "-wal"}),
      connection_(std::move(connection)) {
  static_cast<void>(reserve_.ExtendUpTo(kReserveBytes));
}

Result<void> UserDatabase::CheckFiles() const {
  if (files_.Exist()) return Ok();
  return store::RemovedError("user database '" + std::string(kUserDatabaseFile) + "'");
}

template <class Change>
Result<void> UserDatabase::InTransaction(Change change) {
  PENSTOCK_TRY(CheckFiles());
  // An earlier change threw, or ran out of memory during the rollback.
  if (connection_->InTransaction()) PENSTOCK_TRY(connection_->Execute("ROLLBACK"));
  PENSTOCK_TRY(connection_->Execute("BEGIN IMMEDIATE"));
  Result<void> done = change(*connection_);
  if (done.ok()) done = connection_->Execute("COMMIT");
  if (!done.ok()) connection_->RollBack();
  return done.ok() ? CheckFiles() : done;
}

Result<UsersDocument> UserDatabase::Read() {
  UsersDocument users;
  std::map<std::string, s3::Owner> accounts;
  Query account(*connection_,
                "SELECT account_id, canonical_id, display_name FROM accounts ORDER BY account_id");
  for (;;) {
    PENSTOCK_ASSIGN(const bool row, account.Step());
    if (!row) break;
    users.accounts.push_back({account.Text(1), account.Text(2), account.Text(0)});
    accounts.emplace(account.Text(0), users.accounts.back());
  }
  Query key(*connection_,
            "SELECT access_key_id, account_id, user_name, arn, secret_access_key, session_token, "
            "expires, active, namespace "
            "FROM access_keys ORDER BY access_key_id");
  for (;;) {
    PENSTOCK_ASSIGN(const bool row, key.Step());
    if (!row) break;
    users.keys.push_back(ReadKey(key, accounts));
  }
  PENSTOCK_TRY(ReadAccess(users));
  PENSTOCK_TRY(ReadSessions(users));
  return users;
}

Result<void> UserDatabase::ReadAccess(UsersDocument& users) {
  Query row(*connection_,
            "SELECT account_id, kind, name, document FROM access ORDER BY account_id, kind, name");
  for (;;) {
    PENSTOCK_ASSIGN(const bool found, row.Step());
    if (!found) return Ok();
    if (users.access.empty() || users.access.back().account_id != row.Text(0))
      users.access.push_back({.account_id = row.Text(0)});
    if (const auto read = ReadEntity(row.Text(1), row.Text(3), users.access.back()); !read.ok()) {
      return Error::Make(ErrorKind::kDataLoss, "the user database '" + connection_->path() +
                                                   "' has a damaged " + row.Text(1) + " '" +
                                                   row.Text(2) + "' of account '" + row.Text(0) +
                                                   "': " + read.error().message);
    }
  }
}

Result<void> UserDatabase::ReadSessions(UsersDocument& users) {
  Query row(*connection_,
            "SELECT access_key_id, secret_access_key, session_token, expires, account_id, role, "
            "arn, user_name, namespace, policies, issued FROM sessions ORDER BY access_key_id");
  for (;;) {
    PENSTOCK_ASSIGN(const bool found, row.Step());
    if (!found) return Ok();
    SessionRecord session{.access_key_id = row.Text(0),
                          .secret_access_key = row.Text(1),
                          .session_token = row.Text(2),
                          .expires = store::FromNanoseconds(row.Int(3)),
                          .account_id = row.Text(4),
                          .role = row.Text(5),
                          .arn = row.Text(6),
                          .user_name = row.Text(7),
                          .name_space = row.Text(8),
                          .policies = {}};
    if (!row.IsNull(10)) session.issued = store::FromNanoseconds(row.Int(10));
    PENSTOCK_ASSIGN(const JsonTree policies, ParseJsonTree(row.Text(9)));
    for (const Json& policy : policies.root())
      session.policies.push_back(policy.is_string() ? policy.get<std::string>() : std::string());
    users.sessions.push_back(std::move(session));
  }
}

Result<void> UserDatabase::Put(const UsersDocument& users, StopFlag stop) {
  return InTransaction([&users, stop](Connection& connection) -> Result<void> {
    for (const s3::Owner& account : users.accounts) {
      PENSTOCK_TRY(CheckNotStopped(stop));
      PENSTOCK_TRY(PutAccount(connection, account));
    }
    for (const KeyRecord& key : users.keys) {
      PENSTOCK_TRY(CheckNotStopped(stop));
      PENSTOCK_TRY(PutKey(connection, key));
    }
    for (const AccountAccess& access : users.access) {
      PENSTOCK_TRY(CheckNotStopped(stop));
      PENSTOCK_TRY(PutAccess(connection, access));
    }
    for (const SessionRecord& session : users.sessions)
      PENSTOCK_TRY(PutSession(connection, session));
    return Ok();
  });
}

Result<void> UserDatabase::Remove(const std::vector<std::string>& access_key_ids,
                                  const std::vector<std::string>& account_ids) {
  const auto remove = [&](Connection& connection) -> Result<void> {
    for (const std::string& id : access_key_ids) {
      for (const char* const statement : {"DELETE FROM access_keys WHERE access_key_id = ?",
                                          "DELETE FROM sessions WHERE access_key_id = ?"})
        PENSTOCK_TRY(Query(connection, statement).BindText(id).Run());
    }
    for (const std::string& id : account_ids) {
      for (const char* const statement :
           {"DELETE FROM accounts WHERE account_id = ?", "DELETE FROM access WHERE account_id = ?"})
        PENSTOCK_TRY(Query(connection, statement).BindText(id).Run());
    }
    return Ok();
  };
  Result<void> done = InTransaction(remove);
  if (done.ok() || done.error().kind != ErrorKind::kResourceExhausted || !reserve_.Shrink(0))
    return done;
  done = InTransaction(remove);
  // The truncated log frees enough space for the next reserve. Without a reserve the next removal
  // may fail; this one has succeeded.
  if (connection_->Checkpoint().ok()) connection_->TruncateLog();
  static_cast<void>(reserve_.ExtendUpTo(kReserveBytes));
  return done;
}

Result<std::optional<std::vector<RootAccount>>> UserDatabase::ReadRoots() {
  Query fact(*connection_, "SELECT roots_known FROM facts");
  PENSTOCK_ASSIGN(const bool known, fact.Step());
  if (!known || fact.Int(0) == 0) return std::optional<std::vector<RootAccount>>();
  std::vector<RootAccount> roots;
  Query row(
      *connection_,
      "SELECT access_key_id, canonical_id, display_name, account_id FROM roots ORDER BY ordinal");
  for (;;) {
    PENSTOCK_ASSIGN(const bool found, row.Step());
    if (!found) return std::optional(std::move(roots));
    roots.push_back({row.Text(0), {row.Text(1), row.Text(2), row.Text(3)}});
  }
}

Result<void> UserDatabase::SetRoots(const std::vector<RootAccount>& roots) {
  return InTransaction([&roots](Connection& connection) -> Result<void> {
    PENSTOCK_TRY(connection.Execute("DELETE FROM roots; UPDATE facts SET roots_known = 1"));
    for (const RootAccount& root : roots) {
      Query query(connection,
                  "INSERT INTO roots(access_key_id, account_id, canonical_id, display_name) "
                  "VALUES(?, ?, ?, ?)");
      query.BindText(root.access_key_id)
          .BindText(root.account.account_id)
          .BindText(root.account.id);
      PENSTOCK_TRY(query.BindText(root.account.display_name).Run());
    }
    return Ok();
  });
}

}  // namespace penstock::emulator::identity
