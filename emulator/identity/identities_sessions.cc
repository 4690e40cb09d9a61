// The sessions of STS of Identities, and requesters that have no access key.
#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/identity/identities.h"

namespace penstock::emulator::identity {
namespace {

std::string RandomText(std::size_t bytes) {
  std::string random(bytes, '\0');
  RandomBytes(std::as_writable_bytes(std::span(random)));
  return Base64Encode(AsBytes(random));
}

// "ASIA" and 16 characters of the alphabet of AWS's key ids.
std::string NewSessionKeyId() {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::array<std::byte, 16> random;
  RandomBytes(random);
  std::string id = "ASIA";
  for (const std::byte byte : random)
    id += kAlphabet[std::to_integer<std::size_t>(byte) % kAlphabet.size()];
  return id;
}

// "AIDA..." of a user, "AROA...:session" of a role's session.
void SetUserId(s3::Identity& identity, const std::string& role) {
  if (identity.user_name.empty()) return;
  if (role.empty()) {
    identity.user_id = UniqueId("AIDA", identity.arn);
    return;
  }
  const std::string session = identity.user_name.substr(identity.user_name.rfind('/') + 1);
  identity.user_id = RoleId(identity.account_id, role) + ":" + session;
}

// The user, the root, or a session of the role that the ARN names; nullopt: unknown.
std::optional<SessionRecord> DescribedBy(const AccountAccess& access, std::string_view arn) {
  const std::string& id = access.account_id;
  const std::string of_sts = "arn:aws:sts::" + id + ":assumed-role/";
  const std::string last(arn.substr(arn.rfind('/') + 1));
  SessionRecord described{.account_id = id, .arn = std::string(arn)};
  if (arn == "arn:aws:iam::" + id + ":root") return described;
  if (const auto user = access.users.find(last);
      user != access.users.end() && arn == UserArn(id, user->second.path, last)) {
    described.user_name = last;
    return described;
  }
  if (const auto role = access.roles.find(last);
      role != access.roles.end() && arn == RoleArn(id, role->second)) {
    described.role = last;
    described.user_name = last + "/explain";
    described.arn = of_sts + described.user_name;
    return described;
  }
  if (!arn.starts_with(of_sts)) return std::nullopt;
  described.user_name = arn.substr(of_sts.size());
  described.role = described.user_name.substr(0, described.user_name.find('/'));
  if (!access.roles.contains(described.role) || described.user_name != described.role + "/" + last)
    return std::nullopt;
  return described;
}

}  // namespace

std::shared_ptr<Identities::Entry> Identities::EntryOf(const SessionRecord& session) {
  auto entry = std::make_shared<Entry>();
  entry->access_key_id = session.access_key_id;
  entry->secret_access_key = session.secret_access_key;
  entry->session_token = session.session_token;
  entry->expires = session.expires;
  entry->role = session.role;
  entry->name_space = session.name_space;
  s3::Identity& identity = entry->identity;
  identity.access_key_id = session.access_key_id;
  identity.account_id = session.account_id;
  identity.arn = session.arn;
  identity.user_name = session.user_name;
  identity.temporary = true;
  identity.issued = session.issued;
  for (const std::string& policy : session.policies) {
    // A policy that this build cannot read allows nothing.
    auto parsed = policy::ParseIdentityPolicy(policy);
    entry->session_policies.push_back(parsed.ok() ? std::move(parsed).value()
                                                  : std::make_shared<const policy::Document>());
  }
  return entry;
}

bool Identities::HasPrincipal(const Tables& tables, const SessionRecord& session) {
  const auto access = tables.access.find(session.account_id);
  const bool has_access = access != tables.access.end();
  if (!session.role.empty()) return has_access && access->second->roles.contains(session.role);
  if (session.user_name.empty() ||
      (has_access && access->second->users.contains(session.user_name)))
    return true;
  // Older builds stored users with neither groups nor policies only as owners of keys.
  return std::any_of(tables.keys.begin(), tables.keys.end(), [&](const auto& key) {
    const s3::Identity& identity = key.second->identity;
    return identity.account_id == session.account_id && identity.user_name == session.user_name;
  });
}

std::vector<std::string> Identities::RestoreSessions(Tables& tables,
                                                     std::vector<SessionRecord> sessions) const {
  std::vector<std::string> gone;
  for (const SessionRecord& session : sessions) {
    const auto access = tables.access.find(session.account_id);
    if (!tables.accounts.contains(session.account_id) || !HasPrincipal(tables, session) ||
        spaces_.at_start(session.name_space) == NamespaceState::kDeleted) {
      gone.push_back(session.access_key_id);
      continue;
    }
    std::shared_ptr<Entry> entry = EntryOf(session);
    SetUserId(entry->identity, session.role);
    const s3::Owner& account = tables.accounts.at(session.account_id);
    entry->kept = true;
    tables.sessions.emplace(
        session.access_key_id,
        Updated(*entry, account, access == tables.access.end() ? nullptr : access->second.get()));
  }
  return gone;
}

std::optional<s3::Identity> Identities::FindPrincipal(std::string_view name) const {
  if (const auto user = FindUser(name)) return user->identity;
  const auto parts = policy::SplitArn(name);
  if (!parts) return std::nullopt;
  const ReaderLock lock(mutex_);
  for (const auto& [id, entry] : tables_.keys) {
    if (entry->identity.arn == name) return entry->identity;
  }
  // Of several sessions of one name, the newest counts.
  const Entry* newest = nullptr;
  for (const auto& [id, entry] : tables_.sessions) {
    if (!entry->role.empty() && entry->identity.arn == name &&
        (newest == nullptr || newest->identity.issued < entry->identity.issued))
      newest = entry.get();
  }
  if (newest != nullptr) return newest->identity;
  const auto account = tables_.accounts.find((*parts)[4]);
  if (account == tables_.accounts.end()) return std::nullopt;
  const auto access = tables_.access.find(account->first);
  const AccountAccess none{.account_id = account->first};
  return WithoutKey(account->second, access == tables_.access.end() ? none : *access->second, name);
}

std::optional<s3::Identity> Identities::WithoutKey(const s3::Owner& account,
                                                   const AccountAccess& access,
                                                   std::string_view arn) {
  const auto described = DescribedBy(access, arn);
  if (!described) return std::nullopt;
  const std::shared_ptr<Entry> entry = EntryOf(*described);
  SetUserId(entry->identity, described->role);
  s3::Identity identity = Updated(*entry, account, &access)->identity;
  identity.access_key_id = arn;  // Not anonymous.
  identity.temporary = !described->role.empty();
  return identity;
}

bool Identities::IsSession(std::string_view access_key_id) const {
  const auto entry = FindEntry(access_key_id);
  return entry && !entry->session_token.empty();
}

Result<void> Identities::MakeRoomForSession(WallTime now) {
  Entries expired;  // destroyed without the lock
  {
    const WriterLock lock(mutex_);
    if (tables_.sessions.size() < kMaxSessions) return Ok();
    for (auto row = tables_.sessions.begin(); row != tables_.sessions.end();) {
      const auto next = std::next(row);
      if (*row->second->expires <= now) expired.insert(tables_.sessions.extract(row));
      row = next;
    }
  }
  if (expired.empty()) {
    return Error::Make(ErrorKind::kThrottled,
                       "the emulator has " + std::to_string(kMaxSessions) +
                           " sessions that have not expired; let them expire, move the clock of "
                           "the namespace, or delete keys with DELETE /_penstock/access-keys/ID");
  }
  if (!kept_) return Ok();
  std::vector<std::string> ids;
  for (const auto& [id, entry] : expired) ids.push_back(id);
  return kept_->Remove(ids, {});
}

Result<SessionRecord> Identities::AddSession(SessionRecord session, WallTime now) {
  const MutexLock one_at_a_time(change_mutex_);
  PENSTOCK_TRY(MakeRoomForSession(now));
  session.access_key_id = NewSessionKeyId();
  session.secret_access_key = RandomText(30);
  session.session_token = RandomText(240);
  session.issued = now;
  const std::shared_ptr<Entry> entry = EntryOf(session);
  SetUserId(entry->identity, session.role);
  PENSTOCK_ASSIGN(entry->selects, spaces_.find(session.name_space));
  const auto access = AccessOf(session.account_id);
  s3::Owner account;
  {
    const ReaderLock lock(mutex_);
    const auto found = tables_.accounts.find(session.account_id);
    if (found == tables_.accounts.end())
      return Error::Make(ErrorKind::kNotFound, "no account '" + session.account_id + "'");
    account = found->second;
  }
  if (kept_) {
    UsersDocument users;
    users.sessions.push_back(session);
    PENSTOCK_TRY(kept_->Put(users));
  }
  std::shared_ptr<const Entry> complete = Updated(*entry, account, access.get());
  const WriterLock lock(mutex_);
  tables_.sessions.insert_or_assign(session.access_key_id, std::move(complete));
  return session;
}

}  // namespace penstock::emulator::identity
