// Two threads increment one plain int. ThreadSanitizer must report it in either order of the
// threads.
#include <thread>

int main() {
  int count = 0;
  const auto add = [&count] {
    for (int i = 0; i < 1000; ++i) ++count;
  };
  std::thread first(add);
  std::thread second(add);
  first.join();
  second.join();
  return 0;
}
