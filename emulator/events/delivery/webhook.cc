#include "emulator/events/delivery/webhook.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/io/descriptor.h"
#include "emulator/events/delivery/connection.h"
#include "emulator/events/delivery/response_head.h"

namespace penstock::emulator::events {
namespace {

// Of the heads of a response, with interim responses.
constexpr std::size_t kMostHeadBytes = 64 << 10;

// ARNs come from notification configurations, whose XML may have line breaks.
std::string HeaderValue(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)); },
      '?');
  return text;
}

class Webhook final : public Sink {
 public:
  Webhook(const SinkAddress& address, WebhookOptions options, Descriptor cancel_event)
      : name_(address.Describe()),
        address_(address),
        options_(std::move(options)),
        cancel_event_(std::move(cancel_event)) {}

  std::size_t most() const override { return 1; }

  Result<void> Send(std::string_view name_space,
                    std::span<const store::StoredEvent> events) override {
    for (const store::StoredEvent& stored : events) {
      const Result<void> posted = Post(RequestOf(name_space, stored));
      if (posted.ok()) continue;
      connection_.reset();
      const std::string problem =
          posted.error().kind == ErrorKind::kTimeout
              ? "did not respond within " + std::to_string(options_.limit.count()) + " ms"
              : posted.error().message;
      return Error::Make(ErrorKind::kUnavailable,
                         name_ + " " + problem + "; event " + std::to_string(stored.number) +
                             " for '" + stored.event.destination + "' will be sent again");
    }
    return Ok();
  }

  void Cancel() override { ::eventfd_write(cancel_event_.get(), 1); }

 private:
  std::string RequestOf(std::string_view name_space, const store::StoredEvent& stored) const {
    std::string request = "POST " + address_.path + " HTTP/1.1";
    const auto add = [&](std::string_view name, std::string value) {
      request.append("\r\n").append(name).append(": ").append(HeaderValue(std::move(value)));
    };
    add("Host", name_.substr(name_.find("//") + 2));
    add("User-Agent", "Penstock");
    add("Content-Type", "application/json");
    add("x-penstock-destination", stored.event.destination);
    add("x-penstock-event", std::to_string(stored.number));
    add("x-penstock-namespace", std::string(name_space));
    add("Content-Length", std::to_string(stored.event.message.size()));
    return request + "\r\n\r\n" + stored.event.message;
  }

  Result<void> Post(const std::string& request) {
    const Wait wait{SystemClock().Monotonic() + options_.limit, cancel_event_.get()};
    if (connection_ == nullptr || !connection_->idle()) {
      connection_.reset();
      PENSTOCK_ASSIGN(connection_, Connection::Open(address_, options_.ca_path, wait));
    }
    PENSTOCK_TRY(connection_->Write(request, wait));
    PENSTOCK_ASSIGN(const int status, ReadResponse(wait));
    if (status / 100 == 2) return Ok();
    return Error::Make(ErrorKind::kUnavailable, "responded with status " + std::to_string(status));
  }

  // Returns the status. Closes the connection unless it can be used for a further request.
  Result<int> ReadResponse(const Wait& wait) {
    std::string text;
    std::size_t begin = 0;  // Of the head: interim responses come before.
    for (std::size_t searched = 0;;) {
      const std::size_t end = text.find("\r\n\r\n", searched);
      if (end == std::string::npos) {
        searched = std::max(begin, text.size() - std::min<std::size_t>(text.size(), 3));
        PENSTOCK_TRY(ReadHead(text, wait));
        continue;
      }
      const auto head = ParseResponseHead(text.substr(begin, end - begin));
      if (!head)
        return Error::Make(ErrorKind::kUnavailable, "sent a response that is not HTTP/1.1");
      begin = searched = end + 4;
      if (head->status / 100 == 1) continue;
      if (!head->reusable_after || !DiscardBody(*head->reusable_after, text.size() - begin, wait))
        connection_.reset();
      return head->status;
    }
  }

  Result<void> ReadHead(std::string& text, const Wait& wait) {
    if (text.size() > kMostHeadBytes)
      return Error::Make(ErrorKind::kUnavailable, "sent more than " +
                                                      std::to_string(kMostHeadBytes) +
                                                      " bytes before the end of its headers");
    std::array<char, 4096> block;
    PENSTOCK_ASSIGN(const std::size_t count, connection_->Read(block, wait));
    if (count == 0)
      return Error::Make(ErrorKind::kUnavailable, "closed the connection without a response");
    text.append(block.data(), count);
    return Ok();
  }

  // Returns false if the response does not end where it should.
  bool DiscardBody(std::size_t length, std::size_t arrived, const Wait& wait) {
    std::array<char, 4096> block;
    while (arrived < length) {
      const auto count =
          connection_->Read(std::span(block).first(std::min(block.size(), length - arrived)), wait);
      if (!count.ok() || *count == 0) return false;
      arrived += *count;
    }
    return arrived == length;
  }

  const std::string name_;
  const SinkAddress address_;
  const WebhookOptions options_;
  const Descriptor cancel_event_;
  std::unique_ptr<Connection> connection_;  // Null: not connected.
};

}  // namespace

Result<std::unique_ptr<Sink>> MakeWebhook(const SinkAddress& address, WebhookOptions options) {
  Descriptor cancel_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!cancel_event)
    return Error::Make(ErrorKind::kResourceExhausted,
                       address.Describe() +
                           ": no file descriptor is free; raise the limit of open "
                           "files (ulimit -n)");
  return std::unique_ptr<Sink>(
      std::make_unique<Webhook>(address, std::move(options), std::move(cancel_event)));
}

}  // namespace penstock::emulator::events
