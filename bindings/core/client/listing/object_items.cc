#include "bindings/core/client/listing/object_items.h"

#include <initializer_list>
#include <utility>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

// Returns a NamedTuple type of penstock._objects. The reference is never released, because an
// extension is never unloaded.
PyTypeObject* NamedTupleType(const char* name) {
  const py::object type = py::module_::import("penstock._objects").attr(name);
  return reinterpret_cast<PyTypeObject*>(py::object(type).release().ptr());
}

// Creates an instance with these fields, as tuple.__new__ does.
py::object MakeNamedTuple(PyTypeObject* type, std::initializer_list<py::object> fields) {
  auto made = py::reinterpret_steal<py::object>(
      type->tp_alloc(type, static_cast<Py_ssize_t>(fields.size())));
  if (!made) throw py::error_already_set();
  Py_ssize_t index = 0;
  for (const py::object& field : fields)
    PyTuple_SET_ITEM(made.ptr(), index++, py::object(field).release().ptr());
  return made;
}

struct Bucket {
  py::object name;
  std::string text;
};

ObjectItem MakeItem(const Bucket& bucket, ObjectSummary object) {
  ObjectItem item;
  item.bucket = bucket.name;
  item.key = KeyToPython(object.key.value);
  item.info = MakeObjectInfo(item.key, object);
  item.bucket_name = bucket.text;
  item.key_name = std::move(object.key.value);
  item.size = object.size;
  item.etag = std::move(object.etag.value);
  return item;
}

// The ETag of an ObjectInfo, without quotes. Empty: none, or one that does not pin a version.
std::string ListedETag(const py::object& info) {
  const py::object etag = py::getattr(info, "etag", py::none());
  if (!py::isinstance<py::str>(etag)) return {};
  auto text = etag.cast<std::string>();
  std::erase(text, '"');
  return text.starts_with("W/") ? std::string() : text;
}

class PythonItems final : public ObjectItems {
 public:
  explicit PythonItems(py::iterator elements) : elements_(std::move(elements)) {}

  std::optional<ObjectItem> Next() override {
    const auto element = py::reinterpret_steal<py::object>(PyIter_Next(elements_.ptr()));
    if (!element) {
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      return std::nullopt;
    }
    ObjectItem item;
    item.bucket = element.attr("bucket");
    item.key = element.attr("key");
    item.info = element.attr("object_info");
    argument::Load("bucket", item.bucket, item.bucket_name);
    argument::Load("key", item.key, item.key_name);
    if (!item.info.is_none()) {
      item.size = item.info.attr("size").cast<std::uint64_t>();
      item.etag = ListedETag(item.info);
    }
    return item;
  }

 private:
  py::iterator elements_;
};

class ListedItems final : public ObjectItems {
 public:
  ListedItems(std::unique_ptr<Lister> pages, const std::string& bucket, std::uint64_t step,
              std::uint64_t first)
      : pages_(std::move(pages), "this listing"),
        bucket_{py::str(bucket), bucket},
        step_(step),
        skip_(first) {}
  ~ListedItems() override {
    // The next page may be in flight, and the destructor waits for it.
    const ReleasedGil unlocked;
    ProcessBound<Lister> ended(std::move(pages_));
  }
  ListedItems(const ListedItems&) = delete;
  ListedItems& operator=(const ListedItems&) = delete;

  std::optional<ObjectItem> Next() override {
    while (skip_ >= page_.objects.size()) {
      skip_ -= page_.objects.size();
      page_.objects.clear();
      if (ended_) return std::nullopt;
      auto next = WithoutGil([&] { return pages_.Get().Next(SignalPending); });
      std::optional<ListObjectsResponse> page = Unwrap(std::move(next));
      ended_ = !page.has_value();
      if (page) page_ = *std::move(page);
    }
    ObjectSummary& object = page_.objects[skip_];
    skip_ += step_;
    return MakeItem(bucket_, std::move(object));
  }

