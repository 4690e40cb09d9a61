// Asynchronous writes: the executor that runs the commit and the completion that receives the
// result.
#ifndef PENSTOCK_EMULATOR_STORE_COMMITS_LATER_H_
#define PENSTOCK_EMULATOR_STORE_COMMITS_LATER_H_

#include <memory>

#include "base/io/executor.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

using penstock::Executor;
using penstock::Task;
using penstock::TaskList;

// Receives the result of a write. If it is destroyed without a call of Complete, the write failed
// before it began because memory ran out.
template <class T>
class Completion {
 public:
  virtual ~Completion() = default;
  // Called at most once, on any thread, possibly before the call that began the write has returned.
  // Must not block.
  virtual void Complete(Result<T> result) noexcept = 0;
};

// `executor` must outlive the write.
template <class T>
struct Async {
  Executor& executor;
  std::unique_ptr<Completion<T>> completion;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_COMMITS_LATER_H_
