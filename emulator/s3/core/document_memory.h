// The filter that charges the memory of request documents (XML and JSON bodies) to the memory
// limit.
#ifndef PENSTOCK_EMULATOR_S3_CORE_DOCUMENT_MEMORY_H_
#define PENSTOCK_EMULATOR_S3_CORE_DOCUMENT_MEMORY_H_

#include <memory>

#include "emulator/s3/core/filter_chain.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::s3 {

// Charges the body as it is read, and releases the charge when the response is sent
// (store::DocumentCharge). If a document exceeds the limit, reading its body returns SlowDown.
std::unique_ptr<Filter> MakeDocumentMemory(std::shared_ptr<store::MemoryLimit> limit);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_DOCUMENT_MEMORY_H_
