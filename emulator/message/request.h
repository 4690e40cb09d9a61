// A request as values: its head, its body and its connection.
#ifndef PENSTOCK_EMULATOR_MESSAGE_REQUEST_H_
#define PENSTOCK_EMULATOR_MESSAGE_REQUEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::message {

// Views into the connection's buffer, valid until the exchange ends.
struct HeaderView {
  std::string_view name;   // As sent.
  std::string_view value;  // Without leading and trailing white space; otherwise the raw bytes.
};

struct RequestHead {
  std::string_view method;
  std::string_view target;          // Raw path and query, as on the request line.
  int minor_version = 1;            // HTTP/1.x.
  std::vector<HeaderView> headers;  // In order of arrival, duplicates included.

  // Returns the first header of that name, case-insensitively, or nullopt.
  std::optional<std::string_view> Find(std::string_view name) const {
    for (const HeaderView& header : headers) {
      if (header.name.size() == name.size() && EqualsIgnoreCase(header.name, name))
        return header.value;
    }
    return std::nullopt;
  }
};

// The request body after transfer decoding. Handlers may wrap it (aws-chunked, payload hash).
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // Reads up to buffer.size() bytes. Returns 0 at the end, after every checksum and length of the
  // request was verified. Errors are S3 errors (IncompleteBody, RequestTimeout,
  // XAmzContentSHA256Mismatch, ...). The first call sends "100 Continue" if the client asked for
  // it.
  virtual Result<std::size_t> Read(MutableByteView buffer) = 0;
  // The number of decoded bytes that this reader delivers, if the request declares it.
  virtual std::optional<std::uint64_t> Length() const = 0;
  // Trailing headers (lower-case name, value). Complete once Read has returned 0.
  virtual const std::vector<std::pair<std::string, std::string>>& Trailers() const = 0;
  // Suppresses "100 Continue". Returns false if the client does not wait for it or has already
  // received it.
  virtual bool WithholdContinue() { return false; }
};

// A reader that changes or observes what another reader delivers. The exchange owns it
// (Exchange::WrapBody).
class BodyWrapper : public BodyReader {
 public:
  // `inner` must outlive this object.
  explicit BodyWrapper(BodyReader& inner) : inner_(inner) {}
  std::optional<std::uint64_t> Length() const override { return inner_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return inner_.Trailers();
  }
  bool WithholdContinue() override { return inner_.WithholdContinue(); }

 protected:
  BodyReader& inner() { return inner_; }

 private:
  friend class Exchange;
  BodyReader& inner_;
  std::unique_ptr<BodyWrapper> owned_;  // The wrapper that was outermost before this one.
};

struct Connection {
  std::uint64_t id = 0;
  std::string peer;  // For example "127.0.0.1:54321".
  bool tls = false;
  std::string_view tls_version = {};  // "1.3". Empty: not known, or no TLS.
  std::uint64_t requests_before = 0;
};

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_REQUEST_H_
