// JSON of a simulated job and its report, for the command line and Python.
#ifndef PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_
#define PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_

#include <string>
#include <string_view>

#include "emulator/simulate/simulation.h"

namespace penstock::emulator::simulate {

// Parses a job of penstock/simulate.h. Returns kInvalidArgument that names the member.
Result<Job> ParseJob(std::string_view json, const SimulateOptions& limits = {});

// The job's summary and the report. Times are in seconds.
std::string ReportJson(const Job& job, const Report& report);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_
