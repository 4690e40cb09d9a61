// Sets a proxy of the environment for one test, and no other.
#ifndef PENSTOCK_CLIENT_HTTP_PROXY_VARIABLE_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_PROXY_VARIABLE_FOR_TEST_H_

#include <cstdlib>
#include <string>
#include <utility>

namespace penstock::http {

class ProxyVariable {
 public:
  ProxyVariable(std::string name, const std::string& url) : name_(std::move(name)) {
    for (const char* const other : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                    "ALL_PROXY", "no_proxy", "NO_PROXY"})
      ::unsetenv(other);
    Set(url);
  }
  ~ProxyVariable() { ::unsetenv(name_.c_str()); }
  ProxyVariable(const ProxyVariable&) = delete;
  ProxyVariable& operator=(const ProxyVariable&) = delete;

  void Set(const std::string& url) const { ::setenv(name_.c_str(), url.c_str(), 1); }

 private:
  const std::string name_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_PROXY_VARIABLE_FOR_TEST_H_
