#include "emulator/s3/protocol/directory_host.h"

#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kZonalPrefix = "s3express-";
constexpr std::string_view kFips = "fips-";

// Removes and returns the last label, with the dot before it.
std::string_view TakeLast(std::string_view& labels) {
  const auto dot = labels.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? labels : labels.substr(dot + 1);
  labels = labels.substr(0, dot == std::string_view::npos ? 0 : dot);
  return last;
}

}  // namespace

DirectoryHost ParseDirectoryHost(std::string_view labels) {
  DirectoryHost host;
  host.region = TakeLast(labels);
  if (!IsAwsRegion(host.region)) return {};
  std::string_view service = TakeLast(labels);
  if (service == "dualstack") service = TakeLast(labels);
  if (service == "s3express-control" || service == "s3express-control-fips") {
    if (!labels.empty()) return {};  // Path-style only.
    host.endpoint = DirectoryEndpoint::kControl;
    return host;
  }
  if (!service.starts_with(kZonalPrefix)) return {};
  service.remove_prefix(kZonalPrefix.size());
  if (service.starts_with(kFips)) service.remove_prefix(kFips.size());
  if (!IsZoneId(service)) return {};
  host.endpoint = DirectoryEndpoint::kZonal;
  host.zone = service;
  host.bucket = labels;
  return host;
}

}  // namespace penstock::emulator::s3
