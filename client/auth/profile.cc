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
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           kExtra.find(c) != kExtra.npos;
  });
}

bool IsCommentStart(char c) { return c == '#' || c == ';'; }

// A comment in a value starts with '#' or ';' after a blank.
std::string_view WithoutComment(std::string_view value) {
  if (!value.empty() && IsCommentStart(value[0])) return {};
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (IsCommentStart(value[i]) && IsBlank(value[i - 1])) return Trim(value.substr(0, i));
  }
  return value;
}

// The header line of a section.
struct Header {
  std::string type;        // "profile" of [profile x]; empty if there is none.
  std::string name;        // Empty: no name, or several.
  std::size_t length = 0;  // Up to and including the closing bracket.
};

// Parses a section header of the credentials file: everything between the brackets is the name.
std::optional<Header> WholeHeader(std::string_view text) {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return std::nullopt;
  return Header{{}, std::string(Trim(text.substr(1, close - 1))), close + 1};
}

// Parses a section header of the config file. The name is one word in the syntax of Python's shlex:
// `aws configure` quotes names with blanks, and botocore splits them this way. Returns nullopt
// without a closing ']'.
std::optional<Header> SplitHeader(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  std::size_t i = 1;
  for (; i < text.size() && (quote != 0 || text[i] != ']'); ++i) {
    const char c = text[i];
    if (quote == 0 && IsBlank(c)) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    const char next = i + 1 < text.size() ? text[i + 1] : 0;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && next != 0 &&
               (quote == 0 || (quote == '"' && (next == '"' || next == '\\')))) {
      words.back().push_back(next);
      ++i;
    } else {
      words.back().push_back(c);
    }
  }
  if (i >= text.size()) {  // Inside quotes there may be one.
    if (text.find(']') == std::string_view::npos) return std::nullopt;
    return Header{{}, {}, text.size()};
  }
  const std::size_t length = i + 1;
  if (words.size() == 1) return Header{{}, std::move(words[0]), length};
  if (words.size() == 2) return Header{std::move(words[0]), std::move(words[1]), length};
  return Header{{}, {}, length};
}

// Parses one file line by line. Values may be secrets, so messages contain only names and line
// numbers.
class Parser {
 public:
  Parser(const std::string& path, ProfileFileKind kind, ProfileSet& into)
      : path_(path), kind_(kind), into_(into) {}

  // Follows Python's configparser, which botocore and the AWS CLI use. A line with deeper
  // indentation than the setting above it continues that setting. Any other line is a section or a
  // setting, at any indentation.
  Result<void> Line(std::string_view line) {
    ++number_;
    if (line.find('\0') != std::string_view::npos) return Fatal("it has a NUL");
    const std::string_view text = Trim(line);
    if (text.empty() || IsCommentStart(text.front())) return Ok();
    const auto indentation = static_cast<std::size_t>(text.data() - line.data());
    if (property_ && indentation > indentation_) return Continuation(text);
    indentation_ = indentation;
    property_.reset();
    if (text.front() == '[') return SectionLine(text);
    return PropertyLine(text);
  }

 private:
  Error Fatal(const std::string& what) const {
    return Error::Make(ErrorKind::kInvalidArgument,
                       path_ + " line " + std::to_string(number_) + ": " + what);
  }
  void Warn(const std::string& what) {
    into_.warnings.push_back(path_ + " line " + std::to_string(number_) + ": " + what);
  }

  Result<void> SectionLine(std::string_view text) {
    section_ = nullptr;
    in_section_ = true;
    const bool config = kind_ == ProfileFileKind::kConfig;
    const std::optional<Header> header = config ? SplitHeader(text) : WholeHeader(text);
    if (!header) return Fatal("']' is missing after the section name");
    const std::string_view after = Trim(text.substr(header->length));
    if (!after.empty() && !IsCommentStart(after.front()))
      return Fatal("only a comment may follow ']'");
    if (config) return ConfigSection(header->type, header->name);
    if (header->name.empty()) {
      Warn("section skipped: it has no name");
      return Ok();
    }
    section_ = &into_.profiles[header->name];
    return Ok();
  }

