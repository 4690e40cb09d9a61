// The rules that all listings of a directory bucket share.
#ifndef PENSTOCK_EMULATOR_S3_DIRECTORY_LIST_DIRECTORY_H_
#define PENSTOCK_EMULATOR_S3_DIRECTORY_LIST_DIRECTORY_H_

#include "emulator/s3/listing/list_query.h"

namespace penstock::emulator::s3 {

// Returns InvalidRequest for a prefix that does not end in "/", or a delimiter other than "/".
Result<void> CheckDirectoryListing(const ListQuery& query);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_DIRECTORY_LIST_DIRECTORY_H_
