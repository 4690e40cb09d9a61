#include "emulator/identity/access_reader.h"

#include <algorithm>
#include <utility>

#include "emulator/identity/tokens/web_token.h"
#include "emulator/identity/users_document.h"
#include "emulator/json/json_tree.h"
#include "emulator/s3/protocol/tags.h"

namespace penstock::emulator::identity {
namespace {

// IAM User Guide, "IAM and AWS STS quotas"; white space does not count.
constexpr std::size_t kMaxManagedBytes = 6144;
constexpr std::size_t kMaxUserInlineBytes = 2048;
constexpr std::size_t kMaxGroupInlineBytes = 5120;
constexpr std::size_t kMaxRoleInlineBytes = 10240;
constexpr std::size_t kMaxTrustBytes = 4096;  // with the quota raised, as AWS does on request
// IAM User Guide, "Tags for AWS Identity and Access Management resources".
constexpr std::size_t kMaxTags = 50;
constexpr std::uint64_t kMinSessionSeconds = 3600;
constexpr std::uint64_t kMaxSessionSeconds = 43200;
constexpr std::string_view kScheme = "https://";

std::string ItemPlace(const JsonFields& fields, std::string_view list, std::size_t index) {
  return fields.Place(list) + "[" + std::to_string(index) + "]";
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

using Parser = Result<DocumentPtr> (*)(std::string_view);

Result<DocumentPtr> ReadDocument(const JsonFields& fields, std::string_view name, Parser parse,
                                 std::size_t most_bytes) {
  const Json* const json = fields.Find(name);
  if (json == nullptr) return FieldError(fields.Place(name), "is missing; give a policy document");
  const std::string text = Text(*json);
  if (text.size() > most_bytes) {
    return FieldError(fields.Place(name), "has " + std::to_string(text.size()) +
                                              " characters without white space; the limit is " +
                                              std::to_string(most_bytes));
  }
  auto parsed = parse(text);
  if (!parsed.ok()) return FieldError(fields.Place(name), parsed.error().message);
  return parsed;
}

Result<std::string> ReadName(const JsonFields& fields, std::size_t most = 64) {
  PENSTOCK_ASSIGN(std::string name, fields.RequiredText("name"));
  if (IsEntityName(name, most)) return name;
  return FieldError(fields.Place("name"), "invalid name '" + name + "': expected up to " +
                                              std::to_string(most) +
                                              " letters, digits or + = , . @ _ -");
}

Result<std::string> ReadPath(const JsonFields& fields) {
  PENSTOCK_ASSIGN(const auto path, fields.Text("path"));
  if (!path || IsEntityPath(*path)) return path.value_or("/");
  return FieldError(fields.Place("path"),
                    "invalid path '" + *path + "': it must begin and end with a slash");
}

Result<std::vector<std::string>> ReadTexts(const JsonFields& fields, std::string_view name) {
  std::vector<std::string> texts;
  PENSTOCK_ASSIGN(const Json* const list, fields.List(name));
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& item = (*list)[i];
    const std::string place = ItemPlace(fields, name, i);
    if (!item.is_string() || item.get<std::string>().empty())
      return FieldError(place, "must be a string that is not empty");
    texts.push_back(item.get<std::string>());
    if (std::count(texts.begin(), texts.end(), texts.back()) > 1)
      return FieldError(place, "'" + texts.back() + "' is given twice; name each once");
  }
  return texts;
}

Result<void> ReadInlinePolicies(const JsonFields& fields, std::size_t most_bytes,
                                Attachments& policies) {
  PENSTOCK_ASSIGN(const Json* const list, fields.List("inline_policies"));
  std::size_t bytes = 0;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    PENSTOCK_ASSIGN(const JsonFields each,
                    JsonFields::Read((*list)[i], ItemPlace(fields, "inline_policies", i),
                                     {"name", "document"}));
    PENSTOCK_ASSIGN(std::string name, ReadName(each, 128));
    PENSTOCK_ASSIGN(DocumentPtr document,
                    ReadDocument(each, "document", policy::ParseIdentityPolicy, most_bytes));
    bytes += Text(*each.Find("document")).size();
    if (!policies.inline_policies.emplace(name, std::move(document)).second)
      return FieldError(each.Place("name"), "policy '" + name + "' is given twice; name each once");
  }
  if (bytes <= most_bytes) return Ok();
  return FieldError(fields.Place("inline_policies"),
                    "have " + std::to_string(bytes) + " characters together; the limit is " +
                        std::to_string(most_bytes) + "; use managed_policies");
}

Result<Attachments> ReadAttachments(const JsonFields& fields, std::size_t most_inline_bytes) {
  Attachments policies;
  PENSTOCK_TRY(ReadInlinePolicies(fields, most_inline_bytes, policies));
  PENSTOCK_ASSIGN(policies.attached_policies, ReadTexts(fields, "attached_policies"));
  return policies;
}

Result<void> ReadBoundary(const JsonFields& fields, Attachments& policies) {
  if (!fields.Has("permissions_boundary")) return Ok();
  PENSTOCK_ASSIGN(policies.permissions_boundary, fields.RequiredText("permissions_boundary"));
  return Ok();
}

Result<Tags> ReadTags(const JsonFields& fields) {
  Tags tags;
  const Json* const json = fields.Find("tags");
  if (json == nullptr) return tags;
  const std::string place = fields.Place("tags");
  if (!json->is_object()) return FieldError(place, "must be an object of keys and values");
  if (json->size() > kMaxTags) {
    return FieldError(place, "has " + std::to_string(json->size()) + " tags; the limit is " +
                                 std::to_string(kMaxTags));
  }
  for (const auto& [key, value] : json->items()) {
    if (key.empty() || s3::CountCharacters(key) > s3::kMaxTagKeyCharacters || !value.is_string() ||
        s3::CountCharacters(value.get<std::string>()) > s3::kMaxTagValueCharacters) {
      return FieldError(place, "invalid tag '" + key +
                                   "': expected a key of 1 to 128 characters and a string of up to "
                                   "256 characters");
    }
    if (s3::FindTag(tags, key))
      return FieldError(place, "tag '" + key + "' is given twice; case does not count");
    tags.emplace_back(key, value.get<std::string>());
  }
  return tags;
}

template <class Entity>
Result<void> AddEntity(const JsonFields& fields, std::string_view kind, const std::string& name,
                       Entity entity, ByName<Entity>& entities) {
  if (entities.emplace(name, std::move(entity)).second) return Ok();
  return FieldError(fields.Place("name"),
                    std::string(kind) + " '" + name + "' is given twice; name each once");
}

Result<void> ReadRoleUses(const JsonFields& fields, Role& role) {
  PENSTOCK_ASSIGN(const auto seconds, fields.Whole("max_session_duration", kMaxSessionSeconds));
  if (seconds && *seconds < kMinSessionSeconds)
    return fields.OutOfRange("max_session_duration", "3600 to 43200 seconds");
  role.max_session_duration = std::chrono::seconds(seconds.value_or(kMinSessionSeconds));
  PENSTOCK_ASSIGN(const auto name_space, fields.Text("namespace"));
  role.name_space = name_space.value_or(std::string(kDefaultNamespace));
  if (const std::string problem = NamespaceNameProblem(role.name_space); !problem.empty())
    return FieldError(fields.Place("namespace"), problem);
  PENSTOCK_ASSIGN(const auto instance, fields.Flag("instance_profile"));
  role.instance_profile = instance.value_or(false);
  PENSTOCK_ASSIGN(const auto container, fields.Flag("container"));
  role.container = container.value_or(false);
  if (!fields.Has("container_token")) return Ok();
  PENSTOCK_ASSIGN(role.container_token, fields.RequiredText("container_token"));
  if (role.container) return Ok();
  return FieldError(fields.Place("container_token"),
                    "the role is not for containers; add \"container\": true");
}

// The scheme is not part of the provider's ARN.
Result<std::string> ReadIssuer(const JsonFields& fields) {
  PENSTOCK_ASSIGN(std::string issuer, fields.RequiredText("issuer"));
  const bool fits = issuer.starts_with(kScheme) && issuer.size() > kScheme.size() &&
                    issuer.size() <= 255 && !issuer.ends_with('/') &&
                    std::all_of(issuer.begin(), issuer.end(),
                                [](char c) { return c > ' ' && c <= '~' && c != '?' && c != '#'; });
  if (fits) return issuer;
  return FieldError(fields.Place("issuer"),
                    "invalid issuer '" + issuer +
                        "': expected a URL of up to 255 characters that begins with https:// and "
                        "does not end with a slash");
}

std::string WithoutSecrets(std::string_view json) {
  auto tree = ParseJsonTree(json);
  if (!tree.ok() || !tree->root().is_object()) return "{}";
  tree->root().erase("container_token");
  return Text(tree->root());
}

template <class Entity>
Json ListOf(const ByName<Entity>& entities) {
  Json list = Json::array();
  for (const auto& [name, entity] : entities)
    list.push_back(Json::parse(WithoutSecrets(entity.json)));
  return list;
}

}  // namespace

