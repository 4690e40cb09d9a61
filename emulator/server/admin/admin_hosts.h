// The Host headers that the admin API accepts.
//
// A web page can make its own DNS name resolve to 127.0.0.1 (DNS rebinding). The browser then
// treats this listener as the page's own origin, and the page can read the responses. The Host
// header still has the page's name, so unknown names are refused.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_HOSTS_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_HOSTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace penstock::emulator::server {

// Whether `host` is "127.0.0.1" to "127.255.255.255", "::1", or "localhost" in any case. Brackets
// are allowed.
bool IsLoopbackHost(std::string_view host);

class AdminHosts {
 public:
  // `bound`: the address of the listener. `allowed`: further names, without ports.
  AdminHosts(std::string bound, std::vector<std::string> allowed);

  // `host`: the value of a Host header, with or without a port. A listener on a wildcard address
  // also accepts every literal IP address, because it involves no DNS name.
  bool Allows(std::string_view host) const;

 private:
  std::vector<std::string> names_;  // lower-case
  bool any_address_ = false;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_HOSTS_H_
