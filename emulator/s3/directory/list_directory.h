// What every listing of a directory bucket must keep to (spec/protocol.md §1.5).
#ifndef PENSTOCK_EMULATOR_S3_DIRECTORY_LIST_DIRECTORY_H_
#define PENSTOCK_EMULATOR_S3_DIRECTORY_LIST_DIRECTORY_H_

#include "emulator/s3/listing/list_query.h"

namespace penstock::emulator::s3 {

// InvalidRequest for a prefix that is no folder, or a delimiter other than "/".
Result<void> CheckDirectoryListing(const ListQuery& query);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DIRECTORY_LIST_DIRECTORY_H_
