// S3's error codes with status, kind and standard text, and builders for the common ones (Amazon S3
// API Reference, "Error responses").
//
// error_response.cc writes the XML. Messages never contain secrets.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_ERRORS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_ERRORS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/error.h"

namespace penstock::emulator::s3 {

struct ErrorInfo {
  std::string_view code;
  int status;
  ErrorKind kind;
  std::string_view message;  // Standard text. Empty if every use has its own.
};

// Returns nullptr if S3 has no such code.
const ErrorInfo* FindErrorInfo(std::string_view code);

using ErrorDetails = std::vector<std::pair<std::string, std::string>>;

// Makes an error with the code's status, kind and standard message. `message` replaces the standard
// message. An unknown code becomes status 500.
Error MakeError(std::string_view code, ErrorDetails details = {}, std::string message = {});

// 400 InvalidArgument with ArgumentName and ArgumentValue.
Error InvalidArgument(std::string message, std::string_view name, std::string_view value);
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
