// A body that is taken in as it arrives, before there is a handler to read it: a client that is
// slow holds no thread.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_GATHERED_BODY_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_GATHERED_BODY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/http/connection/body_reader.h"
#include "emulator/http/connection_quotas.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::http {

// Its first bytes are in memory, the rest is in a file.
class GatheredBody final : public s3::BodyReader {
 public:
  static constexpr std::size_t kMemoryBytes = 64 << 10;

  enum class State {
    kWaiting,  // all that has arrived was taken; more is to come
    kMore,     // more may have arrived already
    kReady,    // Read never waits: the body is whole, or failed
  };

  // Both outlive this.
  GatheredBody(WireBodyReader& wire, ConnectionQuotas& quotas) : wire_(wire), quotas_(quotas) {}
  ~GatheredBody() override;
  GatheredBody(const GatheredBody&) = delete;
  GatheredBody& operator=(const GatheredBody&) = delete;

  // Takes what has arrived, up to a few MiB. SlowDown is the body's error where there is no room
  // for it.
  State Gather();
  // What was gathered is followed by this error.
  void Fail(Error error) { error_ = std::move(error); }

  Result<std::size_t> Read(MutableByteView into) override;
  std::optional<std::uint64_t> Length() const override { return wire_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return wire_.Trailers();
  }

 private:
  Result<void> Keep(ByteView bytes);
  Result<void> KeepInFile(ByteView bytes);

  WireBodyReader& wire_;
  ConnectionQuotas& quotas_;
  std::string memory_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t read_ = 0;  // bytes that Read has given
  std::optional<Error> error_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_GATHERED_BODY_H_
