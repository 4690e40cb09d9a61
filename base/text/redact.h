// Removes secrets from texts of the log, of servers and of the emulator's journal.
#ifndef PENSTOCK_BASE_TEXT_REDACT_H_
#define PENSTOCK_BASE_TEXT_REDACT_H_

#include <string>
#include <string_view>

namespace penstock {

// Returns the text with everything that can be a secret replaced by "***". Covers the values of
// Authorization, X-Amz-Signature, X-Amz-Credential, X-Amz-Security-Token, x-amz-s3session-token,
// SecretAccessKey, SessionToken and SSE-C keys. Recognizes header, query, XML, JSON and key=value
// form, and the user and password of URLs.
std::string Redact(std::string_view text);

namespace internal {

// Returns true for the name of a header, query parameter, element or setting whose value is a
// secret. Ignores case, and accepts '-', '_' or nothing between words: "X-Amz-Signature",
// "aws_secret_access_key", "SessionToken". Decides by the ending of the name.
bool NamesSecret(std::string_view name);

// Replaces `secret` by "***" wherever `text` contains it, each character as it is or
// percent-encoded. A secret of fewer than 8 characters is replaced only if no letter or digit
// adjoins it: texts may contain it by chance, as a part of a word.
void RedactValue(std::string& text, std::string_view secret);

}  // namespace internal
}  // namespace penstock

#endif  // PENSTOCK_BASE_TEXT_REDACT_H_
