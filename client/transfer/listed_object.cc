#include "client/transfer/listed_object.h"

#include <string>

namespace penstock::transfer {

Result<void> CheckListed(const ObjectMetadata& response, const ListedObject& listed) {
  if (response.etag != listed.etag || response.size == listed.size) return Ok();
  return Error::Make(ErrorKind::kDataLoss,
                     "the object has " + std::to_string(listed.size) +
                         " bytes in the listing, and the response with the same ETag " +
                         response.etag.value + " has " + std::to_string(response.size) +
                         ": one of the two is wrong; list and read again");
}

}  // namespace penstock::transfer
