// The table of a bucket's configurations: the response while one is not set, its schema and its
// check.
//
// bucket_configuration.cc serves every row with the same four functions (get, put, delete, list).
// Sub-resources that need more (ACLs, policies, versioning, encryption) have separate files.
#ifndef PENSTOCK_EMULATOR_S3_CONFIG_SUB_RESOURCES_H_
#define PENSTOCK_EMULATOR_S3_CONFIG_SUB_RESOURCES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// Whether a PUT requires Content-MD5 or x-amz-checksum-*.
enum class Checksum : std::uint8_t { kOptional, kRequired };

struct SubResource {
  std::string_view selector;  // Also the name under which it is stored.
  const Field* schema;        // Never null.
  ConfigurationCheck check;   // Null: the schema is sufficient.
  // Error code of a GET if it is not set. Empty: status 200 with `unset_content` in the root.
  std::string_view unset_code;
  std::string_view unset_content;  // Raw XML.
  std::string_view deleted_code;   // Error code of a GET after a DELETE. Empty: as if never set.
  Checksum checksum = Checksum::kRequired;
  int put_status = 200;
  std::string_view list_root = {};  // Not empty: a bucket can have many, each with an id.
  std::uint64_t limit_bytes = kDefaultDocumentBytes;
};

const SubResource* FindSubResource(std::string_view selector);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CONFIG_SUB_RESOURCES_H_
