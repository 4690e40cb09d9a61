#include "emulator/server/admin/admin_hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace penstock::emulator::server {
namespace {

// Returns the host in lower case, without brackets, port and the final dot of a qualified name. An
// empty name if anything but a port follows the brackets.
std::string NameOf(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = host.substr(end + 1);
    const bool has_port = rest.size() > 1 && rest.starts_with(':') &&
                          rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!rest.empty() && !has_port) return {};
    host = host.substr(1, end - 1);
  } else if (const std::size_t colon = host.find(':'); colon == host.rfind(':')) {
    host = host.substr(0, colon);
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return AsciiLower(host);
}

std::optional<in_addr> AsVersionFour(const std::string& name) {
  in_addr address{};
  if (::inet_pton(AF_INET, name.c_str(), &address) != 1) return std::nullopt;
  return address;
}

std::optional<in6_addr> AsVersionSix(const std::string& name) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, name.c_str(), &address) != 1) return std::nullopt;
  return address;
}

bool IsLoopbackName(const std::string& name) {
  if (name == "localhost") return true;
  if (const auto four = AsVersionFour(name)) return (ntohl(four->s_addr) >> 24) == 127;
  const auto six = AsVersionSix(name);
  return six && IN6_IS_ADDR_LOOPBACK(&*six);
}

}  // namespace

bool IsLoopbackHost(std::string_view host) { return IsLoopbackName(NameOf(host)); }

AdminHosts::AdminHosts(std::string bound, std::vector<std::string> allowed)
    : names_(std::move(allowed)) {
  names_.push_back(std::move(bound));
  for (std::string& name : names_) name = NameOf(name);
  any_address_ = names_.back() == "0.0.0.0" || names_.back() == "::";
}

bool AdminHosts::Allows(std::string_view host) const {
  const std::string name = NameOf(host);
  if (IsLoopbackName(name) || std::find(names_.begin(), names_.end(), name) != names_.end())
    return true;
  return any_address_ && (AsVersionFour(name) || AsVersionSix(name));
}

}  // namespace penstock::emulator::server
