// S3's error codes with status, kind and standard text (Amazon S3 API Reference, "Error
// responses"), and the error document.
//
// The HTTP layer and emulator/s3 share them. Messages never contain secrets.
#ifndef PENSTOCK_EMULATOR_MESSAGE_ERRORS_H_
#define PENSTOCK_EMULATOR_MESSAGE_ERRORS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/error.h"

namespace penstock::emulator::message {

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

// ServiceUnavailable for a request that ends early because the emulator stops.
Error ServerStops();

// Returns the XML document of an error. Bytes that are not UTF-8 are replaced.
std::string ErrorDocument(std::string_view code, std::string_view message,
                          const ErrorDetails& details, std::string_view request_id,
                          std::string_view host_id);

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_ERRORS_H_
