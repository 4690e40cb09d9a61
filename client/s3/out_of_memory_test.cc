// Fails each allocation of a call once: the call must end exactly once, with an error or with the
// correct result.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/allocation_failures.h"
#include "client/s3/client_for_test.h"
#include "client/s3/delete_one_by_one.h"

namespace penstock::s3 {
namespace {

using penstock::testing::FailsAllocation;
using penstock::testing::ForEachAllocation;
using penstock::testing::PausesFailures;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Runs all waiting tasks and expects exactly one completion of the read.
void ExpectOneCompletion(HedgingClient& test) {
  while (test.transport.Release() != 0) {
  }
  test.transport.Advance(seconds(1));
  EXPECT_EQ(test.completions, 1);
  ASSERT_TRUE(test.result);
}

// The transport's timer runs the code that starts the second request.
TEST(OutOfMemory, AReadCompletesOnceIfTheSecondRequestCannotStart) {
  const int allocations = ForEachAllocation([](int nth) {
    HedgingClient test;
    test.transport.Expect(Object("abc"));
    test.transport.Expect(Object("abc"));
    test.Begin();
    test.transport.clock().Advance(milliseconds(60));
    const std::function<void()> second = test.transport.TakeDueTask();
    const bool failed = FailsAllocation(nth, [&] {
      try {
        second();
      } catch (const std::bad_alloc&) {  // As an I/O thread does (reactor.cc).
      }
    });
    ExpectOneCompletion(test);
    EXPECT_TRUE(test.result->ok());
    EXPECT_EQ(test.sink.text, "abc");
    return failed;
  });
  EXPECT_GT(allocations, 5);
}

// The first request is in flight when its timer cannot be set.
TEST(OutOfMemory, AReadCompletesOnceIfItCannotStart) {
  const int allocations = ForEachAllocation([](int nth) {
    HedgingClient test;
    test.transport.Expect(Object("abc"));
    test.transport.Expect(Object("abc"));
    const bool failed = FailsAllocation(nth, [&] { test.Begin(); });
    EXPECT_TRUE(!test.result || test.transport.waiting() == 0u)
        << "a request continues after its call has ended";
    ExpectOneCompletion(test);
    EXPECT_TRUE(test.result->ok() || test.result->error().kind == ErrorKind::kResourceExhausted);
    return failed;
  });
  EXPECT_GT(allocations, 5);
}

DeleteObjectsRequest TwentyKeysOfTwoKinds() {
  DeleteObjectsRequest request{BucketName("a-bucket-with-a-long-name"), {}, {}};
  for (int i = 0; i < 20; ++i) {
    request.keys.emplace_back("a key that is longer than a small string " + std::to_string(i) +
                              (i % 4 == 0 ? "" : "\x01"));
  }
  return request;
}

// The requests of a deletion, completed during their start or later.
struct Deletes {
  bool later;
  std::deque<std::function<void()>> waiting = {};
  std::vector<std::string> deleted = {};
  int completions = 0;
  std::optional<Result<DeleteObjectsResponse>> result = {};

  template <class Response>
  void Respond(PausesFailures& pause, Callback<Response> done, Result<Response> response) {
    // Shared, because std::function needs a copy constructor. The response itself must be moved,
    // not copied.
    auto respond = [done = std::move(done),
                    response = std::make_shared<Result<Response>>(std::move(response))] {
      done(std::move(*response));
    };
    if (later) return waiting.push_back(std::move(respond));
    EXPECT_TRUE(pause.Resume(respond).ok()) << "an exception left a completion";
  }

  DeleteVerbs Verbs() {
    return {[this](const DeleteObjectsRequest& request, Callback<DeleteObjectsResponse> done) {
              PausesFailures pause;
              DeleteObjectsResponse response;
              for (const ObjectKey& key : request.keys)
                response.failures.push_back({key, kCode, "message"});
              Respond<DeleteObjectsResponse>(pause, std::move(done), std::move(response));
            },
            [this](const DeleteObjectRequest& request, Callback<DeleteObjectResponse> done) {
              PausesFailures pause;
              deleted.push_back(request.key.value);
              Error error = Error::Make(ErrorKind::kAccessDenied, "message");
              error.code = kCode;
              Respond<DeleteObjectResponse>(pause, std::move(done), std::move(error));
            }};
  }

  // Runs the deletion to its end while the nth allocation fails. Returns whether there were that
  // many allocations.
  bool Run(int nth, DeleteObjectsRequest request) {
    DeleteVerbs verbs = Verbs();
    Callback<DeleteObjectsResponse> done = [this](Result<DeleteObjectsResponse> ended) {
      const PausesFailures pause;
      ++completions;
      result.emplace(std::move(ended));
    };
    return FailsAllocation(nth, [&] {
      StartDeleteOneByOne(std::move(verbs), std::move(request), std::move(done));
      while (!waiting.empty()) {
        const std::function<void()> respond = std::move(waiting.front());
        waiting.pop_front();
        respond();
      }
    });
  }

  inline static const std::string kCode = "ACodeThatIsLongerThanASmallString";
};

TEST(OutOfMemory, ADeletionOneByOneCompletesOnce) {
  for (const bool later : {false, true}) {
    const int allocations = ForEachAllocation([&](int nth) {
      Deletes deletes{.later = later};
      const DeleteObjectsRequest request = TwentyKeysOfTwoKinds();
      const bool failed = deletes.Run(nth, request);
      EXPECT_EQ(deletes.completions, 1);
      if (!deletes.result) return false;
      if (!deletes.result->ok()) {
        EXPECT_EQ(deletes.result->error().kind, ErrorKind::kResourceExhausted);
        return failed;
      }
      const auto& failures = (*deletes.result)->failures;
      EXPECT_EQ(failures.size(), request.keys.size());
      for (std::size_t i = 0; i < std::min(failures.size(), request.keys.size()); ++i) {
        EXPECT_EQ(failures[i].key, request.keys[i]);
        EXPECT_EQ(failures[i].code, Deletes::kCode);
      }
      return failed;
    });
    EXPECT_GT(allocations, 50) << later;
  }
}

// Same through the client, whose transport holds the requests back.
TEST(OutOfMemory, ADeletionOfAClientCompletesOnceIfItCannotStart) {
  const int allocations = ForEachAllocation([](int nth) {
    ClientUnderTest test;
    test.transport.SetHandler([](const http::RecordedRequest& sent) {
      return sent.request.method == "POST" ? FakeReply::Respond(200, {}, "<DeleteResult/>")
                                           : FakeReply::Respond(204);
    });
    test.transport.Hold();
    int completions = 0;
    std::optional<Result<DeleteObjectsResponse>> result;
    DeleteObjectsRequest request = TwentyKeysOfTwoKinds();
    Callback<DeleteObjectsResponse> done = [&](Result<DeleteObjectsResponse> ended) {
      ++completions;
      result.emplace(std::move(ended));
    };
    const bool failed =
        FailsAllocation(nth, [&] { test.client->Start(std::move(request), std::move(done)); });
    while (test.transport.Release() != 0) {
    }
    EXPECT_EQ(completions, 1);
    if (!result) return false;
    EXPECT_TRUE(result->ok() || result->error().kind == ErrorKind::kResourceExhausted);
    return failed;
  });
  EXPECT_GT(allocations, 50);
}

}  // namespace
}  // namespace penstock::s3
