// Which Host headers the admin API answers.
//
// A web page can make its own DNS name resolve to 127.0.0.1 (DNS rebinding) and then read what this
// listener answers: to the browser it is the page's own origin. The Host header still has that
// name, so names are refused unless they are known.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_HOSTS_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_HOSTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace penstock::emulator::server {

// "127.0.0.1" to "127.255.255.255" and "::1"; also with brackets, and as "localhost" in any case of
// letters.
bool IsLoopbackHost(std::string_view host);

class AdminHosts {
 public:
  // `bound`: the address of the listener. `allowed`: further names, without ports.
  AdminHosts(std::string bound, std::vector<std::string> allowed);

  // `host`: the value of a Host header, with or without a port. A listener on a wildcard address
  // also answers any literal IP address: no DNS name stands behind it.
  bool Allows(std::string_view host) const;

 private:
  std::vector<std::string> names_;  // lower-case
  bool any_address_ = false;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_HOSTS_H_
