// Which objects a look-ahead fetches, one after the other: from Python's iterables or from a
// listing without Python.
#ifndef PENSTOCK_BINDINGS_CORE_OBJECT_ITEMS_H_
#define PENSTOCK_BINDINGS_CORE_OBJECT_ITEMS_H_

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

// An object, and what is known of it.
struct ObjectItem {
  pybind11::object bucket;  // str
  pybind11::object key;     // str
  pybind11::object info;    // ObjectInfo or None
  std::string bucket_name;
  std::string key_name;
  // when it was listed: the object may have been overwritten since
  std::optional<std::uint64_t> size;
};

// Thread safety: one user at a time. Everything needs the GIL, and may let go of it.
class ObjectItems {
 public:
  virtual ~ObjectItems() = default;
  // nullopt at the end. Throws what Python code raised or should see.
  virtual std::optional<ObjectItem> Next() = 0;
};

// The elements of a Python iterator, each with the attributes of an S3BucketKeyData.
std::unique_ptr<ObjectItems> ItemsOf(pybind11::iterator elements);

// Object number `first` of a listing, and every `step`-th after it.
std::unique_ptr<ObjectItems> ItemsListed(std::unique_ptr<Lister> pages, const std::string& bucket,
                                         std::uint64_t step, std::uint64_t first);

// `index`, counted from the end where it is negative; throws IndexError.
std::size_t IndexIn(const ObjectList& list, Py_ssize_t index);

// The objects of a list at these indices, which count from the end where they are negative;
// IndexError at one that is not there, in its turn.
std::unique_ptr<ObjectItems> ItemsChosen(std::shared_ptr<const ObjectList> list,
                                         const std::string& bucket,
                                         std::vector<Py_ssize_t> indices);
// All of them.
std::unique_ptr<ObjectItems> ItemsOfList(std::shared_ptr<const ObjectList> list,
                                         const std::string& bucket);

// penstock._objects.ObjectInfo and S3BucketKeyData of what a listing said.
pybind11::object MakeObjectInfo(const pybind11::object& key, const ObjectSummary& object);
pybind11::object MakeKeyData(const pybind11::object& bucket, const pybind11::object& key,
                             const pybind11::object& info);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_OBJECT_ITEMS_H_
