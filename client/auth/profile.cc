#include "client/auth/profile.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace penstock::auth {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool IsName(std::string_view text) {
  constexpr std::string_view kExtra = "_-/.%@:+";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || kExtra.find(c) != kExtra.npos;
  });
}

bool IsCommentStart(char c) { return c == '#' || c == ';'; }

// A comment in a value starts at '#' or ';' after a blank.
std::string_view WithoutComment(std::string_view value) {
  if (!value.empty() && IsCommentStart(value[0])) return {};
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (IsCommentStart(value[i]) && IsBlank(value[i - 1])) return Trim(value.substr(0, i));
  }
  return value;
}

// Reads one file line by line. Values may be secrets: messages hold names and line numbers only.
class Parser {
 public:
  Parser(const std::string& path, ProfileFileKind kind, ProfileSet& into) : path_(path), kind_(kind), into_(into) {}

  Result<void> Line(std::string_view line) {
    ++number_;
    const std::string_view text = Trim(line);
    if (text.empty()) return Ok();
    if (IsBlank(line.front())) return Indented(text);
    if (IsCommentStart(text.front())) return Ok();
    property_.clear();
    if (text.front() == '[') return SectionLine(text);
    return PropertyLine(text);
  }

 private:
  Error Fatal(const std::string& what) const {
    return Error::Make(ErrorKind::kInvalidArgument, path_ + " line " + std::to_string(number_) + ": " + what);
  }
  void Warn(const std::string& what) {
    into_.warnings.push_back(path_ + " line " + std::to_string(number_) + ": " + what);
  }

  Result<void> SectionLine(std::string_view text) {
    section_ = nullptr;
    in_section_ = true;
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return Fatal("']' is missing after the section name");
    const std::string_view after = Trim(text.substr(close + 1));
    if (!after.empty() && !IsCommentStart(after.front())) return Fatal("only a comment may follow ']'");
    const std::string_view inner = Trim(text.substr(1, close - 1));
    const std::size_t gap = inner.find_first_of(" \t");
    const std::string_view type = gap == std::string_view::npos ? std::string_view() : inner.substr(0, gap);
    const std::string_view name = gap == std::string_view::npos ? inner : Trim(inner.substr(gap));
    if (!IsName(name)) {
      Warn("section skipped: its name has a character that no profile name has");
      return Ok();
    }
    if (kind_ == ProfileFileKind::kCredentials) return CredentialsSection(type, name);
    return ConfigSection(type, name);
  }

  Result<void> CredentialsSection(std::string_view type, std::string_view name) {
    if (!type.empty()) {
      Warn("section skipped: the credentials file names profiles without a prefix");
      return Ok();
    }
    section_ = &into_.profiles[std::string(name)];
    return Ok();
  }

  Result<void> ConfigSection(std::string_view type, std::string_view name) {
    if (type == "sso-session") {
      section_ = &into_.sso_sessions[std::string(name)];
    } else if (type == "services") {
      section_ = &into_.services[std::string(name)];
    } else if (type == "profile") {
      // [profile default] beats [default], wherever it stands.
      if (name == "default" && !prefixed_default_) into_.profiles.erase("default");
      prefixed_default_ = prefixed_default_ || name == "default";
      section_ = &into_.profiles[std::string(name)];
    } else if (type.empty() && name == "default") {
      if (!prefixed_default_) section_ = &into_.profiles["default"];
    } else {
      Warn("section skipped: the config file takes [default], [profile NAME], [sso-session NAME] and [services NAME]");
    }
    return Ok();
  }

  void Set(std::string name, std::string_view value) {
    section_->settings.insert_or_assign(name, std::string(value));
    if (kind_ == ProfileFileKind::kCredentials) {
      section_->from_credentials_file.insert_or_assign(std::move(name), std::string(value));
    }
  }

  Result<void> PropertyLine(std::string_view text) {
    if (!in_section_) return Fatal("a setting stands before the first section");
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return Fatal("expected 'name = value'");
    if (section_ == nullptr) return Ok();
    const std::string name = AsciiLower(Trim(text.substr(0, equals)));
    if (!IsName(name)) {
      Warn("setting skipped: its name has a character that no setting has");
      return Ok();
    }
    property_ = name;
    Set(name, WithoutComment(Trim(text.substr(equals + 1))));
    return Ok();
  }

