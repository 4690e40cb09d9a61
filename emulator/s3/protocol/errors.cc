#include "emulator/s3/protocol/errors.h"

#include <utility>

namespace penstock::emulator::s3 {

Error InvalidArgument(std::string message, std::string_view name,
                      std::optional<std::string_view> value) {
  ErrorDetails details{{"ArgumentName", std::string(name)}};
  if (value) details.emplace_back("ArgumentValue", *value);
  return MakeError("InvalidArgument", std::move(details), std::move(message));
}

Error InvalidRequest(std::string message) {
  return MakeError("InvalidRequest", {}, std::move(message));
}

Error NotImplementedHeader(std::string_view header, std::string_view additional) {
  ErrorDetails details{{"Header", std::string(header)}};
  if (!additional.empty()) details.emplace_back("additionalMessage", additional);
  return MakeError("NotImplemented", std::move(details));
}

Error NotImplemented(std::string message) {
  return MakeError("NotImplemented", {}, std::move(message));
}

Error MalformedXml() { return MakeError("MalformedXML"); }

Error MethodNotAllowed(std::string_view method, std::string_view resource_type) {
  return MakeError("MethodNotAllowed",
                   {{"Method", std::string(method)}, {"ResourceType", std::string(resource_type)}});
}

Error PreconditionFailed(std::string_view condition) {
  return MakeError("PreconditionFailed", {{"Condition", std::string(condition)}});
}

Error SessionHeaderRefused() {
  return InvalidRequest("CreateSession request should not include \"x-amz-s3session-token\"");
}

Error NoSuchKey(std::string_view key) {
  return MakeError("NoSuchKey", {{"Key", std::string(key)}});
}

}  // namespace penstock::emulator::s3
