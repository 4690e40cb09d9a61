// Rejects filters that cannot match any entry. With such a filter an assertion that nothing was
// found would always hold.
#ifndef PENSTOCK_EMULATOR_JOURNAL_FILTER_CHECK_H_
#define PENSTOCK_EMULATOR_JOURNAL_FILTER_CHECK_H_

#include <string>

#include "penstock/journal.h"

namespace penstock::emulator::journal {

// Returns kInvalidArgument that names the invalid member, under `place`.
Result<void> CheckFilter(const JournalFilter& filter, const std::string& place);

// For filters that are part of a program's source. Terminates the process with the message of
// CheckFilter if the filter is invalid.
void RequireFilter(const JournalFilter& filter);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_FILTER_CHECK_H_
