#include <stddef.h>
#include <stdint.h>

/// From libFuzzer: runs the fuzzer with command-line arguments, calling `test` with each input.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *bytes, size_t count));
