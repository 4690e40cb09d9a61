#include "base/log/caught.h"

#include "base/log/diagnostics.h"

namespace penstock {
namespace {

constinit DiagnosticEvent caught("exception");

}  // namespace

Error CaughtError(std::string_view where) noexcept {
  Error error = CurrentExceptionError(where);
  caught.Report(error);
  return error;
}

std::uint64_t CaughtExceptions() { return caught.count(); }

}  // namespace penstock
