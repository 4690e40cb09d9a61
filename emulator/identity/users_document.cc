#include "emulator/identity/users_document.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/identity/access_reader.h"
#include "emulator/json/json_fields.h"
#include "emulator/json/json_tree.h"

namespace penstock::emulator::identity {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetterOrDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsAccountId(std::string_view text) {
  return text.size() == 12 && std::all_of(text.begin(), text.end(), IsDigit);
}

bool IsCanonicalId(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'f');
         });
}

Sha256Digest OwnerDigest(std::string_view name) {
  return Sha256(AsBytes("penstock owner of " + std::string(name)));
}

std::string ItemPlace(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

class Reader {
 public:
  explicit Reader(StopFlag stop) : stop_(stop) {}

  Result<UsersDocument> Read(std::string_view text) {
    PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(text));
    const Json& json = tree.root();
    PENSTOCK_ASSIGN(const JsonFields fields,
                    JsonFields::Read(json, "", {"$schema", "namespaces", "accounts"}));
    PENSTOCK_TRY(ReadNamespaces(fields));
    PENSTOCK_ASSIGN(const Json* accounts, fields.List("accounts"));
    if (accounts == nullptr) return FieldError("", "the field 'accounts' is missing");
    for (std::size_t i = 0; i < accounts->size(); ++i)
      PENSTOCK_TRY(ReadAccount((*accounts)[i], ItemPlace("accounts", i)));
    return std::move(document_);
  }

 private:
  Result<void> ReadNamespaces(const JsonFields& fields) {
    PENSTOCK_ASSIGN(const Json* names, fields.List("namespaces"));
    for (std::size_t i = 0; names != nullptr && i < names->size(); ++i) {
      const Json& name = (*names)[i];
      const std::string place = ItemPlace("namespaces", i);
      if (!name.is_string()) return FieldError(place, "must be a string");
      document_.namespaces.push_back(name.get<std::string>());
      if (const std::string problem = NamespaceNameProblem(document_.namespaces.back());
          !problem.empty()) {
        return FieldError(place, problem);
      }
    }
    return Ok();
  }

  Result<void> ReadAccount(const Json& json, const std::string& place) {
    PENSTOCK_ASSIGN(
        const JsonFields fields,
        JsonFields::Read(json, place,
                         {"account_id", "canonical_id", "display_name", "access_keys", "users",
                          "groups", "roles", "managed_policies", "token_providers"}));
    s3::Owner account;
    PENSTOCK_ASSIGN(account.account_id, fields.RequiredText("account_id"));
    if (const std::string problem = AccountIdProblem(account.account_id); !problem.empty()) {
      return FieldError(fields.Place("account_id"), problem);
    }
    PENSTOCK_ASSIGN(auto canonical, fields.Text("canonical_id"));
    account.id = canonical ? std::move(*canonical) : HexEncode(OwnerDigest(account.account_id));
    if (const std::string problem = CanonicalIdProblem(account.id); !problem.empty()) {
      return FieldError(fields.Place("canonical_id"), problem);
    }
    PENSTOCK_ASSIGN(auto display_name, fields.Text("display_name"));
    account.display_name = display_name.value_or(account.account_id);
    if (!account_ids_.insert(account.account_id).second ||
        !canonical_ids_.insert(account.id).second) {
      return FieldError(place, "account '" + account.account_id +
                                   "' or its canonical id is given twice; name each once");
    }
    const std::string arn_start = "arn:aws:iam::" + account.account_id + ":";
    s3::Identity root{{}, account.id, account.display_name, account.account_id, arn_start + "root",
                      {}};
    PENSTOCK_TRY(ReadKeys(fields, root));
    AccountAccess access{.account_id = account.account_id};
    PENSTOCK_TRY(ReadAccountLists(fields, access));
    PENSTOCK_ASSIGN(const Json* users, fields.List("users"));
    std::set<std::string> names;
    for (std::size_t i = 0; users != nullptr && i < users->size(); ++i) {
      const std::string user_place = ItemPlace(fields.Place("users"), i);
      PENSTOCK_TRY(ReadUserAccess((*users)[i], user_place, access));
      PENSTOCK_TRY(ReadUser((*users)[i], user_place, root, names));
    }
    if (!access.empty()) document_.access.push_back(std::move(access));
    document_.accounts.push_back(std::move(account));
    return Ok();
  }

  Result<void> ReadUser(const Json& json, const std::string& place, const s3::Identity& root,
                        std::set<std::string>& names) {
    // ReadUserAccess has checked the values.
    PENSTOCK_ASSIGN(const JsonFields fields, ReadUserFields(json, place));
    s3::Identity identity = root;
    PENSTOCK_ASSIGN(identity.user_name, fields.RequiredText("name"));
    if (!names.insert(identity.user_name).second) {
      return FieldError(fields.Place("name"),
                        "user '" + identity.user_name + "' is given twice; name each once");
    }
    PENSTOCK_ASSIGN(const auto path, fields.Text("path"));
    identity.arn = UserArn(root.account_id, path.value_or("/"), identity.user_name);
    identity.user_id = UniqueId("AIDA", identity.arn);
    return ReadKeys(fields, identity);
  }

  Result<void> ReadKeys(const JsonFields& fields, const s3::Identity& identity) {
    PENSTOCK_ASSIGN(const Json* keys, fields.List("access_keys"));
    for (std::size_t i = 0; keys != nullptr && i < keys->size(); ++i) {
      PENSTOCK_TRY(ReadKey((*keys)[i], ItemPlace(fields.Place("access_keys"), i), identity));
    }
    return Ok();
  }

  Result<void> ReadKey(const Json& json, const std::string& place, const s3::Identity& identity) {
    PENSTOCK_TRY(CheckNotStopped(stop_));
    PENSTOCK_ASSIGN(const JsonFields fields,
                    JsonFields::Read(json, place,
                                     {"access_key_id", "secret_access_key", "session_token",
                                      "expires", "active", "namespace"}));
    KeyRecord key;
    key.user.identity = identity;
    PENSTOCK_ASSIGN(key.user.access_key_id, fields.RequiredText("access_key_id"));
    if (const std::string problem = AccessKeyIdProblem(key.user.access_key_id); !problem.empty()) {
      return FieldError(fields.Place("access_key_id"), problem);
    }
    key.user.identity.access_key_id = key.user.access_key_id;
    PENSTOCK_ASSIGN(key.user.secret_access_key, fields.RequiredText("secret_access_key"));
    if (fields.Has("session_token")) {
      PENSTOCK_ASSIGN(key.user.session_token, fields.RequiredText("session_token"));
      key.user.identity.temporary = true;
    }
    PENSTOCK_ASSIGN(key.user.expires, fields.Time("expires"));
    if (key.user.expires && key.user.session_token.empty()) {
      return FieldError(
          fields.Place("expires"),
          "only a temporary key expires; give it a session_token, or use \"active\": false");
    }
    PENSTOCK_ASSIGN(const auto active, fields.Flag("active"));
    key.user.active = active.value_or(true);
    PENSTOCK_ASSIGN(key.name_space, fields.Text("namespace"));
    key.place = fields.Place("namespace");
    if (const std::string problem =
            key.name_space ? NamespaceNameProblem(*key.name_space) : std::string();
        !problem.empty()) {
      return FieldError(key.place, problem);
    }
    if (!key_ids_.insert(key.user.access_key_id).second) {
      return FieldError(fields.Place("access_key_id"), "access key '" + key.user.access_key_id +
                                                           "' is given twice; name each once");
    }
    document_.keys.push_back(std::move(key));
    return Ok();
  }

  const StopFlag stop_;
  UsersDocument document_;
  std::set<std::string> account_ids_;
  std::set<std::string> canonical_ids_;
  std::set<std::string> key_ids_;
};

}  // namespace

