// Coroutines on a thread of the program: writes all objects under a prefix to one local file. Each
// co_await continues in a queue that the main thread runs. So the code after it may block, and what
// the coroutines share needs no mutex.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "command_line.h"
#include "penstock/transfer.h"

using examples::Must;
using penstock::ObjectKey;
using penstock::Pending;

namespace {

// Tasks of any thread, for one thread that runs them.
class TaskQueue {
 public:
  // Used while this queue exists.
  penstock::CallbackExecutor Executor() {
    return [this](std::function<void()> task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      added_.notify_one();
    };
  }
  // Waits for a task and runs it.
  void RunOne() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [this] { return !tasks_.empty(); });
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> tasks_;
};

// What the coroutines share. Only the thread of the queue uses it.
struct Output {
  std::ofstream file;
  std::uint64_t bytes = 0;
  const std::thread::id thread = std::this_thread::get_id();
};

Pending<penstock::NoResponse> Append(penstock::Client& client, penstock::CallbackExecutor executor,
                                     penstock::BucketName bucket, ObjectKey key, Output& output) {
  auto read = client.GetObjectAsync(bucket, key);
  const auto object = co_await std::move(read).On(executor);
  if (std::this_thread::get_id() != output.thread) examples::Die("on another thread");
  if (!object.ok()) co_return object.error();
  output.file << object->body << std::flush;  // may block
  output.bytes += object->body.size();
  co_return penstock::NoResponse();
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "executor s3://bucket/prefix/ FILE [--endpoint URL] [--region NAME]", {});
  const auto [bucket, prefix] = line.ParsePlace(line.Argument(0));
  Output output{.file = std::ofstream(line.Argument(1), std::ios::binary)};
  TaskQueue queue;
  const auto client = line.MakeClient();

  std::vector<Pending<penstock::NoResponse>> appended;
  const auto pages = penstock::Lister::Create(client, {.bucket = bucket, .prefix = prefix});
  while (const auto page = Must(pages->Next())) {
    for (const auto& object : page->objects)
      appended.push_back(Append(*client, queue.Executor(), bucket, object.key, output));
  }
  for (Pending<penstock::NoResponse>& one : appended) {
    while (!one.ready()) queue.RunOne();  // the loop of a program with other work, too
    Must(one.Get());
  }
  if (!output.file.flush()) examples::Die("cannot write " + line.Argument(1));
  std::printf("%zu objects, %llu bytes\n", appended.size(),
              static_cast<unsigned long long>(output.bytes));
}
