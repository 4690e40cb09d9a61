#include "base/text/byte_runs.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace penstock::internal {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool StopsText(char c) { return c == '<' || c == '&' || static_cast<unsigned char>(c) < 0x20; }

template <class Predicate>
std::size_t FirstAtOrPast(std::string_view text, std::size_t at, Predicate predicate) {
  while (at < text.size() && !predicate(text[at])) ++at;
  return at;
}

TEST(ByteRunsTest, ClassifiesEveryByteAtEveryOffset) {
  for (int value = 0; value < 256; ++value) {
    for (std::size_t place = 0; place < 8; ++place) {
      std::string letters(8, 'm');
      letters[place] = static_cast<char>(value);
      EXPECT_EQ(NonLetters(LoadWord(letters.data())) != 0, !IsLetter(letters[place]))
          << value << " at " << place;
      EXPECT_EQ(TextStops(LoadWord(letters.data())) != 0, StopsText(letters[place]))
          << value << " at " << place;
    }
  }
}

TEST(ByteRunsTest, AgreesWithAByteByByteSearch) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text)
      c = static_cast<char>(random() % 4 == 0 ? random() : "abzAZ<&>\x80\t@[`{ "[random() % 15]);
    const std::size_t at = random() % (text.size() + 1);
    const std::size_t letters = SkipRun<NonLetters>(text, at);
    const std::size_t plain = SkipRun<TextStops>(text, at);
    // The caller checks at most the last seven bytes itself.
    EXPECT_EQ(FirstAtOrPast(text, letters, [](char c) { return !IsLetter(c); }),
              FirstAtOrPast(text, at, [](char c) { return !IsLetter(c); }))
        << text;
    EXPECT_EQ(FirstAtOrPast(text, plain, StopsText), FirstAtOrPast(text, at, StopsText)) << text;
  }
}

TEST(ByteRunsTest, SkipsLongRuns) {
  EXPECT_EQ(SkipRun<TextStops>(std::string(64, 'x'), 0), 64U);
  EXPECT_EQ(SkipRun<NonLetters>(std::string(30, 'x'), 3), 27U);
}

}  // namespace
}  // namespace penstock::internal
