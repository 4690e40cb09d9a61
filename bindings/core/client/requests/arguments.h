// Keyword arguments from Python, and their conversion to the types of request members.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_ARGUMENTS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_ARGUMENTS_H_

#include <pybind11/pybind11.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/named_argument.h"
#include "penstock/bucket_configuration.h"
#include "penstock/object_configuration.h"
#include "penstock/object_store.h"

namespace penstock::python {

// Each function converts one value. Errors give the argument's name and the expected type or range,
// and the value only if it cannot be a secret.
void LoadValue(const std::string& name, pybind11::handle value, std::string& loaded);
void LoadValue(const std::string& name, pybind11::handle value, bool& loaded);
// A timezone-aware datetime, or seconds since the epoch.
void LoadValue(const std::string& name, pybind11::handle value, WallTime& loaded);
void LoadValue(const std::string& name, pybind11::handle value, ETag& loaded);  // Quotes optional.
void LoadValue(const std::string& name, pybind11::handle value, CustomerKey& loaded);
// A mapping of str to str, or pairs of str.
void LoadValue(const std::string& name, pybind11::handle value, NameValueList& loaded);
void LoadValue(const std::string& name, pybind11::handle value, std::vector<Tag>& loaded);
// (begin, end), half-open; either may be None. (-n, None): the last n bytes.
void LoadValue(const std::string& name, pybind11::handle value, RangeRequest& loaded);
void LoadValue(const std::string& name, pybind11::handle value, ByteRange& loaded);
void LoadValue(const std::string& name, pybind11::handle value, CopyDirective& loaded);
void LoadValue(const std::string& name, pybind11::handle value, LockMode& loaded);
void LoadValue(const std::string& name, pybind11::handle value, BucketVersioning& loaded);
void LoadValue(const std::string& name, pybind11::handle value, BucketConfigurationKind& loaded);
void LoadValue(const std::string& name, pybind11::handle value, ObjectConfigurationKind& loaded);
void LoadValue(const std::string& name, pybind11::handle value,
               std::vector<ObjectToDelete>& loaded);

template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) void LoadValue(const std::string& name,
                                                                    pybind11::handle value,
                                                                    T& loaded) {
  if (PyBool_Check(value.ptr())) throw pybind11::type_error(name + " must be int, not bool");
  argument::Load(name, value, loaded);
}
template <class Tag>
void LoadValue(const std::string& name, pybind11::handle value, NamedString<Tag>& loaded) {
  LoadValue(name, value, loaded.value);
}
template <class T>
void LoadValue(const std::string& name, pybind11::handle value, std::optional<T>& loaded) {
  LoadValue(name, value, loaded.emplace());
}

// The keyword arguments of one call. Needs the GIL.
class Arguments {
 public:
  Arguments(std::string operation, const pybind11::dict& values);

  // Removes an argument and returns it. Null if it is absent or None.
  pybind11::object Take(const char* name);
  // Same, and converts it. An absent argument leaves `loaded` unchanged.
  template <class T>
  void Load(const char* name, T& loaded) {
    if (const pybind11::object value = Take(name)) LoadValue(name, value, loaded);
  }
  // Same for an argument that must not be absent or None, such as the name of a bucket.
  template <class T>
  void LoadRequired(const char* name, T& loaded) {
    const pybind11::object value = Take(name);
    LoadValue(name, value ? value : pybind11::none(), loaded);
  }
  // Throws TypeError if an argument is left that no Take has asked for.
  void CheckAllTaken() const;

 private:
  struct Value {
    pybind11::object name;
    std::string_view text;  // Of `name`.
    pybind11::object value;
  };
  std::string operation_;
  // Not taken yet. A request asks for about 70 names, which a search in a few elements finds
  // faster than a dictionary, whose keys would have to be made.
  std::vector<Value> values_;
};

// Python's handle to cancel a call that another thread runs.
struct CancelSource {
  std::stop_source stop;
};

// Groups of arguments. The options include `cancel`, a CancelSource.
void LoadOptions(Arguments& arguments, CallOptions& options);
void LoadAttributes(Arguments& arguments, ObjectAttributes& attributes);
// The argument `document`: str or bytes.
void LoadDocument(Arguments& arguments, std::string& document);
void LoadGrants(Arguments& arguments, std::vector<Grant>& grants);
void LoadOverrides(Arguments& arguments, Sparse<ResponseOverrides>& overrides);
// The parts of CompleteMultipartUpload: CompletedPart and PartSummary objects of penstock.requests.
// Sets `object_size` to the sum of their sizes, unless the argument object_size is given.
void LoadParts(Arguments& arguments, std::vector<CompletedPart>& parts, std::uint64_t& object_size);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_ARGUMENTS_H_
