// A handle's implementation, which belongs to the process that made it and waits for I/O threads
// when it is destroyed.
#ifndef PENSTOCK_CLIENT_TRANSFER_PROCESS_BOUND_H_
#define PENSTOCK_CLIENT_TRANSFER_PROCESS_BOUND_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/process_id.h"
#include "client/transfer/upload/late_cleanup.h"
#include "penstock/base/blocking.h"
#include "penstock/base/result.h"

namespace penstock::transfer {

// Destruction never hangs: in a forked child the object is leaked, because its requests are the
// parent's and its locks may be taken; on an I/O thread it is destroyed by another thread, which
// the end of the process waits for.
template <class T>
class ProcessBound {
 public:
  // `what` names the handle in messages: "this stream".
  ProcessBound(std::unique_ptr<T> object, const char* what)
      : object_(std::move(object)), what_(what) {}
  ProcessBound(const ProcessBound&) = delete;
  ProcessBound& operator=(const ProcessBound&) = delete;
  ~ProcessBound() {
    if (mine() && !OnIoThread()) return;
    T* const object = object_.release();
    if (mine()) RunCleanup([object] { delete object; }, std::chrono::milliseconds(0));
  }

  bool mine() const { return process_ == ProcessId(); }
  T& object() const { return *object_; }  // where mine()

  // kInvalidArgument in a forked child.
  Result<void> CheckProcess() const {
    if (mine()) return Ok();
    return Error::Make(ErrorKind::kInvalidArgument,
                       std::string(what_) + " was made in process " + std::to_string(process_) +
                           " and cannot be used after fork(); make a new one in this process");
  }
  // The same, and on an I/O thread.
  Result<void> CheckBlockingUse(std::string_view operation) const {
    PENSTOCK_TRY(CheckProcess());
    return CheckMayBlock(operation);
  }

 private:
  std::unique_ptr<T> object_;
  const char* const what_;
  const int process_ = ProcessId();
};

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_PROCESS_BOUND_H_
