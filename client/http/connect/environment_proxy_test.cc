#include "client/http/connect/environment_proxy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace penstock::http {
namespace {

using Variables = std::map<std::string, std::string>;

// Returns "address (variable)", or an empty string.
std::string Named(const Variables& variables, const std::string& scheme = "http",
                  const std::string& host = "s3.local") {
  const auto proxy = ProxyFor({scheme, host, 9000}, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  return proxy ? proxy->address + " (" + proxy->variable + ")" : std::string();
}

TEST(EnvironmentProxy, SchemeVariableTakesPrecedence) {
  EXPECT_EQ(Named({}), "");
  EXPECT_EQ(Named({{"http_proxy", "http://p:3128"}, {"all_proxy", "http://q:1"}}),
            "p:3128 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "http://p:3128"}, {"all_proxy", "http://q:1"}}, "https"),
            "q:1 (all_proxy)");
  EXPECT_EQ(Named({{"HTTPS_PROXY", "p:1"}}, "https"), "p:1 (HTTPS_PROXY)");
  EXPECT_EQ(Named({{"HTTP_PROXY", "p:1"}}), "") << "libcurl ignores it";
  EXPECT_EQ(Named({{"http_proxy", ""}, {"ALL_PROXY", "p:1"}}), "p:1 (ALL_PROXY)");
}

TEST(EnvironmentProxy, NeverShowsCredentials) {
  for (const char* url : {"http://user:secret@p:3128/", "user:secret@p:3128",
                          "http://user:se/cret@p:3128", "http://u@secret@p:3128/x"}) {
    EXPECT_EQ(Named({{"http_proxy", url}}), "p:3128 (http_proxy)") << url;
  }
}

std::optional<EnvironmentProxy> Only(const std::string& url) {
  return ProxyFor({"http", "s3.local", 9000}, [&](const char* name) {
    return name == std::string("all_proxy") ? url.c_str() : nullptr;
  });
}

TEST(EnvironmentProxy, InvalidProxyHasAFaultWithoutSecrets) {
  for (const char* url :
       {"sock5://u:SEKRET@p:1", "htps://u:SEKRET@p", "SEK_RET://p:1", "u:SEKRET@://p:1",
        "http://u:SEKRET@", "http://u:SEKRET", "u:SEKRET", "http://u:SEKRET@p:x",
        "http://u:SEKRET@p:65536", "http://:8", "://u:SEKRET",
        // libcurl connects without these proxies.
        "http://u:SEKRET%0a@p:1", "http://u:SEK%00RET@p:1", "http://u:SEKRET\n@p:1",
        "http://u%7f:SEKRET@p:1", "http://u:SEKRET%zz%1F@p:1"}) {
    const auto proxy = Only(url);
    ASSERT_TRUE(proxy) << url;
    EXPECT_NE(proxy->fault, "") << url;
    EXPECT_EQ((proxy->fault + proxy->address).find("SEK"), std::string::npos)
        << url << ": " << proxy->fault << proxy->address;
  }
  EXPECT_EQ(
      Only("sock5://u:x@p:1")->fault,
      "has the scheme 'sock5', which is not supported: use http, https, socks4, socks4a, socks5 "
      "or socks5h");
}

TEST(EnvironmentProxy, ValidProxyHasNoFault) {
  for (const char* url :
       {"http://u:SEK/RET@p:1", "http://u:%20%zz%@p:1", "p", "p:3128", "u:x@p:3128/", "SOCKS5H://p",
        "https://[::1]", "[::1]:8", "socks4a://p:0"}) {
    EXPECT_EQ(Only(url)->fault, "") << url;
  }
}

TEST(EnvironmentProxy, OnlyHttpProxiesForward) {
  for (const char* url : {"p:1", "http://p:1", "HTTPS://p:1"})
    EXPECT_TRUE(Only(url)->forwards) << url;
  for (const char* url : {"socks4://p:1", "SOCKS5h://p:1"})
    EXPECT_FALSE(Only(url)->forwards) << url;
  EXPECT_TRUE(Only("https://p:1")->is_tls);
  EXPECT_FALSE(Only("http://p:1")->is_tls);
}

TEST(EnvironmentProxy, CredentialsAreDecodedForBasicAuthentication) {
  EXPECT_EQ(Only("http://p:1")->authorization, "");
  EXPECT_EQ(Only("http://user:pass@p:1")->authorization, "Basic dXNlcjpwYXNz");
  EXPECT_EQ(Only("user@p:1")->authorization, "Basic dXNlcjo=");
  EXPECT_EQ(Only("http://a%3Ab:c:d%2F@p:1")->authorization, "Basic YTpiOmM6ZC8=");
  EXPECT_EQ(Only("http://100%:x@p:1")->authorization, "Basic MTAwJTp4") << "not percent-encoded";
}

std::string Shown(const Variables& variables, std::string_view text) {
  const ProxySecrets secrets([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  std::string shown(text);
  secrets.Redact(shown);
  return shown;
}

TEST(EnvironmentProxy, SecretsAreReadOnceForAllTexts) {
  int reads = 0;
  const ProxySecrets secrets([&](const char*) {
    ++reads;
    return "http://u:one@p:1";
  });
  const int before = reads;
  for (std::string text : {"u:one", "http://u:one@p:1"}) {
    secrets.Redact(text);
    EXPECT_EQ(text, "***");
  }
  EXPECT_EQ(reads, before);
}

TEST(EnvironmentProxy, RemovesProxyUrlsAndCredentialsFromMessages) {
  const Variables variables{{"ALL_PROXY", "http://u:one@p:1"}, {"https_proxy", "q:two"}};
  EXPECT_EQ(Shown(variables, "bad 'http://u:one@p:1'; u:one, one; q:two: port two"),
            "bad '***'; ***, ***; ***: port ***");
  EXPECT_EQ(Shown(variables, "nothing"), "nothing");
}

TEST(EnvironmentProxy, RemovesCredentialsInEveryFormThatAProxyMayRepeat) {
  const Variables variables{{"http_proxy", "http://us%65r:hunter2%40x@p:3128"}};
  // printf 'user:hunter2@x' | base64
  EXPECT_EQ(Shown(variables,
                  "Basic dXNlcjpodW50ZXIyQHg= user:hunter2@x us%65r:hunter2%40x hunter2%40x "
                  "hunter2@x from p:3128"),
            "Basic *** *** *** *** *** from p:3128");
  EXPECT_EQ(Shown({{"http_proxy", "http://tokenTOKEN@p"}}, "no tokenTOKEN"), "no ***");
}

TEST(EnvironmentProxy, KeepsTheAddressOfAProxyWithoutCredentials) {
  EXPECT_EQ(Shown({{"https_proxy", "p:3128"}}, "the proxy p:3128 (https_proxy)"),
            "the proxy p:3128 (https_proxy)");
}

TEST(EnvironmentProxy, MissingPortIsLibcurlsDefault) {
  EXPECT_EQ(Named({{"http_proxy", "http://p"}}), "p:1080 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "HTTPS://p/"}}), "p:443 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "socks5h://[::1]"}}), "[::1]:1080 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "http://[::1]:8"}}), "[::1]:8 (http_proxy)");
}

TEST(EnvironmentProxy, ReplacesUnprintableCharacters) {
  EXPECT_EQ(Named({{"http_proxy", "p\r\nx:1"}}), "p??x:1 (http_proxy)");
}

TEST(EnvironmentProxy, ExcludesNamesByDomain) {
  for (const char* list :
       {"*", "s3.local", "S3.LOCAL", "local", ".local", "a, b ,local", "x,s3.local.", "x\tlocal"}) {
    EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}), "") << list;
  }
  for (const char* list :
       {"", "ocal", "3.local", "x.s3.local", "127.0.0.1", ",", ".", "s3.local:9000"}) {
    EXPECT_NE(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}), "") << list;
  }
  EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"NO_PROXY", "local"}}), "");
  EXPECT_NE(Named({{"http_proxy", "p:1"}, {"NO_PROXY", "local"}, {"no_proxy", "x"}}), "")
      << "the lower-case variable takes precedence";
}

