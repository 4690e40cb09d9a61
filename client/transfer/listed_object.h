// Compares a response with the listing that its object was found in.
#ifndef PENSTOCK_CLIENT_TRANSFER_LISTED_OBJECT_H_
#define PENSTOCK_CLIENT_TRANSFER_LISTED_OBJECT_H_

#include "penstock/base/result.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// One ETag has one size. Returns kDataLoss with both sizes if the response has the ETag of the
// listing and another size.
Result<void> CheckListed(const ObjectMetadata& response, const ListedObject& listed);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_LISTED_OBJECT_H_
