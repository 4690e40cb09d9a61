// Files and directories: uploads a folder, downloads it to another one, and prints what failed.
#include <cstdio>

#include "command_line.h"
#include "penstock/files.h"

namespace {

void Report(const char* what, const penstock::Result<penstock::DirectoryResponse>& result) {
  if (!result.ok()) examples::Die(result.error().ToString());
  std::printf("%s %llu files, %llu bytes\n", what, static_cast<unsigned long long>(result->files),
              static_cast<unsigned long long>(result->bytes));
  for (const std::string& path : result->skipped) std::printf("skipped %s\n", path.c_str());
  for (const penstock::FileFailure& failure : result->failures)
    std::fprintf(stderr, "%s: %s\n", failure.path.c_str(), failure.error.ToString().c_str());
  if (!result->failures.empty()) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "files FOLDER s3://bucket/prefix/ COPY [--endpoint URL] [--region NAME]", {});
  const std::string folder = line.Argument(0);
  const auto [bucket, prefix] = line.ParsePlace(line.Argument(1));
  const std::string copy = line.Argument(2);
  const std::shared_ptr<penstock::Client> client = line.MakeClient();

  Report("uploaded", penstock::UploadDirectory(client, folder, bucket, prefix));
  Report("downloaded", penstock::DownloadDirectory(client, bucket, prefix, copy));

  // One file: the object appears when it is complete, and so does the file.
  const penstock::ObjectKey key(prefix + "one");
  const auto sent = penstock::UploadFile(client, argv[0], bucket, key);
  if (!sent.ok()) examples::Die(sent.error().ToString());
  const auto got = penstock::DownloadFile(client, bucket, key, copy + "/one", {.sync = true});
  if (!got.ok()) examples::Die(got.error().ToString());
  std::printf("one file: %s\n", got->bytes == sent->bytes ? "same size" : "different sizes");
}
