#include "emulator/s3/core/document_memory.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "emulator/s3/core/operation_traits.h"

namespace penstock::emulator::s3 {
namespace {

// CompleteMultipartUpload's; a longer body is refused
constexpr std::uint64_t kLargestDocument = 8u << 20;
constexpr std::array<std::string_view, 3> kStoresItsBody = {"PostObject", "PutObject",
                                                            "UploadPart"};

bool TakesDocument(const Exchange& exchange) {
  const bool stores = std::find(kStoresItsBody.begin(), kStoresItsBody.end(), exchange.operation) !=
                      kStoresItsBody.end();
  return !stores && TraitsOf(exchange).takes_body && exchange.body->Length() != 0U;
}

// Charges what is read. Charging the declared length would let a client take memory with a head
// alone.
class ChargedBody final : public BodyReader {
 public:
  // Both outlive this.
  ChargedBody(BodyReader& inner, store::DocumentCharge& charge) : inner_(inner), charge_(charge) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    PENSTOCK_ASSIGN(const std::size_t count, inner_.Read(buffer));
    read_ += count;
    PENSTOCK_TRY(charge_.GrowTo(std::min(read_, kLargestDocument)));
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return inner_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return inner_.Trailers();
  }
  bool WithholdContinue() override { return inner_.WithholdContinue(); }

 private:
  BodyReader& inner_;
  store::DocumentCharge& charge_;
  std::uint64_t read_ = 0;
};

class DocumentMemory final : public Handler {
 public:
  DocumentMemory(std::shared_ptr<store::MemoryLimit> limit, Handler& next)
      : limit_(std::move(limit)), next_(next) {}

  void Handle(Exchange& exchange) override {
    if (!TakesDocument(exchange)) return next_.Handle(exchange);
    // shared: std::function copies what it keeps
    auto charge = std::make_shared<store::DocumentCharge>(limit_.get());
    BodyReader* const inner = exchange.body;
    ChargedBody body(*inner, *charge);
    exchange.body = &body;
    next_.Handle(exchange);
    exchange.body = inner;
    exchange.WhenAnswered([charge = std::move(charge)](Exchange&) { charge->Release(); });
  }

 private:
  const std::shared_ptr<store::MemoryLimit> limit_;
  Handler& next_;
};

}  // namespace

std::unique_ptr<Handler> MakeDocumentMemory(std::shared_ptr<store::MemoryLimit> limit,
                                            Handler& next) {
  return std::make_unique<DocumentMemory>(std::move(limit), next);
}

}  // namespace penstock::emulator::s3
