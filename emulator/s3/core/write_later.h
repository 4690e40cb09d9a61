// Splits a write operation in two: start the write, and respond once the write has committed.
#ifndef PENSTOCK_EMULATOR_S3_CORE_WRITE_LATER_H_
#define PENSTOCK_EMULATOR_S3_CORE_WRITE_LATER_H_

#include <memory>
#include <optional>
#include <utility>

#include "emulator/s3/core/call.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// Stores the result of a write for the continuation; its destruction completes the response.
template <class T>
class WriteCompletion final : public store::Completion<T> {
 public:
  using Slot = std::shared_ptr<std::optional<Result<T>>>;
  WriteCompletion(Slot slot, PendingResponse response)
      : slot_(std::move(slot)), response_(std::move(response)) {}
  void Complete(Result<T> result) noexcept override { slot_->emplace(std::move(result)); }

 private:
  const Slot slot_;
  const PendingResponse response_;
};

// Starts a write and passes its result to `respond`, a Result<void>(Call&, Result<T>). If the HTTP
// layer can wait, it returns Ok before there is a response and calls `respond` once the write has
// committed or failed; `respond` must then not refer to the stack. Otherwise it calls `respond`
// immediately. `write` calls the store's method, with a store::Async<T> or without arguments.
template <class T, class Write, class Respond>
Result<void> WriteThenRespond(Call& call, const Write& write, Respond respond) {
  if (call.exchange.async == nullptr) return respond(call, write());
  auto slot = std::make_shared<std::optional<Result<T>>>();
  call.continuation = [slot, respond = std::move(respond)](Call& later) -> Result<void> {
    if (!slot->has_value()) return Error::Make(ErrorKind::kResourceExhausted, "out of memory");
    return respond(later, std::move(**slot));
  };
  auto completion =
      std::make_unique<WriteCompletion<T>>(std::move(slot), call.exchange.RespondLater());
  write(store::Async<T>{call.exchange.async->executor(), std::move(completion)});
  return Ok();
}

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_WRITE_LATER_H_
