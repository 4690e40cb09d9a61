// DeleteObjects for keys that its XML document cannot represent. XML 1.0 has no control characters,
// and S3 rejects the whole list if one key contains them.
#ifndef PENSTOCK_CLIENT_S3_DELETE_ONE_BY_ONE_H_
#define PENSTOCK_CLIENT_S3_DELETE_ONE_BY_ONE_H_

#include <functional>
#include <string_view>

#include "penstock/object_store.h"

namespace penstock::s3 {

// Returns whether an XML 1.0 document can represent `key`: UTF-8 without U+FFFE, U+FFFF and control
// characters other than tab and line ends.
bool FitsXml(std::string_view key);
// Returns whether any key does not fit.
bool NeedsSingleDeletes(const DeleteObjectsRequest& request);

// Start functions of the two operations. Like ObjectStore::Start, they do not throw and run their
// callback once. They outlive the completion.
struct DeleteVerbs {
  std::function<void(DeleteObjectsRequest, Callback<DeleteObjectsResponse>)> many;
  std::function<void(DeleteObjectRequest, Callback<DeleteObjectResponse>)> one;
};

// Deletes the keys that fit in one request, then each of the others in its own request, a few at a
// time. The response is that of one DeleteObjects call: keys that S3 did not delete are failures,
// in the order of the keys. Other errors fail the whole call, for example a missing bucket, no
// connection, cancellation, or no memory. Does not throw; `done` runs exactly once.
void StartDeleteOneByOne(DeleteVerbs verbs, DeleteObjectsRequest request,
                         Callback<DeleteObjectsResponse> done);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_DELETE_ONE_BY_ONE_H_