bool IsEntityName(std::string_view text, std::size_t most) {
  return !text.empty() && text.size() <= most && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("+=,.@_-").find(c) != std::string_view::npos;
  });
}

bool IsEntityPath(std::string_view text) {
  return text.size() <= 512 && text.starts_with('/') && text.ends_with('/') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

Result<void> ReadManagedPolicy(const Json& json, const std::string& place, AccountAccess& access) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"name", "path", "document"}));
  ManagedPolicy policy{.json = Text(json), .document_json = {}, .path = {}, .document = {}};
  PENSTOCK_ASSIGN(const std::string name, ReadName(fields, 128));
  PENSTOCK_ASSIGN(policy.path, ReadPath(fields));
  PENSTOCK_ASSIGN(policy.document,
                  ReadDocument(fields, "document", policy::ParseIdentityPolicy, kMaxManagedBytes));
  policy.document_json = Text(*fields.Find("document"));
  return AddEntity(fields, "policy", name, std::move(policy), access.managed_policies);
}

Result<void> ReadGroup(const Json& json, const std::string& place, AccountAccess& access) {
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, place, {"name", "path", "inline_policies", "attached_policies"}));
  Group group{.json = Text(json), .path = {}, .policies = {}};
  PENSTOCK_ASSIGN(const std::string name, ReadName(fields, 128));
  PENSTOCK_ASSIGN(group.path, ReadPath(fields));
  PENSTOCK_ASSIGN(group.policies, ReadAttachments(fields, kMaxGroupInlineBytes));
  return AddEntity(fields, "group", name, std::move(group), access.groups);
}

