// The two request ids of every S3 response (x-amz-request-id and x-amz-id-2).
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_REQUEST_IDS_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_REQUEST_IDS_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace penstock::emulator::http {

struct RequestIds {
  std::string request_id;  // 16 characters of [0-9A-Z]
  std::string host_id;     // 76 characters, base64 alphabet with one '=' at the end
};

// Ids of one source do not repeat in practice (a mixed 64-bit counter). They are not secret and
// must not be used for security. Thread safety: Next may be called from any thread.
class RequestIdSource {
 public:
  explicit RequestIdSource(std::uint64_t seed) : seed_(seed) {}
  RequestIds Next();

 private:
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_REQUEST_IDS_H_
