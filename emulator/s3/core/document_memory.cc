#include "emulator/s3/core/document_memory.h"

#include <algorithm>
#include <utility>

#include "emulator/s3/core/operation_traits.h"

namespace penstock::emulator::s3 {
namespace {

// CompleteMultipartUpload's; a longer body is refused
constexpr std::uint64_t kLargestDocument = 8u << 20;

bool TakesDocument(const Exchange& exchange) {
  const OperationTraits traits = TraitsOf(exchange);
  return traits.takes_body && !traits.stores_body && exchange.body->Length() != 0U;
}

// The memory of the request's document.
struct Charged final : message::Attachment {
  explicit Charged(store::MemoryLimit* limit) : charge(limit) {}
  store::DocumentCharge charge;
};

// Charges what is read. Charging the declared length would let a client take memory with a head
// alone.
class ChargedBody final : public BodyWrapper {
 public:
  // Both outlive this.
  ChargedBody(BodyReader& inner, store::DocumentCharge& charge)
      : BodyWrapper(inner), charge_(charge) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    PENSTOCK_ASSIGN(const std::size_t count, inner().Read(buffer));
    read_ += count;
    PENSTOCK_TRY(charge_.GrowTo(std::min(read_, kLargestDocument)));
    return count;
  }

 private:
  store::DocumentCharge& charge_;
  std::uint64_t read_ = 0;
};

class DocumentMemory final : public Filter {
 public:
  explicit DocumentMemory(std::shared_ptr<store::MemoryLimit> limit) : limit_(std::move(limit)) {}

  FilterStatus OnRequest(Exchange& exchange) override {
    if (TakesDocument(exchange))
      exchange.WrapBody<ChargedBody>(exchange.Attach<Charged>(limit_.get()).charge);
    return FilterStatus::kContinue;
  }

  void OnResponse(Exchange& exchange) override {
    if (auto* const charged = exchange.Find<Charged>()) charged->charge.Release();
  }

 private:
  const std::shared_ptr<store::MemoryLimit> limit_;
};

}  // namespace

std::unique_ptr<Filter> MakeDocumentMemory(std::shared_ptr<store::MemoryLimit> limit) {
  return std::make_unique<DocumentMemory>(std::move(limit));
}

}  // namespace penstock::emulator::s3
