// The journal as text: JSON lines for programs, HAR for browsers' network panels.
#ifndef PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_
#define PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_

#include <string>
#include <string_view>

#include "emulator/journal/journal.h"

namespace penstock::emulator::journal {

// One JSON object, without a line break. Times: `received` ISO 8601 by the namespace's clock; `began_s`, `lasted_s` in seconds.
std::string EntryJson(const Entry& entry);

// EntryJson of every entry, each with "\n" behind it.
std::string JsonLines(const Reading& reading);

// HTTP Archive 1.2 (w3.org, 2012 draft). Bodies are not kept, so there are none. `base_url`: "http://127.0.0.1:9000".
std::string Har(const Reading& reading, std::string_view base_url, std::string_view version);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_EXPORT_H_