Result<void> ReadRole(const Json& json, const std::string& place, AccountAccess& access) {
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, place,
                       {"name", "path", "tags", "trust_policy", "max_session_duration",
                        "inline_policies", "attached_policies", "permissions_boundary", "namespace",
                        "instance_profile", "container", "container_token"}));
  Role role;
  role.json = Text(json);
  PENSTOCK_ASSIGN(role.name, ReadName(fields));
  PENSTOCK_ASSIGN(role.tags, ReadTags(fields));
  PENSTOCK_ASSIGN(role.path, ReadPath(fields));
  PENSTOCK_ASSIGN(role.trust_policy,
                  ReadDocument(fields, "trust_policy", policy::ParseTrustPolicy, kMaxTrustBytes));
  PENSTOCK_ASSIGN(role.policies, ReadAttachments(fields, kMaxRoleInlineBytes));
  PENSTOCK_TRY(ReadBoundary(fields, role.policies));
  PENSTOCK_TRY(ReadRoleUses(fields, role));
  const std::string name = role.name;
  return AddEntity(fields, "role", name, std::move(role), access.roles);
}

Result<void> ReadTokenProvider(const Json& json, const std::string& place, AccountAccess& access) {
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, place, {"issuer", "audiences", "keys", "accept_any_token"}));
  TokenProvider provider;
  provider.json = Text(json);
  PENSTOCK_ASSIGN(provider.issuer, ReadIssuer(fields));
  PENSTOCK_ASSIGN(provider.audiences, ReadTexts(fields, "audiences"));
  if (provider.audiences.empty())
    return FieldError(fields.Place("audiences"),
                      "is missing or empty; list the values that the claim aud may have");
  PENSTOCK_ASSIGN(const auto any, fields.Flag("accept_any_token"));
  provider.accepts_any_token = any.value_or(false);
  if (const Json* const keys = fields.Find("keys")) {
    provider.keys = Text(*keys);
    if (const auto checked = CheckKeySet(provider.keys); !checked.ok())
      return FieldError(fields.Place("keys"), checked.error().message);
  }
  if (provider.keys.empty() != provider.accepts_any_token) {
    return FieldError(place,
                      "give either keys, the JSON Web Key Set of the issuer, or "
                      "\"accept_any_token\": true for tests");
  }
  const std::string name = provider.issuer.substr(kScheme.size());
  return AddEntity(fields, "token provider", name, std::move(provider), access.token_providers);
}

