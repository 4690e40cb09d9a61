#include "client/http/curl/easy_slot.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "client/http/curl/curl_error.h"
#include "client/http/request_rules.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

Transfer& TransferOf(void* slot) { return *static_cast<EasySlot*>(slot)->transfer; }

// The transfer whose received bytes libcurl delivers.
Transfer& Receiving(void* slot) {
  TransferOf(slot).OnArrival();
  return TransferOf(slot);
}

std::size_t HeaderCallback(char* data, std::size_t size, std::size_t count, void* slot) {
  const std::size_t bytes = size * count;
  if (!Receiving(slot).OnHeadLine({data, bytes})) return CURL_WRITEFUNC_ERROR;
  return static_cast<EasySlot*>(slot)->EndEarly() ? CURL_WRITEFUNC_ERROR : bytes;
}

std::size_t WriteCallback(char* data, std::size_t size, std::size_t count, void* slot) {
  const std::size_t bytes = size * count;
  if (!Receiving(slot).OnBody(AsBytes({data, bytes}))) return CURL_WRITEFUNC_ERROR;
  return static_cast<EasySlot*>(slot)->EndEarly() ? CURL_WRITEFUNC_ERROR : bytes;
}

std::size_t ReadCallback(char* data, std::size_t size, std::size_t count, void* slot) {
  Transfer& transfer = TransferOf(slot);
  transfer.Touch();
  const auto sent = transfer.OnSend({reinterpret_cast<std::byte*>(data), size * count});
  if (sent && transfer.sent == UploadSize(transfer.request_body))
    static_cast<EasySlot*>(slot)->took_all = true;
  return sent.value_or(CURL_READFUNC_ABORT);
}

// Runs before the request is sent, each time including the first.
int PrereqCallback(void* slot, char*, char*, int, int) {
  return static_cast<EasySlot*>(slot)->MaySend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

int SeekCallback(void* slot, curl_off_t offset, int origin) {
  // libcurl only rewinds to the start.
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
  return static_cast<EasySlot*>(slot)->transfer->OnRewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

}  // namespace

EasySlot::~EasySlot() { curl_easy_cleanup(handle); }

std::unique_ptr<EasySlot> EasySlot::Create(const HttpTransportOptions& options, CURLSH* share,
                                           CurlSockets* sockets) {
  auto slot = std::make_unique<EasySlot>();
  slot->sockets = sockets;
  slot->handle = curl_easy_init();
  if (slot->handle == nullptr) return nullptr;
  slot->resolve = std::make_unique<ResolveList>(options.resolve);
  slot->SetConstants(options, share);
  return slot;
}

void EasySlot::SetConstants(const HttpTransportOptions& options, CURLSH* share) {
  curl_easy_reset(handle);  // keeps connections and TLS sessions
  SetConnectionOptions(handle, share, ca_bundle_path);
  resolve->Apply(handle);
  if (sockets != nullptr) sockets->Install(handle);
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS,
                   1L);  // a key may contain "..": libcurl must not normalize it
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, static_cast<long>(options.receive_buffer_bytes));
  curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, static_cast<long>(options.send_buffer_bytes));
  curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, static_cast<long>(options.max_idle_age.count()));
  curl_easy_setopt(handle, CURLOPT_MAXLIFETIME_CONN,
                   static_cast<long>(options.max_lifetime.count()));
  curl_easy_setopt(handle, CURLOPT_EXPECT_100_TIMEOUT_MS,
                   static_cast<long>(options.expect_continue_timeout.count()));
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_text.data());
  curl_easy_setopt(handle, CURLOPT_PRIVATE, this);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, HeaderCallback);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, WriteCallback);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, ReadCallback);
  curl_easy_setopt(handle, CURLOPT_READDATA, this);
  curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, SeekCallback);
  curl_easy_setopt(handle, CURLOPT_SEEKDATA, this);
  curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, PrereqCallback);
  curl_easy_setopt(handle, CURLOPT_PREREQDATA, this);
}

void EasySlot::SetHeaders(const Transfer& next, const HttpTransportOptions& options) {
  header_text.clear();
  std::vector<std::size_t> starts;
  const auto add = [&](std::string_view name, std::string_view separator, std::string_view value) {
    starts.push_back(header_text.size());
    header_text.append(name).append(separator).append(value).push_back('\0');
  };
  for (const Header& header : next.request.headers) {
    // libcurl writes a header with an empty value for "Name;". "Name:" would remove the header.
    header.value.empty() ? add(header.name, ";", "") : add(header.name, ": ", header.value);
  }
  // Suppresses headers that libcurl would add by itself.
  if (!FindHeader(next.request.headers, "Accept")) add("Accept", ":", "");
  if (!FindHeader(next.request.headers, "Expect") &&
      UploadSize(next.request_body) < options.expect_continue_from_bytes) {
    add("Expect", ":", "");
  }
  header_nodes.resize(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    header_nodes[i].data = header_text.data() + starts[i];
    header_nodes[i].next = i + 1 < starts.size() ? &header_nodes[i + 1] : nullptr;
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, header_nodes.data());
}

