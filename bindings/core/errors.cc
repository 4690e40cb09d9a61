#include "bindings/core/errors.h"

#include <chrono>
#include <string>

namespace penstock::python {

namespace py = pybind11;

py::object ExceptionOf(const Error& error) {
  py::dict fields;
  fields["kind"] = py::str(std::string(ErrorKindName(error.kind)));
  fields["message"] = py::bytes(error.message).attr("decode")("utf-8", "replace");
  fields["code"] = error.code;
  fields["status"] = error.http_status;
  fields["request_id"] = error.request_id;
  fields["host_id"] = error.host_id;
  fields["operation"] = error.operation;
  fields["bucket"] = py::bytes(error.bucket).attr("decode")("utf-8", "replace");
  fields["key"] = py::bytes(error.key).attr("decode")("utf-8", "replace");
  fields["region"] = error.region;
  fields["setting"] = error.setting;
  fields["attempts"] = error.attempts;
  py::list history;
  for (const FailedAttempt& attempt : error.history) {
    const auto text = [](const std::string& bytes) { return py::bytes(bytes).attr("decode")("utf-8", "replace"); };
    history.append(py::make_tuple(std::chrono::duration<double>(attempt.at.time_since_epoch()).count(),
                                  std::chrono::duration<double>(attempt.duration).count(), attempt.address,
                                  attempt.http_status, text(attempt.code), text(attempt.request_id), text(attempt.ToString())));
  }
  fields["history"] = history;
  return py::module_::import("penstock._exceptions").attr("from_error")(**fields);
}

void Raise(const Error& error) {
  const py::object exception = ExceptionOf(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

}  // namespace penstock::python
