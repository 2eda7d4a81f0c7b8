#define _GNU_SOURCE
#include "MachineSettings.h"
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>

int stay_on_processor(int number) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return errno;
    int rest = number % CPU_COUNT(&allowed);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, &allowed) || rest-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0 ? 0 : errno;
    }
    return EINVAL;
}

int keep_freed_memory(void) { return mallopt(M_TRIM_THRESHOLD, INT_MAX); }