void EasySlot::SetMethod(const Transfer& next) {
  const std::string& method = next.request.method;
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, nullptr);
  curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);  // undoes UPLOAD or NOBODY of the previous request
  if (method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (Uploads(next.request, next.request_body)) {
    // UPLOAD for POST too, because libcurl's own POST adds a Content-Type.
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE,
                     static_cast<curl_off_t>(UploadSize(next.request_body)));
    if (method != "PUT") curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
  } else if (method != "GET") {
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
  }
}

Result<void> EasySlot::Load(Transfer& next, const HttpTransportOptions& options, CURLSH* share) {
  PENSTOCK_TRY(CheckRequest(next.request));
  if (ca_bundle_path != next.request.ca_bundle_path) {
    ca_bundle_path = next.request.ca_bundle_path;
    SetConstants(options, share);  // the only way back to the system's bundle
  }
  const Endpoint& endpoint = next.request.endpoint;
  url.assign(endpoint.scheme).append("://").append(Authority(endpoint)).append(next.request.target);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  SetMethod(next);
  SetHeaders(next, options);
  SetConnectTimeout(handle, next.request.connect_timeout);
  error_text[0] = '\0';
  sent_before = false;
  ended_early = false;
  took_all = UploadSize(next.request_body) == 0;
  transfer = &next;
  next.slot = this;
  return Ok();
}

bool EasySlot::MaySend() {
  curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 0L);  // EndEarly sets it
  const std::string& method = transfer->request.method;
  if (!std::exchange(sent_before, true) || !took_all || method == "GET" || method == "HEAD")
    return true;
  // The server rejected the Expect header: libcurl repeats the request without it.
  if (transfer->head.complete()) return true;
  transfer->error = Error::Make(
      ErrorKind::kUnavailable, "connection to " + Authority(transfer->request.endpoint) +
                                   " was lost before a response, after the whole request was sent");
  return false;
}

bool EasySlot::EndEarly() {
  const std::uint64_t size = UploadSize(transfer->request_body);
  if (size == 0 || !transfer->head.complete()) return false;
  curl_off_t sent = 0;
  curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &sent);
  if (static_cast<std::uint64_t>(sent) >= size) return false;
  // libcurl keeps the connection after a 2xx or 417 in place of 100 Continue, and the server reads
  // the next request as the body of this one (RFC 9112 sections 9.3 and 9.6).
  curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
  const ResponseHead& head = transfer->head.head();
  // libcurl stops the upload; after 417 it repeats the request without Expect
  if (head.status >= 300) return false;
  ended_early = head.status == 204 || ContentLength(head) == transfer->received;
  return ended_early;
}

Result<Outcome> EasySlot::Conclude(CURLcode code) const {
  if (ended_early) code = CURLE_OK;
  if (code == CURLE_OK && transfer->error == std::nullopt && transfer->head.complete())
    transfer->BeginOnce();
  if (transfer->error) return *transfer->error;
  // libcurl accepts a connection that ends inside a head as the end of that head, but the head is
  // incomplete (RFC 9112, section 8).
  if (code == CURLE_OK && !transfer->head.complete()) code = CURLE_GOT_NOTHING;
  if (code != CURLE_OK) {
    CurlFailure failure = FailureOf(handle, code, error_text.data());
    failure.head_received = transfer->head.complete();
    failure.received_bytes = transfer->received;
    failure.expected_bytes = ContentLength(transfer->head.head());
    failure.sent_bytes = transfer->sent;
    return ErrorFromCurl(transfer->request, failure);
  }
  Outcome outcome;
  long new_connections = 0;
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &new_connections);
  outcome.connection_reused = new_connections == 0;
  outcome.body_bytes = transfer->received;
  outcome.sent_bytes = transfer->sent;
  outcome.first_byte = transfer->first_byte - transfer->started;
  outcome.head = transfer->head.Take();
  return outcome;
}

bool EasySlot::FollowedByBytes() const {
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (transfer->request.endpoint.scheme != "https") return false;
  if (curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK ||
      socket == CURL_SOCKET_BAD)
    return false;
  char byte = 0;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void EasySlot::RecordConnection() const {
  curl_off_t connected_us = 0;
  long new_connections = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &new_connections);
  if (connected_us == 0) return;
  const char* ip = nullptr;
  long port = 0;
  curl_easy_getinfo(handle, CURLINFO_PRIMARY_IP, &ip);
  curl_easy_getinfo(handle, CURLINFO_PRIMARY_PORT, &port);
  const PeerAddress address =
      ip == nullptr ? PeerAddress() : PeerAddress::OfText(ip, static_cast<int>(port));
  transfer->OnConnection({DataPlane::kCurl, new_connections == 0, address});
}

}  // namespace penstock::http
