// Fills the members of any request from keyword arguments. Members have the same names in Python
// and in C++, except where boto3's name is another.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_FIELDS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_FIELDS_H_

#include <algorithm>
#include <string>

#include "bindings/core/client/requests/arguments.h"

namespace penstock::python {

// Every argument that a request understands. A body is not among them.
template <class Request>
void LoadFields(Arguments& arguments, Request& request) {
#define PENSTOCK_FIELD_AS(member, name) \
  if constexpr (requires { request.member; }) arguments.Load(name, request.member)
#define PENSTOCK_FIELD(member) PENSTOCK_FIELD_AS(member, #member)
#define PENSTOCK_REQUIRED(member) \
  if constexpr (requires { request.member; }) arguments.LoadRequired(#member, request.member)
#define PENSTOCK_NAME_AS(member, name) \
  if constexpr (requires { request.member; }) arguments.LoadRequired(name, request.member.value)
  PENSTOCK_NAME_AS(bucket, "bucket");
  PENSTOCK_NAME_AS(key, "key");
  PENSTOCK_NAME_AS(upload_id, "upload_id");
  PENSTOCK_NAME_AS(source_bucket, "src_bucket");
  PENSTOCK_NAME_AS(source_key, "src_key");
  PENSTOCK_FIELD(version_id);
  PENSTOCK_FIELD(range);
  PENSTOCK_FIELD(part_number);
  PENSTOCK_FIELD(if_match);
  PENSTOCK_FIELD(if_none_match);
  PENSTOCK_FIELD_AS(if_none_match_any, "if_none_match");
  PENSTOCK_FIELD(if_modified_since);
  PENSTOCK_FIELD(if_unmodified_since);
  PENSTOCK_FIELD(if_match_last_modified);
  PENSTOCK_FIELD(if_match_size);
  PENSTOCK_FIELD(bypass_governance_retention);
  PENSTOCK_FIELD(objects);
  PENSTOCK_FIELD_AS(customer_key, "sse_customer_key");
  PENSTOCK_FIELD(write_offset);
  PENSTOCK_FIELD(checksum_algorithm);
  PENSTOCK_FIELD(checksum_type);
  PENSTOCK_FIELD(checksum_value);
  PENSTOCK_FIELD_AS(source_version_id, "src_version_id");
  PENSTOCK_FIELD_AS(source_range, "src_range");
  PENSTOCK_FIELD_AS(source_if_match, "src_if_match");
  PENSTOCK_FIELD_AS(source_if_none_match, "src_if_none_match");
  PENSTOCK_FIELD_AS(source_if_modified_since, "src_if_modified_since");
  PENSTOCK_FIELD_AS(source_if_unmodified_since, "src_if_unmodified_since");
  PENSTOCK_FIELD_AS(source_customer_key, "src_sse_customer_key");
  PENSTOCK_FIELD_AS(source_expected_bucket_owner, "src_expected_bucket_owner");
  PENSTOCK_FIELD(metadata_directive);
  PENSTOCK_FIELD(tagging_directive);
  PENSTOCK_FIELD(part_number_marker);
  PENSTOCK_FIELD(prefix);
  PENSTOCK_FIELD(delimiter);
  PENSTOCK_FIELD(continuation_token);
  PENSTOCK_FIELD(start_after);
  PENSTOCK_FIELD(max_keys);
  PENSTOCK_FIELD(max_parts);
  PENSTOCK_FIELD(key_marker);
  PENSTOCK_FIELD(upload_id_marker);
  PENSTOCK_FIELD(version_id_marker);
  PENSTOCK_FIELD(acl);
  PENSTOCK_FIELD(object_lock_enabled);
  PENSTOCK_FIELD(object_ownership);
  PENSTOCK_REQUIRED(kind);
  PENSTOCK_FIELD(id);
  PENSTOCK_FIELD_AS(canned_acl, "acl");
  PENSTOCK_REQUIRED(tags);
  PENSTOCK_REQUIRED(status);
  PENSTOCK_FIELD(days);
  PENSTOCK_FIELD(tier);
#undef PENSTOCK_NAME_AS
#undef PENSTOCK_REQUIRED
#undef PENSTOCK_FIELD
#undef PENSTOCK_FIELD_AS
  if constexpr (requires { request.checksum_algorithm; })
    std::ranges::transform(request.checksum_algorithm, request.checksum_algorithm.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  if constexpr (requires { request.document; }) LoadDocument(arguments, request.document);
  if constexpr (requires { request.overrides; }) LoadOverrides(arguments, request.overrides);
  if constexpr (requires { request.attributes; }) LoadAttributes(arguments, request.attributes);
  if constexpr (requires { request.grants; }) LoadGrants(arguments, request.grants);
  if constexpr (requires { request.parts; })
    LoadParts(arguments, request.parts, request.object_size);
  if constexpr (requires { request.options; }) LoadOptions(arguments, request.options);
}

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_FIELDS_H_
