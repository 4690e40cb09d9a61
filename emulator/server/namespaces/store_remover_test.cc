#include "emulator/server/namespaces/store_remover.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <utility>
#include <vector>

namespace penstock::emulator::server {
namespace {

struct Item final : StoreRemover::Item {
  explicit Item(std::function<void()> work) : work_(std::move(work)) {}
  ~Item() override { work_(); }

 private:
  std::function<void()> work_;
};

std::unique_ptr<Item> MakeItem(std::function<void()> work) {
  return std::make_unique<Item>(std::move(work));
}

TEST(StoreRemoverTest, DestroysOnAnotherThread) {
  std::promise<std::thread::id> destroyer;
  StoreRemover remover;
  remover.Add(MakeItem([&] { destroyer.set_value(std::this_thread::get_id()); }));
  EXPECT_NE(destroyer.get_future().get(), std::this_thread::get_id());
}

TEST(StoreRemoverTest, AddDoesNotWaitForTheItemsBefore) {
  std::promise<void> gate;
  std::vector<int> destroyed;
  {
    StoreRemover remover;
    remover.Add(MakeItem([&] { gate.get_future().wait(); }));
    for (int i = 0; i < 3; ++i) {
      remover.Add(MakeItem([&destroyed, i] { destroyed.push_back(i); }));
    }
    gate.set_value();
  }
  EXPECT_EQ(destroyed, (std::vector<int>{0, 1, 2}));
}

TEST(StoreRemoverTest, HelpDestroysSurplusItemsOnTheCallersThread) {
  std::promise<void> begun;
  std::promise<void> gate;
  int here = 0;
  const auto caller = std::this_thread::get_id();
  StoreRemover remover;
  remover.Add(MakeItem([&] {
    begun.set_value();
    gate.get_future().wait();
  }));
  begun.get_future().wait();
  for (int i = 0; i < 5; ++i) {
    remover.Add(MakeItem([&] { here += std::this_thread::get_id() == caller ? 1 : 0; }));
  }
  remover.Help(5);
  EXPECT_EQ(here, 0);
  remover.Help(2);
  EXPECT_EQ(here, 3);
  gate.set_value();
}

}  // namespace
}  // namespace penstock::emulator::server
