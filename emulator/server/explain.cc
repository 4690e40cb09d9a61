#include "emulator/server/explain.h"

#include <utility>

#include "emulator/json/json_tree.h"

namespace penstock::emulator::server {
namespace {

Result<policy::Context::Values> ReadValues(const Json& json, const std::string& place) {
  policy::Context::Values values;
  const auto add = [&](const Json& value) -> Result<void> {
    if (!value.is_string()) return FieldError(place, "must be a string or a list of strings");
    values.push_back(value.get<std::string>());
    return Ok();
  };
  if (!json.is_array()) {
    PENSTOCK_TRY(add(json));
    return values;
  }
  for (const Json& value : json) PENSTOCK_TRY(add(value));
  return values;
}

}  // namespace

Result<ExplainQuestion> ParseExplainQuestion(std::string_view json) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(json));
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(tree.root(), "",
                                   {"request_id", "principal", "action", "resource", "context"}));
  ExplainQuestion question;
  PENSTOCK_ASSIGN(const auto request_id, fields.Text("request_id"));
  if (request_id) {
    for (const char* other : {"principal", "action", "resource", "context"}) {
      if (fields.Has(other))
        return FieldError(other, "cannot be combined with request_id; remove one of them");
    }
    PENSTOCK_ASSIGN(question.request_id, fields.RequiredText("request_id"));
    return question;
  }
  PENSTOCK_ASSIGN(question.principal, fields.Text("principal"));
  PENSTOCK_ASSIGN(question.described.action, fields.RequiredText("action"));
  PENSTOCK_ASSIGN(question.described.resource, fields.RequiredText("resource"));
  const Json* const context = fields.Find("context");
  if (context == nullptr) return question;
  if (!context->is_object()) return FieldError("context", "must be an object");
  for (const auto& [key, json_values] : context->items()) {
    PENSTOCK_ASSIGN(policy::Context::Values values, ReadValues(json_values, "context." + key));
    question.described.context.emplace_back(key, std::move(values));
  }
  return question;
}

Result<std::string> ExplainRecorded(const JournalReading& reading, std::string_view request_id) {
  std::optional<std::string> found;
  reading.ForEach([&](const JournalEntryView& entry) {
    if (entry.request_id != request_id) return true;
    JsonTree tree(EmptyObject(6));
    Json& json = tree.root();
    json["request_id"] = request_id;
    json["operation"] = entry.operation;
    json["access_key"] = entry.access_key;
    json["status"] = entry.status;
    json["policies_consulted"] = !entry.authorization.empty();
    json["decisions"] = Json::array();
    // A long text is cut in the journal. Then the decisions are missing.
    if (auto decisions = ParseJsonTree(entry.authorization); decisions.ok())
      json["decisions"] = std::move(decisions->root());
    found = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return false;
  });
  if (found) return *std::move(found);
  return FieldError(ErrorKind::kNotFound, "request_id",
                    "the journal has no request '" + std::string(request_id) +
                        "'; it keeps the newest requests, as many as fit --journal-size");
}

Result<std::string> ExplainAsked(const identity::Identities& identities,
                                 const std::shared_ptr<s3::Namespace>& space,
                                 const s3::RouterOptions& options,
                                 const ExplainQuestion& question) {
  s3::DescribedRequest described = question.described;
  if (question.principal) {
    auto found = identities.FindPrincipal(*question.principal);
    if (!found) {
      return FieldError(ErrorKind::kNotFound, "principal",
                        "there is no requester '" + *question.principal +
                            "'; name an access key, or the ARN of a user, a role, a session of a "
                            "role or a root");
    }
    described.identity = *std::move(found);
  }
  PENSTOCK_ASSIGN(const std::string decision, s3::ExplainDescribed(space, options, described));
  return "{\"decisions\":[" + decision + "]}";
}

}  // namespace penstock::emulator::server
