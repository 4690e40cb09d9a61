// Filters that cannot select anything are refused: an assertion that nothing was found would hold
// whatever happened.
#ifndef PENSTOCK_EMULATOR_JOURNAL_FILTER_CHECK_H_
#define PENSTOCK_EMULATOR_JOURNAL_FILTER_CHECK_H_

#include <string>

#include "penstock/journal.h"

namespace penstock::emulator::journal {

// kInvalidArgument names the member that is wrong, at `place`.
Result<void> CheckFilter(const JournalFilter& filter, const std::string& place);

// For a filter out of a program's own text: ends the program with the reason where CheckFilter
// refuses it.
void RequireFilter(const JournalFilter& filter);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_FILTER_CHECK_H_