TEST(EnvironmentProxy, ExcludesAddressesByNetwork) {
  for (const char* list : {"10.1.2.3", "10.0.0.0/8", "10.1.2.0/23", "x,10.1.2.2/31", "0.0.0.0/0"}) {
    EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}, "http", "10.1.2.3"), "") << list;
  }
  for (const char* list :
       {"10.1.2.4", "10.1.2.4/31", "10.0.0.0/33", "2.3", "::/0", "10.1.2.3.example"}) {
    EXPECT_NE(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}, "http", "10.1.2.3"), "") << list;
  }
  EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", "[::1]"}}, "http", "::1"), "");
  EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", "fd00::/8"}}, "http", "fd12::1"), "");
}

TEST(EnvironmentProxy, FindsAProxyForOneSchemeOrBoth) {
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    ASSERT_EQ(::unsetenv(name), 0);
  EXPECT_FALSE(HasProxyFor("http") || HasProxyFor("https"));
  const auto named_by = [](const char* name) {
    EXPECT_EQ(::setenv(name, "http://p:3128", 1), 0);
    const std::string schemes =
        std::string(HasProxyFor("http") ? "http " : "") + (HasProxyFor("https") ? "https" : "");
    EXPECT_EQ(::unsetenv(name), 0);
    return schemes;
  };
  EXPECT_EQ(named_by("http_proxy"), "http ");
  EXPECT_EQ(named_by("https_proxy"), "https");
  EXPECT_EQ(named_by("HTTPS_PROXY"), "https");
  EXPECT_EQ(named_by("all_proxy"), "http https");
  EXPECT_EQ(named_by("ALL_PROXY"), "http https");
}

}  // namespace
}  // namespace penstock::http
