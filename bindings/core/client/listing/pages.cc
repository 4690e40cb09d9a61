#include "bindings/core/client/listing/pages.h"

#include <cstddef>
#include <string>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/listing/object_items.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

py::list KeysToPython(const std::vector<std::string>& keys) {
  py::list list(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) list[i] = KeyToPython(keys[i]);
  return list;
}

}  // namespace

py::tuple PageToPython(const ListObjectsResponse& page) {
  py::list objects(page.objects.size());
  for (std::size_t i = 0; i < page.objects.size(); ++i)
    objects[i] = MakeObjectInfo(KeyToPython(page.objects[i].key.value), page.objects[i]);
  return py::make_tuple(objects, KeysToPython(page.common_prefixes), page.next_token);
}

py::tuple PageToPython(const ListObjectVersionsResponse& page) {
  py::list versions;
  for (const ObjectVersionSummary& v : page.versions) {
    // Includes fractions, because two versions may have the same second.
    const double modified = EpochTime(v.last_modified);
    versions.append(py::make_tuple(
        KeyToPython(v.key.value), TextToPython(v.version_id.value), v.is_latest, v.is_delete_marker,
        v.size, TextToPython(v.etag.value), modified, TextToPython(v.storage_class)));
  }
  return py::make_tuple(versions, KeysToPython(page.common_prefixes),
                        KeyToPython(page.next_key_marker),
                        TextToPython(page.next_version_id_marker.value));
}

}  // namespace penstock::python
