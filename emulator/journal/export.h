// Exports of the journal (JournalReading's exports): JSON lines for programs, HAR for the network
// panels of browsers.
#ifndef PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_
#define PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_

#include <string>
#include <string_view>

#include "emulator/json/json_tree.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

// An object of strings and numbers; rare members are omitted if empty. Times: `received` is ISO
// 8601 by the namespace's clock; `began_s` and `lasted_s` are seconds.
JsonTree EntryJson(const JournalEntryView& entry);

// An entry of an HTTP Archive (HAR). `base_url`: the prefix of the target.
JsonTree HarEntry(const JournalEntryView& entry, std::string_view base_url);

// Returns one line. Keys may be any bytes; invalid UTF-8 becomes U+FFFD.
std::string LineOf(const Json& json);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_
