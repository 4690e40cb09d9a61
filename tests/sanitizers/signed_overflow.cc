// Adds beyond INT_MAX. UndefinedBehaviorSanitizer must end it, not only report it.
#include <climits>

int main() {
  volatile int number = INT_MAX;
  number = number + 1;
  return 0;
}