Result<JsonFields> ReadUserFields(const Json& json, const std::string& place) {
  return JsonFields::Read(json, place,
                          {"name", "path", "tags", "access_keys", "groups", "inline_policies",
                           "attached_policies", "permissions_boundary"});
}

Result<void> ReadUserAccess(const Json& json, const std::string& place, AccountAccess& access) {
  PENSTOCK_ASSIGN(const JsonFields fields, ReadUserFields(json, place));
  JsonTree tree(json);
  Json& own = tree.root();
  own.erase("access_keys");
  AccountUser user{.json = Text(own), .path = {}, .tags = {}, .groups = {}, .policies = {}};
  PENSTOCK_ASSIGN(const std::string name, ReadName(fields));
  PENSTOCK_ASSIGN(user.tags, ReadTags(fields));
  PENSTOCK_ASSIGN(user.path, ReadPath(fields));
  PENSTOCK_ASSIGN(user.groups, ReadTexts(fields, "groups"));
  PENSTOCK_ASSIGN(user.policies, ReadAttachments(fields, kMaxUserInlineBytes));
  PENSTOCK_TRY(ReadBoundary(fields, user.policies));
  return AddEntity(fields, "user", name, std::move(user), access.users);
}

Result<void> ReadAccountLists(const JsonFields& account, AccountAccess& access) {
  using Read = Result<void> (*)(const Json&, const std::string&, AccountAccess&);
  constexpr std::pair<std::string_view, Read> kLists[] = {
      {"managed_policies", ReadManagedPolicy},
      {"groups", ReadGroup},
      {"roles", ReadRole},
      {"token_providers", ReadTokenProvider},
  };
  for (const auto& [name, read] : kLists) {
    PENSTOCK_ASSIGN(const Json* const list, account.List(name));
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      PENSTOCK_TRY(read((*list)[i], ItemPlace(account, name, i), access));
  }
  return Ok();
}

Result<void> ReadEntity(std::string_view kind, std::string_view json, AccountAccess& access) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(json));
  const Json& root = tree.root();
  if (kind == kUserKind) return ReadUserAccess(root, "", access);
  if (kind == kGroupKind) return ReadGroup(root, "", access);
  if (kind == kRoleKind) return ReadRole(root, "", access);
  if (kind == kPolicyKind) return ReadManagedPolicy(root, "", access);
  if (kind == kProviderKind) return ReadTokenProvider(root, "", access);
  return Error::Make(ErrorKind::kDataLoss, "unknown kind '" + std::string(kind) + "'");
}

Json AccessJson(const AccountAccess& access, std::string_view list) {
  if (list == "managed_policies") return ListOf(access.managed_policies);
  if (list == "groups") return ListOf(access.groups);
  if (list == "roles") return ListOf(access.roles);
  if (list == "token_providers") return ListOf(access.token_providers);
  return ListOf(access.users);
}

}  // namespace penstock::emulator::identity
