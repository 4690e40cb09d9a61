// "--name value" options and positional arguments of the example programs, and their Client.
#ifndef PENSTOCK_EXAMPLES_CPP_COMMAND_LINE_H_
#define PENSTOCK_EXAMPLES_CPP_COMMAND_LINE_H_

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/client.h"

namespace examples {

struct Place {
  penstock::BucketName bucket;
  std::string path;
};

[[noreturn]] inline void Die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

// The value of `result`, or the end of the program with its error.
template <class T>
T Must(penstock::Result<T> result) {
  if (!result.ok()) Die(result.error().ToString());
  return std::move(result).value();
}

// Parses argv, or prints the usage and ends the program.
class CommandLine {
 public:
  CommandLine(int argc, char** argv, std::string usage, std::set<std::string> names)
      : usage_(std::move(usage)) {
    names.insert({"endpoint", "region"});
    for (int i = 1; i < argc; ++i) {
      const std::string text = argv[i];
      if (!text.starts_with("--")) {
        plain_.push_back(text);
        continue;
      }
      const std::string name = text.substr(2);
      if (!names.contains(name) || i + 1 == argc) Fail("unknown option or no value: " + text);
      options_[name] = argv[++i];
    }
  }

  std::string Option(const std::string& name, const std::string& otherwise = {}) const {
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : found->second;
  }
  std::string Required(const std::string& name) const {
    if (!options_.contains(name)) Fail("--" + name + " is missing");
    return options_.at(name);
  }
  const std::string& Argument(std::size_t index) const {
    if (index >= plain_.size()) Fail("an argument is missing");
    return plain_[index];
  }

  // Credentials come from the environment or the profile, as for AWS tools.
  std::shared_ptr<penstock::Client> MakeClient() const {
    penstock::ClientConfig config;
    config.endpoint_url = Option("endpoint");
    config.region = Option("region");
    auto client = penstock::Client::Create(std::move(config));
    if (!client.ok()) Die(client.error().ToString());
    return std::move(client).value();
  }

  Place ParsePlace(const std::string& uri) const {
    constexpr std::string_view kScheme = "s3://";
    if (!uri.starts_with(kScheme)) Fail("'" + uri + "' does not look like s3://bucket/key");
    const std::string rest = uri.substr(kScheme.size());
    const std::size_t slash = rest.find('/');
    return {penstock::BucketName(rest.substr(0, slash)),
            slash == std::string::npos ? "" : rest.substr(slash + 1)};
  }

  [[noreturn]] void Fail(const std::string& problem) const { Die(problem + "\nusage: " + usage_); }

 private:
  const std::string usage_;
  std::map<std::string, std::string> options_;
  std::vector<std::string> plain_;
};

}  // namespace examples

#endif  // PENSTOCK_EXAMPLES_CPP_COMMAND_LINE_H_
