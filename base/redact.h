// Which names carry secrets: for the logger and for the emulator's journal, which also reads
// percent-encoded names. Other code calls Redact (log.h).
#ifndef PENSTOCK_BASE_REDACT_H_
#define PENSTOCK_BASE_REDACT_H_

#include <string_view>

namespace penstock::internal {

// True for the name of a header, query parameter, element or setting whose value is a secret, in
// any case and with '-',
// '_' or nothing between its words: "X-Amz-Signature", "aws_secret_access_key", "SessionToken".
// Decided by how it ends.
bool NamesSecret(std::string_view name);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_REDACT_H_
