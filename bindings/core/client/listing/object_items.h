// The objects that a look-ahead fetches in sequence, from Python iterables or from a listing
// without Python.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_LISTING_OBJECT_ITEMS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_LISTING_OBJECT_ITEMS_H_

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/object_list.h"
#include "penstock/object_store.h"
#include "penstock/transfer.h"

namespace penstock::python {

// An object and its known properties.
struct ObjectItem {
  pybind11::object bucket;  // str
  pybind11::object key;     // str
  pybind11::object info;    // ObjectInfo or None
  std::string bucket_name;
  std::string key_name;
  // The size when the object was listed. It may have been overwritten since.
  std::optional<std::uint64_t> size;
  std::string etag;  // same; without quotes; empty: not listed
};

// Thread safety: one user at a time. All members need the GIL and may release it temporarily.
class ObjectItems {
 public:
  virtual ~ObjectItems() = default;
  // Returns nullopt at the end. Throws exceptions of Python code, and errors for the caller.
  virtual std::optional<ObjectItem> Next() = 0;
};

// The elements of a Python iterator, each with the attributes of an S3BucketKeyData.
std::unique_ptr<ObjectItems> ItemsOf(pybind11::iterator elements);

// Every `step`-th object of a listing, starting with number `first`.
std::unique_ptr<ObjectItems> ItemsListed(std::unique_ptr<Lister> pages, const std::string& bucket,
                                         std::uint64_t step, std::uint64_t first);

// Converts an index that may be negative (counted from the end). Throws IndexError.
std::size_t IndexIn(const ObjectList& list, Py_ssize_t index);

// The objects of a list at these indices, which may be negative (counted from the end). An invalid
// index throws IndexError when it is reached.
std::unique_ptr<ObjectItems> ItemsChosen(std::shared_ptr<const ObjectList> list,
                                         const std::string& bucket,
                                         std::vector<Py_ssize_t> indices);
// All objects of a list.
std::unique_ptr<ObjectItems> ItemsOfList(std::shared_ptr<const ObjectList> list,
                                         const std::string& bucket);

// Create penstock._objects.ObjectInfo and S3BucketKeyData from a listing.
pybind11::object MakeObjectInfo(const pybind11::object& key, const ObjectSummary& object);
pybind11::object MakeKeyData(const pybind11::object& bucket, const pybind11::object& key,
                             const pybind11::object& info);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_LISTING_OBJECT_ITEMS_H_
