// S3's error codes with their status, kind and standard text (spec/protocol.md §8), and builders
// for the common ones.
//
// The XML of an error is error_response.cc's. Messages never carry secrets.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ERRORS_H_
#define PENSTOCK_EMULATOR_S3_CORE_ERRORS_H_

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
  std::string_view message;  // standard text; empty where every use has its own
};

// nullptr when the code is not S3's.
const ErrorInfo* FindErrorInfo(std::string_view code);

// What a client reads of an error that goes out under `code`. The server's own failures, which have
// no code of S3, name files of its machine: of those only the general text.
std::string_view MessageForClient(const Error& error, std::string_view code);

using ErrorDetails = std::vector<std::pair<std::string, std::string>>;

// The code's status, kind and standard message; `message` replaces the latter. An unknown code is a
// 500.
Error MakeError(std::string_view code, ErrorDetails details = {}, std::string message = {});

// 400 InvalidArgument + ArgumentName, ArgumentValue.
Error InvalidArgument(std::string message, std::string_view name, std::string_view value);
// 400 InvalidRequest without elements.
Error InvalidRequest(std::string message);
// 501 NotImplemented + Header, additionalMessage (when not empty).
Error NotImplementedHeader(std::string_view header, std::string_view additional = {});
// 501 NotImplemented for an operation or sub-resource.
Error NotImplemented(std::string message);
Error MalformedXml();
// 405 + Method, ResourceType. `Allow` is a header, and the caller's.
Error MethodNotAllowed(std::string_view method, std::string_view resource_type);
// 412 + Condition.
Error PreconditionFailed(std::string_view condition);
Error NoSuchKey(std::string_view key);
// CreateSession with a session's token.
Error SessionHeaderRefused();

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ERRORS_H_
