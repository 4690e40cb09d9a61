// A Client on a scripted transport, with fixed credentials, a fake clock, an empty environment and
// fixed jitter.
#ifndef PENSTOCK_CLIENT_S3_CLIENT_FOR_TEST_H_
#define PENSTOCK_CLIENT_S3_CLIENT_FOR_TEST_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/auth/providers/credentials.h"
#include "client/http/fake_transport.h"
#include "client/s3/client_impl.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {

using http::FakeReply;

inline auth::Environment EmptyEnvironment() {
  return {[](const std::string&) { return std::optional<std::string>(); },
          [](const std::string& path) -> Result<std::string> {
            return Error::Make(ErrorKind::kNotFound, path);
          }};
}

inline std::string ErrorXml(const std::string& code, const std::string& extra = "") {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code +
         "</Code><Message>m</Message>" + extra + "<RequestId>R</RequestId></Error>";
}

inline FakeReply Refuse(int status, const std::string& code,
                        std::vector<http::Header> headers = {}) {
  return FakeReply::Respond(status, std::move(headers), ErrorXml(code));
}

inline FakeReply Object(std::string text, std::vector<http::Header> headers = {}) {
  headers.push_back({"Content-Length", std::to_string(text.size())});
  headers.push_back({"ETag", "\"e\""});
  return FakeReply::Respond(200, std::move(headers), std::move(text));
}

// The parts of one test. `transport` outlives the client.
struct ClientUnderTest {
  explicit ClientUnderTest(ClientConfig config = {}) {
    if (config.endpoint_url.empty() && config.region.empty())
      config.endpoint_url = "http://127.0.0.1:9000";
    if (config.credentials == nullptr)
      config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
    // Not owned: the transport belongs to the test.
    auto shared = std::shared_ptr<http::Transport>(&transport, [](http::Transport*) {});
    ClientDependencies dependencies{[shared] { return shared; }, &transport.clock(),
                                    [] { return std::uint64_t{1} << 63; }, EmptyEnvironment(),
                                    [this]() -> RateControl& { return rates; }};
    client = Client::Impl::Make(std::move(config), std::move(dependencies)).value();
  }

  Result<ObjectMetadata> Get(CallOptions options = {}) {
    return Run(GetObjectRequest{.bucket = BucketName("bucket"),
                                .key = ObjectKey("key"),
                                .sink = &sink,
                                .options = std::move(options)});
  }

  // Returns the result if it arrived before Start returned.
  template <class Request>
  Result<typename Request::Response> Run(Request request) {
    std::optional<Result<typename Request::Response>> result;
    client->Start(std::move(request), [&result](auto r) { result.emplace(std::move(r)); });
    if (!result) return Error::Make(ErrorKind::kInternal, "the call did not complete");
    return *std::move(result);
  }

  std::size_t sent() const { return transport.requests().size(); }
  std::string Header(std::size_t index, std::string_view name) const {
    return transport.requests().at(index).Header(name).value_or("(none)");
  }

  StringSink sink;
  http::FakeTransport transport;
  RateControl rates;
  std::unique_ptr<Client> client;
};

// A client that has recorded first bytes after 20 ms and enough reads for two hedges. Its transport
// is on hold.
struct HedgingClient : ClientUnderTest {
  explicit HedgingClient(ClientConfig config = {}) : ClientUnderTest(std::move(config)) {
    HedgePolicy& policy = Client::Impl::StateOf(*client).hedging;
    for (int i = 0; i < 128; ++i) policy.OnFirstByte(std::chrono::milliseconds(20));
    for (int i = 0; i < 100; ++i) policy.OnRead(transport.clock().Monotonic());
    transport.Hold();
  }
  // The result of the read in progress, once it exists, and the number of completions.
  std::optional<Result<ObjectMetadata>> result;
  int completions = 0;
  void Begin(CallOptions options = {}) {
    client->Start(GetObjectRequest{.bucket = BucketName("bucket"),
                                   .key = ObjectKey("key"),
                                   .sink = &sink,
                                   .options = std::move(options)},
                  [this](Result<ObjectMetadata> r) {
                    ++completions;
                    result.emplace(std::move(r));
                  });
  }
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_CLIENT_FOR_TEST_H_
