// Checks that a header value is a JSON object of strings, {"a": "b"} (SSE-KMS encryption contexts).
#ifndef PENSTOCK_EMULATOR_S3_ENCRYPTION_JSON_MAP_H_
#define PENSTOCK_EMULATOR_S3_ENCRYPTION_JSON_MAP_H_

#include <string_view>

namespace penstock::emulator::s3 {

// True if `text` is valid UTF-8 and one JSON object (RFC 8259) whose values are all strings.
bool IsJsonStringMap(std::string_view text);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_ENCRYPTION_JSON_MAP_H_
