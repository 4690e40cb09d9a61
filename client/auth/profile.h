// The AWS configuration files ~/.aws/config and ~/.aws/credentials, merged ("Shared config and
// credentials files", AWS SDKs and Tools Reference Guide).
//
// Only grammar and merging. The readers interpret the settings: credentials.h the keys, client/s3
// region, endpoint_url, s3.addressing_style and others.
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

// External dependencies, injected for tests. Thread safety: both functions may be called from any
// thread.
struct Environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // Reads a whole file. Returns kNotFound if it does not exist.
  std::function<Result<std::string>(const std::string& path)> read_file;

  // Returns the value; an empty one counts as unset, as in the AWS SDKs.
  std::optional<std::string> Get(const std::string& name) const;
  // Reads a file with one secret, without trailing line breaks.
  Result<std::string> ReadToken(const std::string& path) const;
  static Environment PerProcess();
};

// Settings of one section. Names are in lower case; a sub-property is "s3.addressing_style".
struct Section {
  std::map<std::string, std::string, std::less<>> settings;
  // The settings from the credentials file. Each takes precedence over the config file's.
  std::map<std::string, std::string, std::less<>> from_credentials_file;

  std::optional<std::string> Find(std::string_view name) const;
};

enum class ProfileFileKind { kConfig, kCredentials };

// All sections of both files.
struct ProfileSet {
  std::map<std::string, Section, std::less<>> profiles;
  std::map<std::string, Section, std::less<>> sso_sessions;
  std::map<std::string, Section, std::less<>> services;
  // Skipped lines and the reasons, with file and line. Values are never quoted.
  std::vector<std::string> warnings;
  std::vector<std::string> files_read;
  std::vector<std::string> files_missing;

  const Section* FindProfile(std::string_view name) const;  // Null if absent.
  // Returns the setting of a service ("s3", "endpoint_url") from the profile's `services` section.
  std::optional<std::string> FindServiceSetting(const Section& profile, std::string_view service,
                                                std::string_view name) const;
};

// Adds the sections of one file. Returns kInvalidArgument with `path` and the line if it is not a
// valid profile file. Add the credentials file after the config file.
Result<void> ParseProfileFile(std::string_view text, const std::string& path, ProfileFileKind kind,
                              ProfileSet& into);

// Reads AWS_CONFIG_FILE (~/.aws/config) and AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials). A
// missing file counts as empty.
Result<ProfileSet> LoadProfiles(const Environment& environment);

// Returns `explicit_name` unless it is empty, else AWS_PROFILE, else AWS_DEFAULT_PROFILE, else
// "default".
std::string SelectProfileName(const Environment& environment, const std::string& explicit_name);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_PROFILE_H_
