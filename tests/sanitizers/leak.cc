// Leaks a heap object. LeakSanitizer must report it at exit.
int* Forget() { return new int(7); }

int main() {
  for (int i = 0; i < 100; ++i) Forget();
  return 0;
}
