// Recognizes names of secrets. For the logger, and for the emulator's journal, which also reads
// percent-encoded names. Other code calls Redact (log.h).
#ifndef PENSTOCK_BASE_TEXT_REDACT_H_
#define PENSTOCK_BASE_TEXT_REDACT_H_

#include <string_view>

namespace penstock::internal {

// Returns true for the name of a header, query parameter, element or setting whose value is a
// secret. Ignores case, and accepts '-', '_' or nothing between words: "X-Amz-Signature",
// "aws_secret_access_key", "SessionToken". Decides by the ending of the name.
bool NamesSecret(std::string_view name);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_TEXT_REDACT_H_
