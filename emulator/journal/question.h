// JSON of questions to a journal (JournalReading::AnswerJson, ParseJournalFilter).
#ifndef PENSTOCK_EMULATOR_JOURNAL_QUESTION_H_
#define PENSTOCK_EMULATOR_JOURNAL_QUESTION_H_

#include <string>

#include "emulator/json/json_fields.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

// `place`: the field of the filter. Returns FieldError.
Result<JournalFilter> FilterOf(const Json& json, const std::string& place);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_QUESTION_H_