 private:
  ProcessBound<Lister> pages_;
  const Bucket bucket_;
  const std::uint64_t step_;
  std::uint64_t skip_;  // objects to skip from the start of the page
  ListObjectsResponse page_;
  bool ended_ = false;
};

class ChosenItems final : public ObjectItems {
 public:
  ChosenItems(std::shared_ptr<const ObjectList> list, const std::string& bucket,
              std::vector<Py_ssize_t> indices)
      : list_(std::move(list)), bucket_{py::str(bucket), bucket}, indices_(std::move(indices)) {}

  std::optional<ObjectItem> Next() override {
    if (next_ == indices_.size()) return std::nullopt;
    return MakeItem(bucket_, (*list_)[IndexIn(*list_, indices_[next_++])]);
  }

 private:
  const std::shared_ptr<const ObjectList> list_;  // shared with the dataset
  const Bucket bucket_;
  const std::vector<Py_ssize_t> indices_;
  std::size_t next_ = 0;
};

class AllItems final : public ObjectItems {
 public:
  AllItems(std::shared_ptr<const ObjectList> list, const std::string& bucket)
      : list_(std::move(list)), bucket_{py::str(bucket), bucket} {}

  std::optional<ObjectItem> Next() override {
    if (next_ == list_->size()) return std::nullopt;
    return MakeItem(bucket_, (*list_)[next_++]);
  }

 private:
  const std::shared_ptr<const ObjectList> list_;  // shared with the dataset
  const Bucket bucket_;
  std::size_t next_ = 0;
};

}  // namespace

std::size_t IndexIn(const ObjectList& list, Py_ssize_t index) {
  const auto size = static_cast<Py_ssize_t>(list.size());
  if (index < -size || index >= size) {
    throw py::index_error("index " + std::to_string(index) + " is out of range; there are " +
                          std::to_string(size) + " objects");
  }
  return static_cast<std::size_t>(index < 0 ? index + size : index);
}

py::object MakeObjectInfo(const py::object& key, const ObjectSummary& object) {
  // The GIL guards both. With a C++ guard, a thread could wait for the guard while it holds the
  // GIL, and the guard's owner could wait for the GIL in an import.
  static PyTypeObject* type = nullptr;
  static PyObject* standard = nullptr;
  if (type == nullptr) type = NamedTupleType("ObjectInfo");
  if (standard == nullptr) standard = py::str("STANDARD").release().ptr();
  const py::object storage_class = object.storage_class.empty()
                                       ? py::reinterpret_borrow<py::object>(standard)
                                       : py::object(TextToPython(object.storage_class));
  return MakeNamedTuple(type,
                        {key, TextToPython("\"" + object.etag.value + "\""), py::int_(object.size),
                         py::int_(EpochSeconds(object.last_modified)), storage_class, py::none()});
}

py::object MakeKeyData(const py::object& bucket, const py::object& key, const py::object& info) {
  static PyTypeObject* type = nullptr;  // as above
  if (type == nullptr) type = NamedTupleType("S3BucketKeyData");
  return MakeNamedTuple(type, {bucket, key, info});
}

std::unique_ptr<ObjectItems> ItemsOf(py::iterator elements) {
  return std::make_unique<PythonItems>(std::move(elements));
}

std::unique_ptr<ObjectItems> ItemsListed(std::unique_ptr<Lister> pages, const std::string& bucket,
                                         std::uint64_t step, std::uint64_t first) {
  return std::make_unique<ListedItems>(std::move(pages), bucket, step, first);
}

std::unique_ptr<ObjectItems> ItemsChosen(std::shared_ptr<const ObjectList> list,
                                         const std::string& bucket,
                                         std::vector<Py_ssize_t> indices) {
  return std::make_unique<ChosenItems>(std::move(list), bucket, std::move(indices));
}

std::unique_ptr<ObjectItems> ItemsOfList(std::shared_ptr<const ObjectList> list,
                                         const std::string& bucket) {
  return std::make_unique<AllItems>(std::move(list), bucket);
}

}  // namespace penstock::python
