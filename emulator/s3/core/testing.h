// Test only: drives the router without a socket. A request is a few lines of text, the response a
// plain struct.
#ifndef PENSTOCK_EMULATOR_S3_CORE_TESTING_H_
#define PENSTOCK_EMULATOR_S3_CORE_TESTING_H_

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/fake_clock.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/dispatch/router.h"
#include "emulator/s3/post/form.h"
#include "penstock/base/check.h"

namespace penstock::emulator::s3::testing {

// A body that is in memory. `length`: the length that the request declares, if any.
class TextBody final : public BodyReader {
 public:
  using Trailer = std::pair<std::string, std::string>;
  TextBody(std::string text, std::optional<std::uint64_t> length, std::vector<Trailer> trailers)
      : text_(std::move(text)), length_(length), trailers_(std::move(trailers)) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    if (at_first_read) std::exchange(at_first_read, nullptr)();
    if (failure && at_ >= fail_at) return *failure;
    std::size_t count = std::min(buffer.size(), text_.size() - at_);
    if (failure) count = std::min(count, fail_at - at_);
    std::memcpy(buffer.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return length_; }
  const std::vector<Trailer>& Trailers() const override { return trailers_; }
  std::size_t bytes_read() const { return at_; }

  std::optional<Error> failure;  // Returned once `fail_at` bytes have been read.
  std::size_t fail_at = 0;
  std::function<void()> at_first_read;  // Called before the first bytes are returned.

 private:
  std::string text_;
  std::optional<std::uint64_t> length_;
  std::vector<Trailer> trailers_;
  std::size_t at_ = 0;
};

struct Reply {
  int status = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool close = false;
  std::string operation;
  std::size_t body_bytes_read = 0;

  // Returns the first header of that exact name, or "<absent>".
  std::string Header(std::string_view name) const {
    for (const auto& [header, value] : headers) {
      if (header == name) return value;
    }
    return "<absent>";
  }
  // Returns the text of the first element of that name, with entities as sent: "" if it is empty,
  // "<absent>" if there is none.
  std::string Element(std::string_view name) const { return ElementIn(body, name); }
  // Returns the text of every element of that name, in order.
  std::vector<std::string> Elements(std::string_view name) const {
    std::vector<std::string> all;
    const std::string open = "<" + std::string(name) + ">";
    for (auto at = body.find(open); at != std::string::npos; at = body.find(open, at + 1)) {
      const auto from = at + open.size();
      all.push_back(body.substr(from, body.find("</" + std::string(name) + ">", from) - from));
    }
    return all;
  }
  // "404 NoSuchKey" or "200".
  std::string Outcome() const {
    const std::string code =
        body.find("<Error>") == std::string::npos ? "<absent>" : Element("Code");
    return std::to_string(status) + (code == "<absent>" ? "" : " " + code);
  }

 private:
  static std::string ElementIn(const std::string& text, std::string_view name) {
    const auto open = text.find("<" + std::string(name) + ">");
    if (open == std::string::npos) {
      return text.find("<" + std::string(name) + "/>") == std::string::npos ? "<absent>" : "";
    }
    const auto from = open + name.size() + 2;
    return text.substr(from, text.find("</" + std::string(name) + ">", from) - from);
  }
};

struct Body {
  std::string text;
  bool declare_length = true;
  std::vector<TextBody::Trailer> trailers = {};
  std::optional<std::uint64_t> length = std::nullopt;  // Declared instead of the true length.
  std::optional<Error> failure = std::nullopt;
  std::size_t fail_at = 0;
  std::function<void()> at_first_read = nullptr;
};

// An AsyncResponse that queues the deferred tasks until the test runs them.
class QueuedResponse final : public AsyncResponse, public store::Executor {
 public:
  store::Executor& executor() override { return *this; }
  void Complete() noexcept override { ++completions; }
  void Execute(store::Task& task, Caller) noexcept override { tasks.Push(task); }

  store::TaskList tasks;
  int completions = 0;
};

// A namespace in memory with a fake clock and a router.
class Harness {
 public:
  explicit Harness(RouterOptions options = {})
      : router_(MakeRouter(options)), rules_(HostRules::Default(options.region)) {
    // 2026-01-02T03:04:05Z
    clock_.SetNow(WallTime(std::chrono::seconds(1767323045)));
    store::StoreOptions store_options;
    store_options.clock = &clock_;
    auto store = store::Store::Open(store_options);
    PENSTOCK_CHECK(store.ok());
    space_ = std::make_shared<Namespace>();
    space_->name = "test";
    space_->store = std::move(store).value();
    space_->clock = &clock_;
    identity_ = {"AKIDEXAMPLE", std::string(64, 'a'), "tester", "123456789012"};
  }

