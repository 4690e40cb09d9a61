// Stores a request body as it arrives, before the handler runs, so that a slow client does not
// occupy a thread.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_GATHERED_BODY_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_GATHERED_BODY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/http/connection/connection_quotas.h"
#include "emulator/http/parsing/body_reader.h"
#include "emulator/message/exchange.h"

namespace penstock::emulator::http {

// The first kMemoryBytes are kept in memory, the rest in a file.
class GatheredBody final : public message::BodyReader {
 public:
  static constexpr std::size_t kMemoryBytes = 64 << 10;

  enum class State {
    kWaiting,  // all arrived bytes were stored; more are expected
    kMore,     // more may have arrived already
    kReady,    // the body is complete or failed: Read never waits
  };

  // Both arguments must outlive this object.
  GatheredBody(WireBodyReader& wire, ConnectionQuotas& quotas) : wire_(wire), quotas_(quotas) {}
  ~GatheredBody() override;
  GatheredBody(const GatheredBody&) = delete;
  GatheredBody& operator=(const GatheredBody&) = delete;

  // Stores what has arrived, up to a few MiB. If there is no space, the body fails with SlowDown.
  State Gather();
  // Makes Read return this error after the stored bytes.
  void Fail(Error error) { error_ = std::move(error); }
  // Call it when the handler waits on purpose, because of a fault or a limit. Reports once that a
  // wait between two reads cannot slow the client down, because the body has arrived.
  void ReportWait() noexcept;

  Result<std::size_t> Read(MutableByteView into) override;
  std::optional<std::uint64_t> Length() const override { return wire_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return wire_.Trailers();
  }

 private:
  Result<void> Store(ByteView bytes);
  Result<void> StoreInFile(ByteView bytes);

  WireBodyReader& wire_;
  ConnectionQuotas& quotas_;
  std::string memory_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t read_ = 0;  // bytes returned by Read
  std::optional<Error> error_;
  bool reported_ = false;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_GATHERED_BODY_H_
