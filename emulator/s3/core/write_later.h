// An operation in two halves, with the commit of its write between them.
#ifndef PENSTOCK_EMULATOR_S3_CORE_WRITE_LATER_H_
#define PENSTOCK_EMULATOR_S3_CORE_WRITE_LATER_H_

#include <memory>
#include <optional>
#include <utility>

#include "emulator/s3/core/call.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// What became of a write, where the second half finds it; then the answer is given.
template <class T>
class LateOutcome final : public store::Completion<T> {
 public:
  using Slot = std::shared_ptr<std::optional<Result<T>>>;
  LateOutcome(Slot slot, PendingResponse answer)
      : slot_(std::move(slot)), answer_(std::move(answer)) {}
  void Complete(Result<T> result) noexcept override { slot_->emplace(std::move(result)); }

 private:
  const Slot slot_;
  const PendingResponse answer_;
};

// Begins a write and hands what became of it to `answer`, a Result<void>(Call&, Result<T>): at
// once, or, where the wire can wait for the answer, when it is settled; then this returns Ok before
// there is a response, and `answer` must not refer to the stack. `write(later...)` calls the
// store's method, with a store::Async<T> or without.
template <class T, class Write, class Answer>
Result<void> WriteThenAnswer(Call& call, const Write& write, Answer answer) {
  if (call.exchange.late == nullptr) return answer(call, write());
  auto slot = std::make_shared<std::optional<Result<T>>>();
  call.rest = [slot, answer = std::move(answer)](Call& settled) -> Result<void> {
    if (!slot->has_value()) return Error::Make(ErrorKind::kResourceExhausted, "out of memory");
    return answer(settled, std::move(**slot));
  };
  auto completion = std::make_unique<LateOutcome<T>>(std::move(slot), call.exchange.RespondLater());
  write(store::Async<T>{call.exchange.late->executor(), std::move(completion)});
  return Ok();
}

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_WRITE_LATER_H_
