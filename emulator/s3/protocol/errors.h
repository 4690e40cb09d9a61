// Builders for common errors of S3. The table of all codes is in emulator/message/errors.cc.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_ERRORS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_ERRORS_H_

#include <optional>
#include <string>
#include <string_view>

#include "emulator/message/errors.h"

namespace penstock::emulator::s3 {

using message::ErrorDetails;
using message::ErrorInfo;
using message::FindErrorInfo;
using message::MakeError;

// 400 InvalidArgument with ArgumentName and, unless it is nullopt, ArgumentValue. An empty header
// or field has an empty ArgumentValue.
Error InvalidArgument(std::string message, std::string_view name,
                      std::optional<std::string_view> value = std::nullopt);
// 400 InvalidRequest without further elements.
Error InvalidRequest(std::string message);
// 501 NotImplemented with Header and, unless empty, additionalMessage.
Error NotImplementedHeader(std::string_view header, std::string_view additional = {});
// 501 NotImplemented for an operation or sub-resource.
Error NotImplemented(std::string message);
Error MalformedXml();
// 405 with Method and ResourceType. The caller adds the Allow header.
Error MethodNotAllowed(std::string_view method, std::string_view resource_type);
// 412 with Condition.
Error PreconditionFailed(std::string_view condition);
Error NoSuchKey(std::string_view key);
// 400 for a CreateSession request with a session token.
Error SessionHeaderRefused();

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_ERRORS_H_
