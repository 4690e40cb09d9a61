// Files and directories: transfers that block the calling thread.
#include <fcntl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/io/rename.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/progress.h"
#include "bindings/core/client/requests/arguments.h"
#include "bindings/core/client/requests/results.h"
#include "penstock/base/mutex.h"
#include "penstock/files.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

void LoadUpload(Arguments& arguments, UploadOptions& options) {
  arguments.Load("part_size", options.part_size_bytes);
  arguments.Load("parallel", options.max_parallel_parts);
  arguments.Load("if_match", options.if_match);
  arguments.Load("if_none_match", options.if_none_match_any);
  LoadAttributes(arguments, options.attributes);
}

void LoadDownload(Arguments& arguments, FileDownloadOptions& options) {
  arguments.Load("part_size", options.part_size_bytes);
  arguments.Load("parallel", options.max_parallel_parts);
  arguments.Load("version_id", options.version_id);
  arguments.Load("if_match", options.if_match);
  arguments.Load("sse_customer_key", options.customer_key);
  arguments.Load("listed_size", options.listed.size);
  arguments.Load("listed_etag", options.listed.etag);
  arguments.Load("sync", options.sync);
  arguments.Load("replace", options.replace);
}

// Completed files that Python has not seen yet. The callback of Python runs on the waiting thread,
// as that of Progress.
class FileReports {
 public:
  // `callback` may be None.
  explicit FileReports(py::object callback) : callback_(std::move(callback)) {}

  // For DirectoryOptions::on_file. Must not outlive this object.
  std::function<void(const std::string&, const ObjectKey&, const Error*)> collector() {
    if (callback_.is_none()) return nullptr;
    return [this](const std::string& path, const ObjectKey& key, const Error* error) {
      const MutexLock lock(mutex_);
      files_.push_back({path, key, error == nullptr ? std::nullopt : std::optional(*error)});
    };
  }
  // As Progress::interrupt.
  Interrupt interrupt() {
    return [this] {
      if (SignalPending()) return true;
      if (!waiting()) return false;
      const HeldGil gil;
      return ReportNoThrow();
    };
  }
  // Reports the last files. Throws exceptions of the callback. Needs the GIL.
  void Report() {
    if (ReportNoThrow()) throw py::error_already_set();
  }

 private:
  struct File {
    std::string path;
    ObjectKey key;
    std::optional<Error> error;
  };

  bool waiting() {
    const MutexLock lock(mutex_);
    return !files_.empty();
  }
  std::vector<File> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(files_, {});
  }

  bool ReportNoThrow() {  // true: the callback raised
    for (const File& file : Take()) {
      const py::str path = KeyToPython(file.path);
      const py::str key = KeyToPython(file.key.value);
      const py::object error = file.error ? ExceptionOf(*file.error) : py::object(py::none());
      const auto returned = py::reinterpret_steal<py::object>(PyObject_CallFunctionObjArgs(
          callback_.ptr(), path.ptr(), key.ptr(), error.ptr(), nullptr));
      if (!returned) return true;
    }
    return false;
  }

  const py::object callback_;
  Mutex mutex_;
  std::vector<File> files_ PENSTOCK_GUARDED_BY(mutex_);
};

py::object Upload(const PyClient& self, const py::dict& values, py::object callback) {
  Arguments arguments("upload_file", values);
  std::string path;
  BucketName bucket;
  ObjectKey key;
  UploadOptions options;
  arguments.Load("filename", path);
  arguments.LoadRequired("bucket", bucket.value);
  arguments.LoadRequired("key", key.value);
  LoadUpload(arguments, options);
  LoadOptions(arguments, options.call);
  arguments.CheckAllTaken();
  const Progress progress(std::move(callback));
  options.progress = progress.counter();
  auto result = WithoutGil([&] {
    return UploadFile(self.client, path, std::move(bucket), std::move(key), std::move(options),
                      progress.interrupt());
  });
  const UploadResponse response = Unwrap(std::move(result));
  progress.Report();
  return ToPython(response);
}

py::object Download(const PyClient& self, const py::dict& values, py::object callback) {
  Arguments arguments("download_file", values);
  std::string path;
  BucketName bucket;
  ObjectKey key;
  FileDownloadOptions options;
  arguments.LoadRequired("bucket", bucket.value);
  arguments.LoadRequired("key", key.value);
  arguments.Load("filename", path);
  LoadDownload(arguments, options);
  LoadOptions(arguments, options.call);
  arguments.CheckAllTaken();
  const Progress progress(std::move(callback));
  options.progress = progress.counter();
  auto result = WithoutGil([&] {
    return DownloadFile(self.client, std::move(bucket), std::move(key), path, std::move(options),
                        progress.interrupt());
  });
  const FileDownloadResponse response = Unwrap(std::move(result));
  progress.Report();
  return ToPython(response.metadata);
}

// Both directions: they differ in the options of the files.
py::object TransferDirectory(const PyClient& self, bool upload, const py::dict& values,
                             py::object callback) {
  Arguments arguments(upload ? "upload_directory" : "download_directory", values);
  std::string folder;
  std::string prefix;
  BucketName bucket;
  DirectoryOptions options;
  bool follow = false;
  arguments.Load("folder", folder);
  arguments.LoadRequired("bucket", bucket.value);
  arguments.Load("prefix", prefix);
  arguments.Load("parallel_files", options.max_parallel_files);
  arguments.Load("max_failures", options.max_failures);
  if (upload) {
    arguments.Load("follow_symlinks", follow);
    LoadUpload(arguments, options.upload);
  } else {
    LoadDownload(arguments, options.download);
  }
  if (follow) options.symlinks = Symlinks::kFollow;
  LoadOptions(arguments, options.call);
  arguments.CheckAllTaken();
  FileReports reports(std::move(callback));
  options.on_file = reports.collector();
  auto result = WithoutGil([&] {
    return upload ? UploadDirectory(self.client, folder, std::move(bucket), prefix,
                                    std::move(options), reports.interrupt())
                  : DownloadDirectory(self.client, std::move(bucket), prefix, folder,
                                      std::move(options), reports.interrupt());
  });
  const DirectoryResponse response = Unwrap(std::move(result));
  reports.Report();
  return ToPython(response);
}

void RenameNewFile(Text<"source"> source, Text<"target"> target) {
  Unwrap(WithoutGil([&] {
    return RenameFile(AT_FDCWD, source.value, target.value, ExistingFile::kKeep, target.value);
  }));
}

}  // namespace

void BindFiles(py::module_& module, Guarded<PyClient>& client) {
  module.def("rename_new_file", &RenameNewFile, "source"_a, "target"_a,
             "Renames a file. Raises S3ConflictError if `target` exists, and replaces nothing.");
  module.def(
      "temporary_files_of_process", &TemporaryFilesOfProcess,
      "Returns the first eight of the 16 digits in the names of this process's temporary files.");
  client.def("upload_file", &Upload, "arguments"_a, "progress"_a)
      .def("download_file", &Download, "arguments"_a, "progress"_a)
      .def("transfer_directory", &TransferDirectory, "upload"_a, "arguments"_a, "on_file"_a);
}

}  // namespace penstock::python
