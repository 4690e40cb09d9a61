// Sends one small request and reads the whole response into memory, for services that return
// credentials.
//
// Retries temporary failures (no response, 5xx). Independent of the service.
#ifndef PENSTOCK_CLIENT_AUTH_SMALL_REQUEST_H_
#define PENSTOCK_CLIENT_AUTH_SMALL_REQUEST_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "client/http/transport.h"
#include "penstock/base/result.h"

namespace penstock::auth {

using TransportPtr =
    std::shared_ptr<http::Transport>;  // Shared: kept alive by requests in progress.

struct SmallResponse {
  int status = 0;
  std::string body;
};

struct SmallRequest {
  http::Request request;  // With its Host header.
  std::string body;       // Sent unless empty.
  std::chrono::milliseconds attempt_timeout{5'000};
  int attempts = 3;
  std::chrono::milliseconds pause{1'000};  // Between attempts.
  // Returns whether a response below 500 is retried. Unset: none is.
  std::function<bool(const SmallResponse&)> transient;
  // Called before every attempt, to sign it. Unset: no action.
  std::function<Result<void>(http::Request&)> prepare;
};

// Converts a URL to a request with the given method. Returns kInvalidArgument for an invalid URL.
Result<http::Request> RequestTo(std::string method, const std::string& url,
                                const std::string& ca_bundle_path);

// `done` runs once, with the last response of any status, or with the transport's error if the last
// attempt had no response. A response above 64 KiB is kDataLoss. Never blocks. `clock` lives
// forever.
void FetchSmall(TransportPtr transport, const Clock& clock, SmallRequest request,
                std::function<void(Result<SmallResponse>)> done);

}  // namespace penstock::auth

#endif  // PENSTOCK_CLIENT_AUTH_SMALL_REQUEST_H_
