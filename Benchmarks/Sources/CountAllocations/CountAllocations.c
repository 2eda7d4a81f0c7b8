#include "CountAllocations.h"
#include <stddef.h>

// glibc's own allocator, behind a malloc that counts: a program's malloc is taken for that of all libraries.
#if defined(__GLIBC__) || defined(__linux__)
extern void *__libc_malloc(size_t);
static __thread long count;

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

long count_allocations(void) { return count; }
#else
long count_allocations(void) { return -1; }
#endif
