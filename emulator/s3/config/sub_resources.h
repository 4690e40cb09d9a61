// A bucket's configurations as one table: what S3 answers while one is not set, its schema, its
// check.
//
// bucket_configuration.cc serves every row with the same four functions (get, put, delete, list).
// Sub-resources that need more than that (ACLs, policies, versioning, encryption) have files of
// their own.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_SUB_RESOURCES_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_SUB_RESOURCES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// Content-MD5 or x-amz-checksum-* (appendix A, column R)
enum class Checksum : std::uint8_t { kOptional, kRequired };

struct SubResource {
  std::string_view selector;  // also the name under which it is kept
  const Field* schema;        // never null
  ConfigurationCheck check;   // null: the schema says it all
  // GET while it is not set; empty: 200 with `unset_content` in the root
  std::string_view unset_code;
  std::string_view unset_content;  // raw XML
  std::string_view deleted_code;   // GET after a DELETE, where that is not the same as not set
  Checksum checksum = Checksum::kRequired;
  int put_status = 200;
  std::string_view list_root = {};  // not empty: a bucket has many of them, by id
};

const SubResource* FindSubResource(std::string_view selector);

// The document kept under `key`; null when there is none. An empty one says that it was deleted.
const std::string* FindConfiguration(const store::BucketRecord& bucket, std::string_view key);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_SUB_RESOURCES_H_
