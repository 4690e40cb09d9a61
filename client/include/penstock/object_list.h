// A compact listing in memory, and a function that lists everything.
#ifndef PENSTOCK_OBJECT_LIST_H_
#define PENSTOCK_OBJECT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// Objects in the order of Append. Each takes at most about 24 bytes plus the part of its key that
// differs from the previous key. Times are kept in milliseconds, the resolution of S3's listings.
// Access by index takes well under a microsecond.
//
// Thread safety: const members may be called from any thread while no other thread appends.
class ObjectList {
 public:
  ObjectList();
  ObjectList(ObjectList&&) noexcept;
  ObjectList& operator=(ObjectList&&) noexcept;
  ~ObjectList();

  void Append(const ObjectSummary& object);
  std::size_t size() const { return size_; }
  // Requires `index` < size().
  ObjectSummary operator[](std::size_t index) const;
  // Memory in use, in bytes.
  std::uint64_t memory_bytes() const;

  // Serializes the list for another process, and restores it. Load returns kDataLoss for anything
  // but the output of Save.
  std::string Save() const;
  static Result<ObjectList> Load(std::string_view saved);

 private:
  struct Entry;
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t used = 0;
    std::size_t capacity = 0;
  };
  // Objects per packed block. Each block starts with a complete key.
  static constexpr std::size_t kBlock = 32;

  std::size_t ClassIndex(const std::string& name);
  void Seal();
  std::string_view Block(std::size_t number) const;
  bool Unpack(std::string_view& packed, Entry& entry, std::string* etag) const;

  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> blocks_;  // Position of each sealed block: chunk << 32 | offset.
  std::string tail_;                   // The current block, which is not full.
  std::string last_key_;
  std::int64_t last_time_ = 0;
  std::vector<std::string> classes_;
  std::size_t size_ = 0;
};

struct ListAllOptions {
  // Empty: pages are listed one after the other. Otherwise the contents of each first-level common
  // prefix are listed in parallel. The result is the same, at the cost of one more request per
  // common prefix. Use it for buckets with few prefixes that hold many objects each.
  std::string delimiter = {};
  int parallel = 16;  // Concurrent listings.
};

// Lists every object under `request.prefix` in ascending key order. Directory buckets do not list
// in this order, so their objects are sorted here. Of `request`, only bucket, prefix, page size and
// call options are used.
Result<ObjectList> ListAll(std::shared_ptr<ObjectStore> store, const ListObjectsRequest& request,
                           const ListAllOptions& options = {}, const Interrupt& interrupt = {});

}  // namespace penstock

#endif  // PENSTOCK_OBJECT_LIST_H_
