// One small request and its whole answer in memory: how services that hand out credentials are
// asked.
//
// Tries again after what may pass (no answer, 5xx). Knows no service.
#ifndef PENSTOCK_CLIENT_AUTH_SMALL_REQUEST_H_
#define PENSTOCK_CLIENT_AUTH_SMALL_REQUEST_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/http/transport.h"
#include "penstock/base/result.h"

namespace penstock::auth {

using TransportPtr = std::shared_ptr<http::Transport>;  // shared: a request in progress keeps it

struct SmallAnswer {
  int status = 0;
  std::string body;
};

struct SmallRequest {
  http::Request request;  // with its Host header
  std::string body;       // sent unless empty
  std::chrono::milliseconds attempt_timeout{5'000};
  int attempts = 3;
  std::chrono::milliseconds pause{1'000};  // between attempts
  // Whether an answer below 500 is worth another attempt. Unset: none is.
  std::function<bool(const SmallAnswer&)> transient;
  // Called before every attempt, to sign it. Unset: nothing.
  std::function<Result<void>(http::Request&)> prepare;
};

// "GET" or another method of a URL, as `request` wants it. kInvalidArgument when the URL cannot be
// one.
Result<http::Request> RequestTo(std::string method, const std::string& url,
                                const std::string& ca_bundle_path);

// `done` runs once: with the last answer of whatever status, or with the transport's error when the
// last attempt had none. An answer longer than 64 KiB is kDataLoss. Never blocks. `clock` lives
// forever.
void FetchSmall(TransportPtr transport, const Clock& clock, SmallRequest request,
                std::function<void(Result<SmallAnswer>)> done);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_SMALL_REQUEST_H_
