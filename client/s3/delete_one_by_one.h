// DeleteObjects for keys that its document cannot hold: XML 1.0 has no control characters, and S3
// refuses the whole list for one of them.
#ifndef PENSTOCK_CLIENT_S3_DELETE_ONE_BY_ONE_H_
#define PENSTOCK_CLIENT_S3_DELETE_ONE_BY_ONE_H_

#include <functional>
#include <string_view>

#include "penstock/object_store.h"

namespace penstock::s3 {

// Whether an XML 1.0 document can name it: UTF-8 without control characters (but tab and line
// ends), U+FFFE and U+FFFF.
bool FitsXml(std::string_view key);
// Whether one of them does not.
bool NeedsSingleDeletes(const DeleteObjectsRequest& request);

// How the two verbs are started: as by ObjectStore::Start, they do not throw and run their callback
// once. They outlive the completion.
struct DeleteVerbs {
  std::function<void(DeleteObjectsRequest, Callback<DeleteObjectsResponse>)> many;
  std::function<void(DeleteObjectRequest, Callback<NoResponse>)> one;
};

// Deletes the keys that fit in one request, then the others each in its own, a few at a time. The
// answer is that of one DeleteObjects: what S3 refused of single keys is among the failures, which
// are in the order of the keys; anything else that fails (a missing bucket, no connection, a
// cancellation, no memory) fails the call. Does not throw; `done` runs exactly once.
void StartDeleteOneByOne(DeleteVerbs verbs, DeleteObjectsRequest request,
                         Callback<DeleteObjectsResponse> done);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_DELETE_ONE_BY_ONE_H_
