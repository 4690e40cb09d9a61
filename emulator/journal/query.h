// Checks filters and matches entries with them. The queries are members of JournalReading
// (penstock/journal.h).
//
// Filters that cannot match any entry are rejected: with such a filter an assertion that nothing
// was found would always hold.
#ifndef PENSTOCK_EMULATOR_JOURNAL_QUERY_H_
#define PENSTOCK_EMULATOR_JOURNAL_QUERY_H_

#include <string>

#include "penstock/journal.h"

namespace penstock::emulator::journal {

// Returns kInvalidArgument that names the invalid member, under `place`.
Result<void> CheckFilter(const JournalFilter& filter, const std::string& place);

// For filters that are part of a program's source. Terminates the process with the message of
// CheckFilter if the filter is invalid.
void RequireFilter(const JournalFilter& filter);

bool Matches(const JournalFilter& filter, const JournalEntryView& entry);

// Calls `look` with every entry that matches `filter`, oldest first.
template <class Look>
void ForEachMatch(const JournalReading& reading, const JournalFilter& filter, Look look) {
  RequireFilter(filter);
  reading.ForEach([&](const JournalEntryView& entry) {
    if (Matches(filter, entry)) look(entry);
    return true;
  });
}

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_QUERY_H_
