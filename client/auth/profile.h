// The AWS configuration files: ~/.aws/config and ~/.aws/credentials, merged (spec/protocol.md
// §3.3).
//
// Grammar and merging only. What a setting means is for its reader: credentials.h for keys,
// client/s3 for region, endpoint_url, s3.addressing_style and the rest.
#ifndef PENSTOCK_CLIENT_AUTH_PROFILE_H_
#define PENSTOCK_CLIENT_AUTH_PROFILE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::auth {

// The outside world, injected so that tests own it. Thread safety: both are called from any thread.
struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // Whole file. kNotFound when it does not exist.
  std::function<Result<std::string>(const std::string& path)> read_file;

  // The value, with an empty one counted as unset, as the AWS SDKs do.
  std::optional<std::string> Get(const std::string& name) const;
  // A file that holds one secret: its text without the line breaks at its end.
  Result<std::string> ReadToken(const std::string& path) const;
  static Environment PerProcess();
};

// Settings of one section. Names are lower-case; a sub-property is "s3.addressing_style".
struct Section {
  std::map<std::string, std::string, std::less<>> settings;
  // Which of them came from the credentials file (they win over the config file's, property by
  // property).
  std::map<std::string, std::string, std::less<>> from_credentials_file;

  std::optional<std::string> Find(std::string_view name) const;
};

enum class ProfileFileKind { kConfig, kCredentials };

// All sections of both files.
struct ProfileSet {
  std::map<std::string, Section, std::less<>> profiles;
  std::map<std::string, Section, std::less<>> sso_sessions;
  std::map<std::string, Section, std::less<>> services;
  // what was skipped and why, with file and line; values are never quoted
  std::vector<std::string> warnings;
  std::vector<std::string> files_read;
  std::vector<std::string> files_missing;

  const Section* FindProfile(std::string_view name) const;  // null when absent
  // The setting of a service ("s3", "endpoint_url") from the profile's `services` section.
  std::optional<std::string> FindServiceSetting(const Section& profile, std::string_view service,
                                                std::string_view name) const;
};

// Adds the sections of one file. kInvalidArgument, naming `path` and the line, when it cannot be
// read as a profile file. Credentials are to be added after config.
Result<void> ParseProfileFile(std::string_view text, const std::string& path, ProfileFileKind kind,
                              ProfileSet& into);

// Reads AWS_CONFIG_FILE (~/.aws/config) and AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials). A
// missing file is empty.
Result<ProfileSet> LoadProfiles(const Environment& environment);

// `explicit_name` if not empty, else AWS_PROFILE, else AWS_DEFAULT_PROFILE, else "default".
std::string SelectProfileName(const Environment& environment, const std::string& explicit_name);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROFILE_H_
