// A mark of requests of administrators.
#ifndef PENSTOCK_EMULATOR_S3_CORE_ALL_ACCOUNTS_H_
#define PENSTOCK_EMULATOR_S3_CORE_ALL_ACCOUNTS_H_

#include "emulator/message/exchange.h"

namespace penstock::emulator::s3 {

// ListBuckets lists the buckets of every account and kind in the namespace.
struct AllAccounts final : message::Attachment {};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_ALL_ACCOUNTS_H_
