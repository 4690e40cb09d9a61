// The filter that charges the memory of request documents (XML and JSON bodies) to the memory
// limit.
#ifndef PENSTOCK_EMULATOR_S3_CORE_DOCUMENT_MEMORY_H_
#define PENSTOCK_EMULATOR_S3_CORE_DOCUMENT_MEMORY_H_

#include <memory>

#include "emulator/s3/core/filter_chain.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::s3 {

// Charges the body as it is read, and gives the memory back with the response
// (store::DocumentCharge). Once a document does not fit, reading it is SlowDown.
std::unique_ptr<Filter> MakeDocumentMemory(std::shared_ptr<store::MemoryLimit> limit);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_DOCUMENT_MEMORY_H_
