// Shared by auth's tests: a request as values, a body from memory, one user, a recording router.
//
// Test support only; not part of the library.
#ifndef PENSTOCK_EMULATOR_AUTH_AUTH_FIXTURE_H_
#define PENSTOCK_EMULATOR_AUTH_AUTH_FIXTURE_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dates.h"
#include "base/fake_clock.h"
#include "emulator/auth/auth.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/dispatch/operations.h"

namespace penstock::emulator::auth {

// Credentials and date of the examples in AWS's documentation.
inline constexpr std::string_view kExampleKey = "AKIAIOSFODNN7EXAMPLE";
inline constexpr std::string_view kExampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
inline constexpr std::string_view kExampleDate = "20130524T000000Z";
inline constexpr std::string_view kExampleScope = "20130524/us-east-1/s3/aws4_request";
inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// A body from memory that returns at most `step` bytes per read.
class TextBody final : public s3::BodyReader {
 public:
  explicit TextBody(std::string text, std::size_t step = 1000)
      : text_(std::move(text)), step_(step) {}
  Result<std::size_t> Read(MutableByteView buffer) override {
    const std::size_t count = std::min({buffer.size(), step_, text_.size() - offset_});
    std::memcpy(buffer.data(), text_.data() + offset_, count);
    offset_ += count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return text_.size(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t offset_ = 0;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

// Returns everything that `body` delivers, read `step` bytes at a time.
inline Result<std::string> ReadAll(s3::BodyReader& body, std::size_t step = 700) {
  std::string out;
  std::vector<std::byte> buffer(step);
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, body.Read(buffer));
    if (count == 0) return out;
    out += AsText(ByteView(buffer).first(count));
  }
}

// One user in one namespace whose clock is set to the date of the examples.
class OneUser final : public Directory {
 public:
  OneUser() : clock(*ParseAmzDate(kExampleDate)) {
    user.access_key_id = kExampleKey;
    user.secret_access_key = kExampleSecret;
    user.identity.access_key_id = kExampleKey;
    user.identity.owner_id = std::string(64, 'a');
    space->clock = &clock;
  }
  std::shared_ptr<const User> FindUser(std::string_view access_key_id) const override {
    ++lookups;
    if (access_key_id != user.access_key_id) return nullptr;
    return std::make_shared<User>(user);
  }
  std::shared_ptr<s3::Namespace> NamespaceOf(const User*) const override { return space; }
  s3::Identity IdentityOf(std::string_view access_key_id) const override {
    s3::Identity identity;
    identity.access_key_id = access_key_id;
    return identity;
  }
  const s3::Identity& DefaultIdentity() const override { return user.identity; }

  User user;
  mutable int lookups = 0;  // calls of FindUser
  FakeClock clock;
  std::shared_ptr<s3::Namespace> space = std::make_shared<s3::Namespace>();
};

struct TestRequest {
  std::string method = "GET";
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::string* Header(std::string_view name) {
    for (auto& [header, value] : headers) {
      if (header == name) return &value;
    }
    return nullptr;
  }
};

// Makes an Exchange from a request. Views stay valid while this object lives.
class TestExchange {
 public:
  explicit TestExchange(TestRequest request) : request_(std::move(request)), body_(request_.body) {
    head_.method = request_.method;
    head_.target = request_.target;
    for (const auto& [name, value] : request_.headers) head_.headers.push_back({name, value});
    exchange.body = &body_;
    exchange.request_id = "0123456789ABCDEF";
  }
  TestExchange(const TestExchange&) = delete;
  TestExchange& operator=(const TestExchange&) = delete;

 private:
  TestRequest request_;
  TextBody body_;
  s3::RequestHead head_;
  s3::Connection connection_;

 public:
  s3::Exchange exchange{head_, connection_};
};

// The handler of the operations. Records what it receives.
class RecordingRouter final : public s3::Handler {
 public:
  void Handle(s3::Exchange& exchange) override {
    ++calls;
    identity = exchange.identity;
    operation = exchange.operation;
    space = exchange.space;
    headers.clear();
    for (const s3::HeaderView& header : exchange.request.headers)
      headers.emplace_back(header.name, header.value);
    length = exchange.body->Length();
    body = ReadAll(*exchange.body);
    trailers = exchange.body->Trailers();
  }

  int calls = 0;
  s3::Identity identity;
  std::string operation;
  std::shared_ptr<s3::Namespace> space;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::uint64_t> length;
  Result<std::string> body = std::string();
  std::vector<std::pair<std::string, std::string>> trailers;
};

inline AuthOptions ExampleOptions() { return {}; }
inline s3::HostRules ExampleHosts() {
  s3::HostRules hosts = s3::HostRules::Default("us-east-1");
  hosts.suffixes.push_back("s3express-use1-az4.us-east-1.amazonaws.com");
  return hosts;
}

// Finds the target and the operation, like the front of the server.
class TestFront final : public s3::Filter {
 public:
  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
    auto target = s3::ParseTarget(exchange.request.target, host, ExampleHosts());
    if (!target.ok()) {
      s3::RespondWithError(exchange, target.error());
      return s3::FilterStatus::kResponded;
    }
    exchange.target = std::move(target).value();
    s3::SetOperation(exchange);
    return s3::FilterStatus::kContinue;
  }
};

// Authentication before `router`. All arguments must outlive the chain.
inline std::unique_ptr<s3::FilterChain> AuthChain(AuthOptions options, const Directory& directory,
                                                  s3::Handler& router) {
  return std::make_unique<s3::FilterChain>(router, std::make_unique<TestFront>(),
                                           MakeAuth(std::move(options), directory));
}

inline std::string AuthorizationHeader(std::string_view scope, std::string_view signed_headers,
                                       std::string_view signature) {
  return "AWS4-HMAC-SHA256 Credential=" + std::string(kExampleKey) + "/" + std::string(scope) +
         ", SignedHeaders=" + std::string(signed_headers) + ", Signature=" + std::string(signature);
}

// The "GET range" example of AWS's documentation.
inline TestRequest ExampleGet() {
  return {.method = "GET",
          .target = "/test.txt",
          .headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                      {"Range", "bytes=0-9"},
                      {"x-amz-content-sha256", std::string(kEmptySha256)},
                      {"x-amz-date", std::string(kExampleDate)},
                      {"Authorization",
                       AuthorizationHeader(
                           kExampleScope, "host;range;x-amz-content-sha256;x-amz-date",
                           "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")}},
          .body = {}};
}

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_AUTH_FIXTURE_H_
