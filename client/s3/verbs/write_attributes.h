// The request headers that describe a new object: content headers, user metadata, tags, ACL,
// encryption and lock.
#ifndef PENSTOCK_CLIENT_S3_VERBS_WRITE_ATTRIBUTES_H_
#define PENSTOCK_CLIENT_S3_VERBS_WRITE_ATTRIBUTES_H_

#include <string>
#include <string_view>
#include <vector>

#include "client/s3/verbs/wire.h"
#include "penstock/base/result.h"
#include "penstock/object_attributes.h"

namespace penstock::s3 {

// Returns whether `name` is an HTTP token, as header names are.
bool IsHeaderToken(std::string_view name);
bool IsPrintableAscii(std::string_view text);

// Appends a header unless `value` is empty. Returns kInvalidArgument with the header's name if the
// value contains anything but printable ASCII.
Result<void> AppendText(std::string_view header, const std::string& value,
                        std::vector<http::Header>& headers);

// Appends the headers of all members that are set. Returns kInvalidArgument with the entry's name
// if a name of user metadata is not a header token or a text is not printable ASCII, because S3
// would return such a value encoded; if user metadata exceed S3's limit of 2 KB; or if `acl` and
// `grants` are both set.
Result<void> AppendAttributes(const ObjectAttributes& attributes, WireRequest& wire);

// Appends x-amz-acl or x-amz-grant-*. Errors as for AppendAttributes.
Result<void> AppendAcl(const std::string& acl, const std::vector<Grant>& grants, WireRequest& wire);

// Appends the three SSE-C headers of a key, if there is one.
void AppendCustomerKey(const CustomerKey& key, WireRequest& wire);
// Same for the key of a copy's source.
void AppendSourceCustomerKey(const CustomerKey& key, WireRequest& wire);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_WRITE_ATTRIBUTES_H_