Result<void> CheckNotStopped(StopFlag stop) {
  if (stop == nullptr || !stop->load(std::memory_order_relaxed)) return Ok();
  return Error::Make(ErrorKind::kUnavailable,
                     "the emulator is stopping and added no users; send them after a restart");
}

Result<UsersDocument> ParseUsers(std::string_view json, StopFlag stop) {
  return Reader(stop).Read(json);
}

namespace {

struct KeysOfAccount {
  Json of_root = Json::array();
  std::map<std::string, Json> of_users;  // by ARN
};

// Users with keys, and users with policies. A user may be both.
Json NamedUsers(KeysOfAccount& own, const AccountAccess* access, const std::string& account_id) {
  std::map<std::string, Json> with_policies;  // by ARN
  if (access != nullptr) {
    Json users = AccessJson(*access, "users");
    for (Json& user : users) {
      std::string arn =
          UserArn(account_id, user.value("path", "/"), user.at("name").get<std::string>());
      own.of_users.try_emplace(arn, Json::array());
      with_policies.emplace(std::move(arn), std::move(user));
    }
  }
  Json named = Json::array();
  for (auto& [arn, of_user] : own.of_users) {
    const std::size_t path = arn.find(":user/") + 5;
    const std::size_t name = arn.rfind('/') + 1;
    Json user{{"name", arn.substr(name)}, {"path", arn.substr(path, name - path)}};
    if (const auto found = with_policies.find(arn); found != with_policies.end())
      user.update(found->second);
    user["access_keys"] = std::move(of_user);
    named.push_back(std::move(user));
  }
  return named;
}

Json AccountJson(const s3::Owner& account, KeysOfAccount& own, const AccountAccess* access) {
  Json json{{"account_id", account.account_id},
            {"canonical_id", account.id},
            {"display_name", account.display_name},
            {"access_keys", std::move(own.of_root)}};
  json["users"] = NamedUsers(own, access, account.account_id);
  for (const char* const list : {"groups", "roles", "managed_policies", "token_providers"}) {
    if (access == nullptr) break;
    Json entities = AccessJson(*access, list);
    if (!entities.empty()) json[list] = std::move(entities);
  }
  return json;
}

}  // namespace

