// Test only: statements and policies in few words.
#ifndef PENSTOCK_EMULATOR_S3_ACCESS_POLICY_TEST_SUPPORT_H_
#define PENSTOCK_EMULATOR_S3_ACCESS_POLICY_TEST_SUPPORT_H_

#include <string>
#include <string_view>

namespace penstock::emulator::s3::testing {

inline constexpr std::string_view kBucketArn = "arn:aws:s3:::bucket";
inline constexpr std::string_view kObjects = "arn:aws:s3:::bucket/*";
inline constexpr std::string_view kBoth = R"(["arn:aws:s3:::bucket","arn:aws:s3:::bucket/*"])";
inline constexpr std::string_view kUser = R"({"AWS":"arn:aws:iam::111122223333:user/Ann"})";
inline constexpr std::string_view kAccount = R"({"AWS":"111122223333"})";

// Returns JSON as it is, and other text as a JSON string.
inline std::string Json(std::string_view text) {
  const bool is_json = text.starts_with('{') || text.starts_with('[') || text.starts_with('"');
  return is_json ? std::string(text) : "\"" + std::string(text) + "\"";
}

inline std::string Statement(std::string_view effect, std::string_view principal,
                             std::string_view action, std::string_view resource,
                             std::string_view condition) {
  std::string text = "{\"Effect\":" + Json(effect) + ",\"Principal\":" + Json(principal) +
                     ",\"Action\":" + Json(action) + ",\"Resource\":" + Json(resource);
  if (!condition.empty()) text.append(",\"Condition\":").append(condition);
  return text + "}";
}
inline std::string Allow(std::string_view principal, std::string_view action,
                         std::string_view resource, std::string_view condition = {}) {
  return Statement("Allow", principal, action, resource, condition);
}
inline std::string Deny(std::string_view principal, std::string_view action,
                        std::string_view resource, std::string_view condition = {}) {
  return Statement("Deny", principal, action, resource, condition);
}

// `statements`: one or more, separated by commas.
inline std::string Policy(std::string_view statements) {
  return R"({"Version":"2012-10-17","Statement":[)" + std::string(statements) + "]}";
}

}  // namespace penstock::emulator::s3::testing

#endif  // PENSTOCK_EMULATOR_S3_ACCESS_POLICY_TEST_SUPPORT_H_
