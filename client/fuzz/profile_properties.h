// Properties of the parser of AWS configuration files, for any text.
#ifndef PENSTOCK_CLIENT_FUZZ_PROFILE_PROPERTIES_H_
#define PENSTOCK_CLIENT_FUZZ_PROFILE_PROPERTIES_H_

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "client/auth/profile.h"
#include "penstock/base/check.h"

namespace penstock::auth {

using Sections = std::map<std::string, Section, std::less<>>;

// Returns `name` as it appears in the header of a section: in quotes after a `prefix`.
inline std::string Header(std::string_view prefix, std::string_view name) {
  if (prefix.empty()) return std::string(name);
  std::string text = std::string(prefix) + "\"";
  for (const char c : name) text.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
  return text + "\"";
}

inline void WriteSections(std::string& text, std::string_view prefix, const Sections& sections) {
  for (const auto& [name, section] : sections) {
    text.append("[").append(Header(prefix, name)).append("]\n");
    for (const auto& [setting, value] : section.settings) {
      text.append(setting).append(" = ");
      for (const char c : value) text.append(c == '\n' ? "\n " : std::string(1, c));
      text.append("\n");
    }
  }
}

inline bool SameSettings(const Sections& a, const Sections& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
        return left.first == right.first && left.second.settings == right.second.settings;
      });
}

// Names of settings have no blanks, values have no leading or trailing blanks, and nothing is
// longer than the input allows.
inline void CheckSections(const Sections& sections, std::size_t input_bytes) {
  for (const auto& [name, section] : sections) {
    PENSTOCK_CHECK(!name.empty() && name.size() <= input_bytes &&
                   name.find('\n') == std::string::npos);
    for (const auto& [setting, value] : section.settings) {
      PENSTOCK_CHECK(!setting.empty() && setting.find_first_of(" \t\r\n=") == std::string::npos);
      PENSTOCK_CHECK(setting.size() <= 2 * input_bytes && value.size() <= input_bytes);
      PENSTOCK_CHECK(value.empty() ||
                     (value.front() != ' ' && value.back() != ' ' && value.back() != '\n'));
    }
    for (const auto& [setting, value] : section.from_credentials_file) {
      PENSTOCK_CHECK(section.Find(setting) == value);
    }
  }
}

// Writing the parsed sections as a file and parsing it again returns the same sections. Errors name
// the file and the line.
inline void CheckProfile(std::string_view input) {
  const std::string path = "/p";
  for (const ProfileFileKind kind : {ProfileFileKind::kConfig, ProfileFileKind::kCredentials}) {
    ProfileSet set;
    const Result<void> read = ParseProfileFile(input, path, kind, set);
    if (!read.ok()) {
      PENSTOCK_CHECK(read.error().kind == ErrorKind::kInvalidArgument &&
                     read.error().message.starts_with("/p line "));
      PENSTOCK_CHECK(read.error().message.size() < 200);
      continue;
    }
    for (const std::string& warning : set.warnings) PENSTOCK_CHECK(warning.starts_with("/p line "));
    for (const Sections* sections : {&set.profiles, &set.sso_sessions, &set.services})
      CheckSections(*sections, input.size());
    std::string text;
    const bool config = kind == ProfileFileKind::kConfig;
    WriteSections(text, config ? "profile " : "", set.profiles);
    WriteSections(text, "sso-session ", set.sso_sessions);
    WriteSections(text, "services ", set.services);
    ProfileSet again;
    PENSTOCK_CHECK(ParseProfileFile(text, path, kind, again).ok() && again.warnings.empty());
    PENSTOCK_CHECK(SameSettings(again.profiles, set.profiles) &&
                   SameSettings(again.sso_sessions, set.sso_sessions) &&
                   SameSettings(again.services, set.services));
  }
}

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_FUZZ_PROFILE_PROPERTIES_H_