std::string UsersJson(const UsersDocument& users) {
  std::map<std::string_view, KeysOfAccount> keys;
  for (const KeyRecord& record : users.keys) {
    const auth::User& user = record.user;
    Json key{{"access_key_id", user.access_key_id},
             {"active", user.active},
             {"namespace", record.name_space.value_or(std::string(kDefaultNamespace))}};
    if (user.expires) key["expires"] = FormatIso8601(*user.expires);
    KeysOfAccount& own = keys[user.identity.account_id];
    if (user.identity.user_name.empty()) {
      own.of_root.push_back(std::move(key));
    } else {
      own.of_users.try_emplace(user.identity.arn, Json::array())
          .first->second.push_back(std::move(key));
    }
  }
  std::map<std::string_view, const AccountAccess*> access;
  for (const AccountAccess& each : users.access) access.emplace(each.account_id, &each);
  Json accounts = Json::array();
  for (const s3::Owner& account : users.accounts) {
    const auto found = access.find(account.account_id);
    accounts.push_back(AccountJson(account, keys[account.account_id],
                                   found == access.end() ? nullptr : found->second));
  }
  return Json{{"accounts", std::move(accounts)}}.dump(2, ' ', false,
                                                      Json::error_handler_t::replace) +
         "\n";
}

// Uses the first 16 hex digits.
std::string AccountIdOfCanonical(std::string_view canonical_id) {
  std::uint64_t word = 0;
  for (const char c : canonical_id.substr(0, 16))
    word = word << 4 | static_cast<std::uint64_t>(IsDigit(c) ? c - '0' : c - 'a' + 10);
  const std::string digits = std::to_string(word % 1'000'000'000'000ull);
  return std::string(12 - digits.size(), '0') + digits;
}

s3::Identity MakeIdentity(std::string_view access_key_id) {
  s3::Identity identity;
  identity.access_key_id = access_key_id;
  identity.owner_id = HexEncode(OwnerDigest(access_key_id));
  identity.display_name = access_key_id;
  identity.account_id = AccountIdOfCanonical(identity.owner_id);
  identity.arn = "arn:aws:iam::" + identity.account_id + ":root";
  return identity;
}

std::string AccountIdProblem(std::string_view account_id) {
  return IsAccountId(account_id)
             ? std::string()
             : "invalid account id '" + std::string(account_id) + "': expected 12 digits";
}

std::string CanonicalIdProblem(std::string_view canonical_id) {
  if (IsCanonicalId(canonical_id)) return {};
  return "invalid canonical id '" + std::string(canonical_id) + "': expected 64 digits 0-9 and a-f";
}

std::string AccessKeyIdProblem(std::string_view access_key_id) {
  if (access_key_id.empty()) return "an access key id is empty; give every key an id";
  if (access_key_id.size() > 128)
    return "an access key id is longer than 128 characters; shorten it";
  const bool printable = std::all_of(access_key_id.begin(), access_key_id.end(),
                                     [](char c) { return c > ' ' && c <= '~'; });
  if (printable && access_key_id.find_first_of("/,;") == std::string_view::npos) return {};
  return "access key id '" + std::string(access_key_id) +
         "' has a character that breaks the Authorization header; leave out / , ; and spaces";
}

std::string NamespaceNameProblem(std::string_view name) {
  const bool fine = !name.empty() && name.size() <= 63 && IsLetterOrDigit(name[0]) &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.';
                    });
  if (fine) return {};
  return "invalid namespace name '" + std::string(name) +
         "': expected 1 to 63 letters, digits, - _ and ., beginning with a letter or digit";
}

}  // namespace penstock::emulator::identity
