// The journal as text: JSON lines for programs, HAR for browsers' network panels (JournalReading's
// exports).
#ifndef PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_
#define PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_

#include <string>
#include <string_view>

#include "emulator/json/json_tree.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

// One object of strings and numbers; what is empty and rare is left out. Times: `received` ISO 8601
// by the namespace's clock; `began_s`, `lasted_s` in seconds.
JsonTree EntryJson(const JournalEntryView& entry);

// An entry of an HTTP Archive. `base_url`: what its target is of.
JsonTree HarEntry(const JournalEntryView& entry, std::string_view base_url);

// One line. Keys may be any bytes: what is not UTF-8 becomes U+FFFD.
std::string LineOf(const Json& json);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_
