#include "emulator/store/records/text_arena.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::emulator::store {
namespace {

TEST(TextArenaTest, ViewsStayValidAfterMoreCopies) {
  TextArena arena;
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i < 5000; ++i)
    texts.push_back(std::to_string(i) + std::string(i % 97, 'x'));
  texts.push_back(std::string(200'000, 'y'));  // larger than a block
  texts.push_back("after");
  for (const std::string& text : texts) views.push_back(arena.Copy(text));
  EXPECT_TRUE(std::equal(texts.begin(), texts.end(), views.begin(), views.end()));
}

TEST(TextArenaTest, ViewsStayValidAfterAMove) {
  TextArena arena;
  const std::string_view view = arena.Copy("text");
  const TextArena moved = std::move(arena);
  EXPECT_EQ(view, "text");
}

TEST(TextArenaTest, CopiesAreIndependentOfTheSource) {
  TextArena arena;
  std::string text = "before";
  const std::string_view view = arena.Copy(text);
  text = "after";
  EXPECT_EQ(view, "before");
  EXPECT_EQ(arena.Copy(""), "");
}

}  // namespace
}  // namespace penstock::emulator::store
