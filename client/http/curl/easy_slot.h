// A reusable libcurl easy handle and the memory that a request needs while it uses the handle.
#ifndef PENSTOCK_CLIENT_HTTP_CURL_EASY_SLOT_H_
#define PENSTOCK_CLIENT_HTTP_CURL_EASY_SLOT_H_

#include <curl/curl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/http/curl/curl_options.h"
#include "client/http/curl/curl_sockets.h"
#include "client/http/curl/http_transport.h"
#include "client/http/transfer.h"

namespace penstock::http {

// Thread safety: belongs to one I/O thread.
struct EasySlot {
  CURL* handle = nullptr;
  Transfer* transfer = nullptr;  // the current transfer; null when free
  std::string ca_bundle_path;    // current setting of the handle
  std::string url;
  std::string header_text;  // lines, each terminated by NUL
  // Nodes pointing into header_text: libcurl reads the list and never frees it.
  std::vector<curl_slist> header_nodes;
  std::array<char, CURL_ERROR_SIZE> error_text{};
  bool sent_before = false;  // at least part of the request was sent, without a response
  bool took_all = false;     // libcurl took the whole body, so it may have sent the whole request
  bool ended_early = false;  // EndEarly returned true

  CurlSockets* sockets = nullptr;
  std::unique_ptr<ResolveList> resolve;  // must outlive the handle

  EasySlot() = default;
  EasySlot(const EasySlot&) = delete;
  EasySlot& operator=(const EasySlot&) = delete;
  ~EasySlot();

  // Returns null if libcurl cannot create a handle. `share` and `sockets` may be null and must
  // outlive the slot.
  static std::unique_ptr<EasySlot> Create(const HttpTransportOptions& options, CURLSH* share,
                                          CurlSockets* sockets = nullptr);

  // Configures the handle for `next`. Returns kInvalidArgument if the request cannot be sent; see
  // CheckRequest.
  Result<void> Load(Transfer& next, const HttpTransportOptions& options, CURLSH* share);

  // Returns whether libcurl, which is about to send, may do so. libcurl repeats a request by itself
  // if a kept connection accepted it and died without a response. If such a request changes state
  // and may have arrived, this returns false and sets the transfer's error, so that the retry
  // policy decides.
  bool MaySend();

  // Call after each received piece. A final response before the end of the request body closes the
  // connection after this request. True: the response is 2xx and whole, so the callback must abort
  // the transfer, which then succeeds. The upload continues under a 2xx response without
  // Content-Length, because only libcurl sees its end.
  bool EndEarly();

  // Returns the socket of the current request. Nullopt if it has no connection yet.
  std::optional<int> Socket() const {
    return sockets == nullptr ? std::nullopt : sockets->Of(handle);
  }

  // Returns the result of the current transfer after libcurl ended it with `code`.
  Result<Outcome> Conclude(CURLcode code) const;
  // Returns whether bytes follow the response, for TLS: libcurl would take them for the next
  // response. CurlSockets::HaveInput does the same for plain sockets.
  bool FollowedByBytes() const;
  // Reports the connection of the request, if any, to the transfer's response body. Called once, at
  // the end.
  void RecordConnection() const;

 private:
  void SetConstants(const HttpTransportOptions& options, CURLSH* share);
  void SetHeaders(const Transfer& next, const HttpTransportOptions& options);
  void SetMethod(const Transfer& next);
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_EASY_SLOT_H_
