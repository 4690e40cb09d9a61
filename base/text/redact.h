// Recognizes names of secrets, and removes known values of secrets. For the logger, for texts of
// servers, and for the emulator's journal, which also reads percent-encoded names. Other code calls
// Redact (log.h).
#ifndef PENSTOCK_BASE_TEXT_REDACT_H_
#define PENSTOCK_BASE_TEXT_REDACT_H_

#include <string>
#include <string_view>

namespace penstock::internal {

// Returns true for the name of a header, query parameter, element or setting whose value is a
// secret. Ignores case, and accepts '-', '_' or nothing between words: "X-Amz-Signature",
// "aws_secret_access_key", "SessionToken". Decides by the ending of the name.
bool NamesSecret(std::string_view name);

// Replaces `secret` by "***" wherever `text` contains it, each character as it is or
// percent-encoded. A secret of fewer than 8 characters is replaced only if no letter or digit
// adjoins it: texts may contain it by chance, as a part of a word.
void RedactValue(std::string& text, std::string_view secret);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_TEXT_REDACT_H_