  Result<void> ConfigSection(std::string_view type, const std::string& name) {
    if (name.empty()) {
      Warn(
          "section skipped: it has no name, or a name of several words without quotes around them");
    } else if (type == "sso-session") {
      section_ = &into_.sso_sessions[name];
    } else if (type == "services") {
      section_ = &into_.services[name];
    } else if (type == "profile") {
      // [profile default] takes precedence over [default], in any order.
      if (name == "default" && !prefixed_default_) into_.profiles.erase("default");
      prefixed_default_ = prefixed_default_ || name == "default";
      section_ = &into_.profiles[name];
    } else if (type.empty() && name == "default") {
      if (!prefixed_default_) section_ = &into_.profiles["default"];
    } else {
      Warn(
          "section skipped: the config file allows [default], [profile NAME], [sso-session NAME] "
          "and [services NAME]");
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
    if (!in_section_) return Fatal("a setting precedes the first section");
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return Fatal("expected 'name = value'");
    property_.emplace();
    if (section_ == nullptr) return Ok();
    const std::string name = AsciiLower(Trim(text.substr(0, equals)));
    if (!IsName(name)) {
      Warn("setting skipped: its name contains an invalid character");
      return Ok();
    }
    property_ = name;
    Set(name, WithoutComment(Trim(text.substr(equals + 1))));
    return Ok();
  }

  // After "name = value": another line of the value. After "name =": a sub-property.
  Result<void> Continuation(std::string_view text) {
    if (property_->empty()) return Ok();
    const std::string& value = section_->settings[*property_];
    if (!value.empty()) {
      Set(*property_, value + "\n" + std::string(text));
      return Ok();
    }
    const std::size_t equals = text.find('=');
    const std::string name = AsciiLower(Trim(text.substr(0, std::min(equals, text.size()))));
    if (equals == std::string_view::npos || !IsName(name)) {
      Warn("indented line under '" + *property_ + "' skipped: expected 'name = value'");
      return Ok();
    }
    Set(*property_ + "." + name, WithoutComment(Trim(text.substr(equals + 1))));
    return Ok();
  }

  const std::string& path_;
  const ProfileFileKind kind_;
  ProfileSet& into_;
  int number_ = 0;
  bool in_section_ = false;
  bool prefixed_default_ = false;
  Section* section_ = nullptr;  // Null: in a skipped section.
  // The setting above in this section; "": a skipped setting.
  std::optional<std::string> property_;
  std::size_t indentation_ = 0;  // Of the last section or setting.
};

std::string HomePath(const Environment& environment, const std::string& below) {
  return environment.Get("HOME").value_or("~") + below;
}

// Replaces a leading "~/".
std::string Expand(const Environment& environment, const std::string& path) {
  return path.starts_with("~/") ? HomePath(environment, path.substr(1)) : path;
}

Result<void> LoadOne(const Environment& environment, const char* variable, const char* below_home,
                     ProfileFileKind kind, ProfileSet& into) {
  const auto named = environment.Get(variable);
  const std::string path = named ? Expand(environment, *named) : HomePath(environment, below_home);
  Result<std::string> text = environment.read_file(path);
  if (!text.ok()) {
    if (text.error().kind != ErrorKind::kNotFound) {
      Error error = std::move(text).error();
      if (named) error.message.insert(0, std::string(variable) + ": ");
      return error;
    }
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

std::optional<std::string> ProfileSet::FindServiceSetting(const Section& profile,
                                                          std::string_view service,
                                                          std::string_view name) const {
  const auto section_name = profile.Find("services");
  if (!section_name) return std::nullopt;
  const auto section = services.find(*section_name);
  if (section == services.end()) return std::nullopt;
  return section->second.Find(std::string(service).append(".").append(name));
}

Result<void> ParseProfileFile(std::string_view text, const std::string& path, ProfileFileKind kind,
                              ProfileSet& into) {
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
  PENSTOCK_TRY(
      LoadOne(environment, "AWS_CONFIG_FILE", "/.aws/config", ProfileFileKind::kConfig, set));
  PENSTOCK_TRY(LoadOne(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials",
                       ProfileFileKind::kCredentials, set));
  return set;
}

std::string SelectProfileName(const Environment& environment, const std::string& explicit_name) {
  if (!explicit_name.empty()) return explicit_name;
  if (auto name = environment.Get("AWS_PROFILE")) return *name;
  if (auto name = environment.Get("AWS_DEFAULT_PROFILE")) return *name;
  return "default";
}

}  // namespace penstock::auth
