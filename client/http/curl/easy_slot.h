// A libcurl easy handle, configured once and reused, with the memory a request lends to it.
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
  Transfer* transfer = nullptr;  // the one it carries; null when free
  std::string ca_bundle_path;    // what the handle is set to
  std::string url;
  std::string header_text;  // lines, each ended by NUL
  // pointing into header_text: libcurl reads the list, it never frees it
  std::vector<curl_slist> header_nodes;
  std::array<char, CURL_ERROR_SIZE> error_text{};
  bool sent_before = false;  // the request, or some of it, and no answer came
  bool took_all = false;     // of the body; libcurl may have sent the whole request
  bool ended_early = false;  // EndEarly returned true

  CurlSockets* sockets = nullptr;
  std::unique_ptr<ResolveList> resolve;  // outlives the handle

  EasySlot() = default;
  EasySlot(const EasySlot&) = delete;
  EasySlot& operator=(const EasySlot&) = delete;
  ~EasySlot();

  // Null when libcurl gives no handle. `share` and `sockets` may be null and outlive the slot.
  static std::unique_ptr<EasySlot> Create(const HttpTransportOptions& options, CURLSH* share,
                                          CurlSockets* sockets = nullptr);

  // Sets the handle up for `next`. kInvalidArgument naming what cannot be sent: a target that does
  // not start with '/' or holds a blank, control or non-ASCII byte or '#'; a header with a line
  // break; no Host; an own Content-Length.
  Result<void> Load(Transfer& next, const HttpTransportOptions& options, CURLSH* share);

  // Whether libcurl, which is about to send, may: it repeats by itself what a kept connection took
  // and did not answer. What changes something and may have arrived is for whoever retries to
  // judge; false, with the transfer's error set.
  bool MaySend();

  // Call after each received piece. A final response before the end of the request body closes the
  // connection after this request. True: the response is 2xx and whole, so the callback must abort
  // the transfer, which then succeeds. The upload continues under a 2xx response without
  // Content-Length, because only libcurl sees its end.
  bool EndEarly();

  // What its transfer's request goes out on; nullopt where that has no connection yet.
  std::optional<int> Socket() const {
    return sockets == nullptr ? std::nullopt : sockets->Of(handle);
  }

  // Of the transfer it carries: how it ended, when libcurl ended it with `code`.
  Result<Outcome> Conclude(CURLcode code) const;
  // Whether bytes wait behind the response, over TLS: libcurl would take them for the next one.
  // CurlSockets::HaveInput is for plain sockets.
  bool FollowedByBytes() const;
  // Tells the transfer's response body which connection it went out on, if it got one. Once, at the
  // end.
  void RecordConnection() const;

 private:
  void SetConstants(const HttpTransportOptions& options, CURLSH* share);
  void SetHeaders(const Transfer& next, const HttpTransportOptions& options);
  void SetMethod(const Transfer& next);
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CURL_EASY_SLOT_H_