  // After "name = value" another line of the value; after "name =" a sub-property.
  Result<void> Indented(std::string_view text) {
    if (section_ == nullptr) return in_section_ ? Ok() : Result<void>(Fatal("an indented line before any section"));
    if (property_.empty()) {
      if (!IsCommentStart(text.front())) Warn("indented line skipped: no setting stands above it");
      return Ok();
    }
    std::string& value = section_->settings[property_];
    if (!value.empty()) {
      Set(property_, value + "\n" + std::string(text));
      return Ok();
    }
    if (IsCommentStart(text.front())) return Ok();
    const std::size_t equals = text.find('=');
    const std::string name = AsciiLower(Trim(text.substr(0, std::min(equals, text.size()))));
    if (equals == std::string_view::npos || !IsName(name)) {
      Warn("indented line under '" + property_ + "' skipped: expected 'name = value'");
      return Ok();
    }
    Set(property_ + "." + name, WithoutComment(Trim(text.substr(equals + 1))));
    return Ok();
  }

  const std::string& path_;
  const ProfileFileKind kind_;
  ProfileSet& into_;
  int number_ = 0;
  bool in_section_ = false;
  bool prefixed_default_ = false;
  Section* section_ = nullptr;  // null: of a section that is skipped
  std::string property_;        // the setting an indented line would belong to; empty: none
};

std::string HomePath(const Environment& environment, const std::string& below) {
  return environment.Get("HOME").value_or("~") + below;
}

// The path with a leading "~/" replaced.
std::string Expand(const Environment& environment, const std::string& path) {
  return path.starts_with("~/") ? HomePath(environment, path.substr(1)) : path;
}

Result<void> LoadOne(const Environment& environment, const char* variable, const char* below_home,
                     ProfileFileKind kind, ProfileSet& into) {
  const auto named = environment.Get(variable);
  const std::string path = named ? Expand(environment, *named) : HomePath(environment, below_home);
  Result<std::string> text = environment.read_file(path);
  if (!text.ok()) {
    if (text.error().kind != ErrorKind::kNotFound) return std::move(text).error();
    into.files_missing.push_back(path);
    return Ok();
  }
  into.files_read.push_back(path);
  return ParseProfileFile(*text, path, kind, into);
}

}  // namespace

std::optional<std::string> Section::Find(std::string_view name) const {
  const auto found = settings.find(name);
  if (found == settings.end()) return std::nullopt;
  return found->second;
}

const Section* ProfileSet::FindProfile(std::string_view name) const {
  const auto found = profiles.find(name);
  return found == profiles.end() ? nullptr : &found->second;
}

std::optional<std::string> ProfileSet::FindServiceSetting(const Section& profile, std::string_view service,
                                                          std::string_view name) const {
  const auto section_name = profile.Find("services");
  if (!section_name) return std::nullopt;
  const auto section = services.find(*section_name);
  if (section == services.end()) return std::nullopt;
  return section->second.Find(std::string(service).append(".").append(name));
}

Result<void> ParseProfileFile(std::string_view text, const std::string& path, ProfileFileKind kind, ProfileSet& into) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(path, kind, into);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    PENSTOCK_TRY(parser.Line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Ok();
}

Result<ProfileSet> LoadProfiles(const Environment& environment) {
  ProfileSet set;
  PENSTOCK_TRY(LoadOne(environment, "AWS_CONFIG_FILE", "/.aws/config", ProfileFileKind::kConfig, set));
  PENSTOCK_TRY(LoadOne(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials", ProfileFileKind::kCredentials,
                       set));
  return set;
}

std::string SelectProfileName(const Environment& environment, const std::string& explicit_name) {
  if (!explicit_name.empty()) return explicit_name;
  if (auto name = environment.Get("AWS_PROFILE")) return *name;
  if (auto name = environment.Get("AWS_DEFAULT_PROFILE")) return *name;
  return "default";
}

}  // namespace penstock::auth