  // `request`: "PUT /bucket/key", then one "Name: value" per line.
  Reply Send(std::string_view request, Body body = {}) {
    RequestHead head;
    const std::string text(request);
    std::string_view rest = text;
    const std::string_view first = NextLine(rest);
    const auto space = first.find(' ');
    head.method = first.substr(0, space);
    head.target = first.substr(space + 1);
    while (!rest.empty()) {
      const std::string_view line = NextLine(rest);
      const auto colon = line.find(": ");
      PENSTOCK_CHECK(colon != std::string_view::npos);
      head.headers.push_back({line.substr(0, colon), line.substr(colon + 2)});
    }
    const std::string length = std::to_string(body.text.size());
    if (!body.text.empty()) head.headers.push_back({"Content-Length", length});
    std::optional<std::uint64_t> declared;
    if (body.declare_length) declared = body.length.value_or(body.text.size());
    TextBody reader(std::move(body.text), declared, std::move(body.trailers));
    reader.failure = std::move(body.failure);
    reader.fail_at = body.fail_at;
    reader.at_first_read = std::move(body.at_first_read);
    return Run(head, reader);
  }
  Reply Send(std::string_view request, std::string_view body) {
    return Send(request, Body{std::string(body)});
  }
  Reply Send(std::string_view request, const char* body) { return Send(request, Body{body}); }

  // Sends the document with a Content-MD5, which S3 requires for these operations.
  Reply SendDocument(std::string_view request, std::string_view document) {
    const Md5Digest md5 = Md5(AsBytes(document));
    return Send(std::string(request) + "\nContent-MD5: " + Base64Encode(md5),
                Body{std::string(document)});
  }
  // Creates a directory bucket in the availability zone that its name contains.
  Reply MakeDirectoryBucket(std::string_view bucket) {
    const std::string_view zone = bucket.substr(bucket.size() - 14, 8);
    return Send("PUT /" + std::string(bucket),
                "<CreateBucketConfiguration><Location><Type>AvailabilityZone</Type><Name>" +
                    std::string(zone) +
                    "</Name></Location><Bucket><Type>Directory</"
                    "Type><DataRedundancy>SingleAvailabilityZone</DataRedundancy></Bucket>"
                    "</CreateBucketConfiguration>");
  }
  Reply SetVersioning(std::string_view bucket, std::string_view status) {
    return SendDocument("PUT /" + std::string(bucket) + "?versioning",
                        "<VersioningConfiguration><Status>" + std::string(status) +
                            "</Status></VersioningConfiguration>");
  }

  FakeClock& clock() { return clock_; }
  store::Store& store() { return *space_->store; }
  Identity& identity() { return identity_; }
  Namespace& space() { return *space_; }
  std::string& signing_region() { return signing_region_; }

  bool responds_asynchronously = false;  // The harness passes an AsyncResponse.
  int async_responses = 0;               // How many operations used it.

 private:
  static std::string_view NextLine(std::string_view& rest) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return line;
  }

  Reply Run(RequestHead& head, TextBody& reader) {
    Connection connection;
    auto target = ParseTarget(head.target, head.Find("host").value_or("127.0.0.1:9000"), rules_);
    Exchange exchange{head, connection, &reader};
    exchange.space = space_;
    exchange.identity = identity_;
    exchange.signing_region = signing_region_;
    exchange.request_id = "0123456789ABCDEF";
    exchange.host_id = "aG9zdA==";
    if (!target.ok()) {
      RespondWithError(exchange, target.error());
    } else {
      exchange.target = std::move(target).value();
      Handle(exchange);
    }
    return MakeReply(exchange, reader);
  }

  void Route(Exchange& exchange) {
    if (!responds_asynchronously) return router_->Handle(exchange);
    QueuedResponse async;
    exchange.async = &async;
    router_->Handle(exchange);
    if (!exchange.pending) return;
    ++async_responses;
    while (store::Task* task = async.tasks.Pop()) task->Run();
    PENSTOCK_CHECK(async.completions == 1);
    exchange.pending = false;
    router_->Finish(exchange);
  }

  // Like authentication: opens a form before the router sees the request.
  void Handle(Exchange& exchange) {
    if (OperationName(exchange.request, exchange.target) == "PostObject") {
      auto form = FormReader::Open(exchange.request, *exchange.body);
      if (!form.ok()) return RespondWithError(exchange, form.error());
      exchange.form = &(*form)->form();
      exchange.Wrap(std::move(form).value());
    }
    Route(exchange);
  }

  static Reply MakeReply(Exchange& exchange, const TextBody& reader) {
    Response& response = exchange.response;
    Reply reply;
    reply.status = response.status;
    reply.reason = response.reason;
    reply.headers = std::move(response.headers);
    reply.content_length = response.content_length;
    reply.chunked = response.chunked;
    reply.close = response.close;
    reply.operation = exchange.operation;
    reply.body_bytes_read = reader.bytes_read();
    if (auto* text = std::get_if<std::string>(&response.body)) reply.body = std::move(*text);
    if (auto* content = std::get_if<store::Content>(&response.body)) {
      reply.body.resize(content->size());
      const auto read = store::ReadContent(
          *content, 0, {reinterpret_cast<std::byte*>(reply.body.data()), reply.body.size()});
      PENSTOCK_CHECK(read.ok());
    }
    return reply;
  }

  FakeClock clock_;
  std::unique_ptr<Handler> router_;
  HostRules rules_;
  std::shared_ptr<Namespace> space_;
  Identity identity_;
  std::string signing_region_;
};

}  // namespace penstock::emulator::s3::testing

#endif  // PENSTOCK_EMULATOR_S3_CORE_TESTING_H_
