// A function of the program that changes the messages of all errors and the texts of all log
// records, for example to replace internal names.
#ifndef PENSTOCK_BASE_MESSAGE_FILTER_H_
#define PENSTOCK_BASE_MESSAGE_FILTER_H_

#include <string>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {
namespace internal {

// Must be callable from any thread at any time.
using MessageFilter = std::string (*)(std::string text);

// Replaces the function of the process. Thread safety: any thread.
void SetMessageFilter(MessageFilter filter);
// Returns what the function of the process makes of `text`. Without a function: `text`.
std::string ApplyMessageFilter(std::string text);

}  // namespace internal
}  // namespace penstock

#endif  // PENSTOCK_BASE_MESSAGE_FILTER_H_
