// Errors for URIs that name a checkpoint of another format.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_EXPLAIN_MISSING_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_EXPLAIN_MISSING_H_

#include <string>

#include "client/checkpoint/load/checkpoint_object.h"

namespace penstock::checkpoint {

// If `error` is that of a missing object, checks whether its key is the prefix of a checkpoint of
// several objects, and then returns an error that names the function that reads it. Returns other
// errors unchanged.
Error ExplainMissing(const LoadContext& context, const BucketName& bucket, const std::string& key,
                     Error error);

// The same if the object `key` + "/.metadata" is missing: checks whether `key` itself is a file.
Error ExplainMissingMetadata(const LoadContext& context, const BucketName& bucket,
                             const std::string& key, Error error);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_EXPLAIN_MISSING_H_
