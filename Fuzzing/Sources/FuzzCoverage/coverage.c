// The Swift compiler reports coverage by guards, which the libFuzzer beside it no longer takes: it takes counters in a section of this name.
// So the guards count here: the linker is told to call these two functions in the place of libFuzzer's, which stop the program.
#include "coverage.h"

#include <stdint.h>

#define COUNTERS (1 << 16)

__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[COUNTERS];

void __wrap___sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  static uint32_t next = 0;
  for (uint32_t *guard = start; guard < stop; guard++) {
    if (*guard == 0) *guard = ++next % COUNTERS;
  }
}

void __wrap___sanitizer_cov_trace_pc_guard(uint32_t *guard) { counters[*guard]++; }

void fuzz_coverage_link(void) {}
