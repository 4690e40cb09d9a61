// The entries of ListObjects and ListObjectVersions (spec/protocol.md §2.4), appended as text: a
// page has a thousand.
#ifndef PENSTOCK_EMULATOR_S3_LISTING_LIST_ENTRIES_H_
#define PENSTOCK_EMULATOR_S3_LISTING_LIST_ENTRIES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

struct EntryForm {
  bool url_encoding = false;  // encoding-type=url: how keys and prefixes are spelled
  bool with_owner = false;
};

// Remembers how it wrote the last date and owner: neighbours mostly share them.
class EntryWriter {
 public:
  // `out` outlives the writer.
  EntryWriter(std::string& out, EntryForm form) : out_(out), form_(form) {}

  // First the objects, then the common prefixes: S3's order.
  void WriteContents(const std::vector<store::ListEntry>& entries);
  void WriteVersions(const std::vector<store::ListEntry>& entries);

 private:
  void WriteObject(const store::ListEntry& entry);
  void WriteVersion(const store::ListEntry& entry);
  void WritePrefixes(const std::vector<store::ListEntry>& entries);

  void AppendName(std::string_view name);
  void AppendLastModified(WallTime time);
  void AppendTagAndSize(const store::ListEntry& entry);
  void AppendOwner(std::string_view owner_id);

  std::string& out_;
  const EntryForm form_;
  std::int64_t last_second_ = INT64_MIN;
  std::string last_date_;
  std::string_view last_owner_id_;  // of an entry, which outlives the call that wrote it
  std::string last_owner_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_LISTING_LIST_ENTRIES_H_
