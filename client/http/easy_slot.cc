#include "client/http/easy_slot.h"

#include <algorithm>
#include <string_view>

#include "client/http/uri.h"

namespace penstock::http {
namespace {

std::size_t HeaderCallback(char* data, std::size_t size, std::size_t count, void* slot) {
  const std::size_t bytes = size * count;
  return static_cast<EasySlot*>(slot)->transfer->OnHeadLine({data, bytes}) ? bytes : CURL_WRITEFUNC_ERROR;
}

std::size_t WriteCallback(char* data, std::size_t size, std::size_t count, void* slot) {
  const std::size_t bytes = size * count;
  return static_cast<EasySlot*>(slot)->transfer->OnBody(AsBytes({data, bytes})) ? bytes : CURL_WRITEFUNC_ERROR;
}

std::size_t ReadCallback(char* data, std::size_t size, std::size_t count, void* slot) {
  Transfer& transfer = *static_cast<EasySlot*>(slot)->transfer;
  if (transfer.request_body == nullptr) return 0;
  return transfer.OnSend({reinterpret_cast<std::byte*>(data), size * count}).value_or(CURL_READFUNC_ABORT);
}

int SeekCallback(void* slot, curl_off_t offset, int origin) {
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;  // libcurl only ever starts over
  return static_cast<EasySlot*>(slot)->transfer->OnRewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

bool HasLineBreak(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

Error Unsendable(std::string message) { return Error::Make(ErrorKind::kInvalidArgument, std::move(message)); }

// A target may hold a signature (presigned URLs), so messages name the position, never the text.
Result<void> CheckTarget(std::string_view target) {
  if (target.empty() || target[0] != '/') return Unsendable("the request target does not start with '/'");
  const auto bad = std::find_if(target.begin(), target.end(), [](char c) {
    return c <= ' ' || c >= 0x7f || c == '#';  // char is signed or not: bytes above 0x7f are caught either way
  });
  if (bad == target.end()) return Ok();
  return Unsendable("the request target holds a byte that must be percent-encoded, at offset " +
                    std::to_string(bad - target.begin()));
}

Result<void> CheckRequest(const Request& request) {
  if (request.endpoint.scheme != "http" && request.endpoint.scheme != "https") {
    return Unsendable("scheme '" + request.endpoint.scheme + "' is neither http nor https");
  }
  if (request.endpoint.host.empty() || request.endpoint.port < 1 || request.endpoint.port > 65535) {
    return Unsendable("endpoint '" + Authority(request.endpoint) + "' needs a host and a port from 1 to 65535");
  }
  if (request.method.empty() || request.method.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos) {
    return Unsendable("method '" + request.method + "' is not made of capital letters");
  }
  PENSTOCK_TRY(CheckTarget(request.target));
  for (const Header& header : request.headers) {
    if (header.name.empty() || header.name.find_first_of(": ;\t") != std::string::npos || HasLineBreak(header.name) ||
        HasLineBreak(header.value)) {
      return Unsendable("header '" + header.name + "' has a name or value that cannot be sent");
    }
  }
  if (!FindHeader(request.headers, "Host")) return Unsendable("the request has no Host header");
  if (FindHeader(request.headers, "Content-Length")) return Unsendable("Content-Length is the transport's to set");
  return Ok();
}

// PUT and POST always announce a length, be it 0: S3 answers 411 otherwise.
bool Uploads(const Transfer& transfer) {
  return transfer.request_body != nullptr || transfer.request.method == "PUT" || transfer.request.method == "POST";
}

std::uint64_t UploadSize(const Transfer& transfer) {
  return transfer.request_body == nullptr ? 0 : transfer.request_body->size();
}

}  // namespace

EasySlot::~EasySlot() { curl_easy_cleanup(handle); }

std::unique_ptr<EasySlot> EasySlot::Create(const CurlTransportOptions& options, CURLSH* share) {
  auto slot = std::make_unique<EasySlot>();
  slot->handle = curl_easy_init();
  if (slot->handle == nullptr) return nullptr;
  slot->SetConstants(options, share);
  return slot;
}

void EasySlot::SetConstants(const CurlTransportOptions& options, CURLSH* share) {
  curl_easy_reset(handle);  // keeps connections and TLS sessions
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));  // S3 has no HTTP/2
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);  // a key may hold "..": never tidy it away
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, static_cast<long>(options.receive_buffer_bytes));
  curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, static_cast<long>(options.send_buffer_bytes));
  curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, static_cast<long>(options.max_idle_age.count()));
  curl_easy_setopt(handle, CURLOPT_MAXLIFETIME_CONN, static_cast<long>(options.max_lifetime.count()));
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, 15L);
  curl_easy_setopt(handle, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's head is not the response's
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(handle, CURLOPT_SHARE, share);
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
  if (!ca_bundle_path.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, ca_bundle_path.c_str());
}

void EasySlot::SetHeaders(const Transfer& next, const CurlTransportOptions& options) {
  header_text.clear();
  std::vector<std::size_t> starts;
  const auto add = [&](std::string_view name, std::string_view separator, std::string_view value) {
    starts.push_back(header_text.size());
    header_text.append(name).append(separator).append(value).push_back('\0');
  };
  for (const Header& header : next.request.headers) {
    // libcurl's way of writing an empty value is "Name;": "Name:" would remove the header.
    header.value.empty() ? add(header.name, ";", "") : add(header.name, ": ", header.value);
  }
  // What libcurl would add on its own.
  if (!FindHeader(next.request.headers, "Accept")) add("Accept", ":", "");
  if (!FindHeader(next.request.headers, "Expect") && UploadSize(next) < options.expect_continue_from_bytes) {
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
  curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);  // undoes the UPLOAD or NOBODY of the last use
  if (method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (Uploads(next)) {
    // UPLOAD for POST too: libcurl's own POST adds a Content-Type.
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(UploadSize(next)));
    if (method != "PUT") curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
  } else if (method != "GET") {
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
  }
}

Result<void> EasySlot::Load(Transfer& next, const CurlTransportOptions& options, CURLSH* share) {
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
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, next.request.connect_timeout.count())));
  error_text[0] = '\0';
  transfer = &next;
  next.slot = this;
  return Ok();
}

}  // namespace penstock::http
