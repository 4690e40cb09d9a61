#include "bindings/core/errors.h"

#include <chrono>
#include <string>

namespace penstock::python {

namespace py = pybind11;

py::object ExceptionOf(const Error& error) {
  py::dict fields;
  fields["kind"] = py::str(std::string(ErrorKindName(error.kind)));
  fields["message"] = TextToPython(error.message);
  fields["code"] = TextToPython(error.code);
  fields["status"] = error.http_status;
  fields["request_id"] = TextToPython(error.request_id);
  fields["host_id"] = TextToPython(error.host_id);
  fields["operation"] = TextToPython(error.operation);
  fields["bucket"] = TextToPython(error.bucket);
  fields["key"] = TextToPython(error.key);
  fields["region"] = TextToPython(error.region);
  fields["setting"] = TextToPython(error.setting);
  fields["attempts"] = error.attempts;
  py::list history;
  for (const FailedAttempt& attempt : error.history) {
    history.append(
        py::make_tuple(std::chrono::duration<double>(attempt.at.time_since_epoch()).count(),
                       std::chrono::duration<double>(attempt.duration).count(), attempt.address,
                       attempt.http_status, TextToPython(attempt.code),
                       TextToPython(attempt.request_id), TextToPython(attempt.ToString())));
  }
  fields["history"] = history;
  // Those of other errors may repeat secrets of the request.
  if (error.kind == ErrorKind::kNotModified) {
    py::list details;
    for (const auto& [name, value] : error.details)
      details.append(py::make_tuple(TextToPython(name), TextToPython(value)));
    fields["details"] = details;
  }
  return py::module_::import(kExceptionModule).attr("from_error")(**fields);
}

void Raise(const Error& error) {
  const py::object exception = ExceptionOf(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

}  // namespace penstock::python
