// Writes the entries of ListObjects and ListObjectVersions. Appends text directly, because a page
// has up to 1000 entries.
#ifndef PENSTOCK_EMULATOR_S3_LISTING_LIST_ENTRIES_H_
#define PENSTOCK_EMULATOR_S3_LISTING_LIST_ENTRIES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/s3/core/call.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// Appends elements to an entry.
using AppendToEntry = std::function<void(std::string& out, const store::ListEntry& entry)>;

// Reads x-amz-optional-object-attributes, whose single value is "RestoreStatus". Returns a function
// that appends a RestoreStatus to restored entries, valid as long as `call`; empty: not requested.
Result<AppendToEntry> ReadOptionalAttributes(const Call& call);

struct EntryForm {
  bool url_encoding = false;  // encoding-type=url for keys and prefixes.
  bool with_owner = false;
  AppendToEntry append_restore = {};  // Empty: not requested.
};

// Caches the text of the last date and owner, which adjacent entries often share.
class EntryWriter {
 public:
  // `out` must outlive the writer.
  EntryWriter(std::string& out, EntryForm form) : out_(out), form_(std::move(form)) {}

  // Writes the objects and then the common prefixes, in S3's order.
  void WriteContents(const std::vector<store::ListEntry>& entries);
  void WriteVersions(const std::vector<store::ListEntry>& entries);

 private:
  void WriteObject(const store::ListEntry& entry);
  void WriteVersion(const store::ListEntry& entry);
  void WritePrefixes(const std::vector<store::ListEntry>& entries);

  void AppendName(std::string_view name);
  void AppendLastModified(WallTime time);
  void AppendETagAndSize(const store::ListEntry& entry);
  void AppendOwner(std::string_view owner_id);

  std::string& out_;
  const EntryForm form_;
  std::int64_t last_second_ = INT64_MIN;
  std::string last_date_;
  std::string_view last_owner_id_;  // View into an entry that outlives the call.
  std::string last_owner_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_LISTING_LIST_ENTRIES_H_
