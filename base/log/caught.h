// Converts exceptions from application code (callbacks, sinks, sources, providers) to errors, so
// that they cannot terminate an I/O thread.
#ifndef PENSTOCK_BASE_LOG_CAUGHT_H_
#define PENSTOCK_BASE_LOG_CAUGHT_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "penstock/base/export.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// Returns the exception being handled as CurrentExceptionError(where) does (diagnostics.h), and
// reports it as the diagnostic event "exception". Call it in a catch block. `where` names the code
// that threw, for example "the completion callback".
Error CaughtError(std::string_view where) noexcept;

// Returns the number of exceptions that CaughtError has handled in this process: the count of the
// event "exception". Thread safety: any thread.
std::uint64_t CaughtExceptions();

// Runs `code`, which returns void or a Result. Returns its result, or the exception that it threw
// as an error.
template <class Code>
[[nodiscard]] auto Caught(std::string_view where, Code&& code) {
  using Returned = std::invoke_result_t<Code&>;
  if constexpr (std::is_void_v<Returned>) {
    try {
      code();
      return Ok();
    } catch (...) {
      return Result<void>(CaughtError(where));
    }
  } else {
    try {
      return code();
    } catch (...) {
      return Returned(CaughtError(where));
    }
  }
}

// Runs `code` where no caller can receive the error: an exception is only logged and counted.
template <class Code>
void Contain(std::string_view where, Code&& code) {
  static_cast<void>(Caught(where, code));
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_LOG_CAUGHT_H_
