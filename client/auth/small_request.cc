#include "client/auth/small_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/http/text_source.h"
#include "client/http/uri.h"

namespace penstock::auth {
namespace {

constexpr std::size_t kMaxResponseBytes = std::size_t{64} << 10;

// The state of one call, shared with the transport's callbacks. Its attempts run one after the
// other.
class SmallCall final : public http::ResponseBody, public std::enable_shared_from_this<SmallCall> {
 public:
  SmallCall(TransportPtr transport, const Clock& clock, SmallRequest request,
            std::function<void(Result<SmallResponse>)> done)
      : transport_(std::move(transport)),
        clock_(clock),
        request_(std::move(request)),
        done_(std::move(done)),
        body_(request_.body) {}

  void Attempt() {
    ++attempts_;
    http::Request attempt = request_.request;
    if (request_.prepare) {
      if (Result<void> prepared = request_.prepare(attempt); !prepared.ok())
        return End(std::move(prepared).error());
    }
    http::CallContext context;
    context.deadline = Deadline::After(clock_, request_.attempt_timeout);
    transport_->Start(std::move(attempt), request_.body.empty() ? nullptr : &body_, this,
                      std::move(context),
                      [self = shared_from_this()](Result<http::Outcome> outcome) {
                        self->Ended(std::move(outcome));
                      });
  }

 private:
  Result<void> Begin(const http::ResponseHead& head) override {
    response_ = {head.status, {}};
    return Ok();
  }
  MutableByteView Window() override {
    return MutableByteView(window_).first(
        std::min(window_.size(), kMaxResponseBytes - response_.body.size()));
  }
  Result<void> Commit(std::size_t count) override {
    response_.body.append(reinterpret_cast<const char*>(window_.data()), count);
    return Ok();
  }

  void Ended(Result<http::Outcome> outcome) {
    const bool passing = outcome.ok() ? response_.status >= 500 ||
                                            (request_.transient && request_.transient(response_))
                                      : outcome.error().kind == ErrorKind::kUnavailable ||
                                            outcome.error().kind == ErrorKind::kTimeout;
    if (passing && attempts_ < request_.attempts) {
      Result<void> waits = transport_->RunAt(clock_.Monotonic() + request_.pause,
                                             [self = shared_from_this()] { self->Attempt(); });
      if (!waits.ok()) End(std::move(waits).error());
      return;
    }
    if (!outcome.ok()) return End(std::move(outcome).error());
    End(std::move(response_));
  }

  void End(Result<SmallResponse> result) { std::exchange(done_, nullptr)(std::move(result)); }

  const TransportPtr transport_;
  const Clock& clock_;
  const SmallRequest request_;
  std::function<void(Result<SmallResponse>)> done_;
  int attempts_ = 0;
  http::TextSource body_;
  SmallResponse response_;
  std::array<std::byte, 4096> window_;
};

}  // namespace

Result<http::Request> RequestTo(std::string method, const std::string& url,
                                const std::string& ca_bundle_path) {
  PENSTOCK_ASSIGN(http::Url parsed, http::ParseUrl(url));
  http::Request request;
  request.method = std::move(method);
  request.target = parsed.path.empty() ? "/" : parsed.path;
  if (!parsed.query.empty()) request.target += "?" + parsed.query;
  request.headers.push_back({"Host", http::HostHeader(parsed.endpoint)});
  request.endpoint = std::move(parsed.endpoint);
  request.ca_bundle_path = ca_bundle_path;
  return request;
}

void FetchSmall(TransportPtr transport, const Clock& clock, SmallRequest request,
                std::function<void(Result<SmallResponse>)> done) {
  std::make_shared<SmallCall>(std::move(transport), clock, std::move(request), std::move(done))
      ->Attempt();
}

}  // namespace penstock::auth
