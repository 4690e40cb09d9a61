// Matches entries with filters. The queries are members of JournalReading (penstock/journal.h).
#ifndef PENSTOCK_EMULATOR_JOURNAL_QUERY_H_
#define PENSTOCK_EMULATOR_JOURNAL_QUERY_H_

#include "emulator/journal/filter_check.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

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
