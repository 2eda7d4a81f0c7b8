#include "CoreDataRuntime.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sys/resource.h>
#elif defined(__APPLE__)
#include <pthread/qos.h>
#endif

_Thread_local const void *coredata_entity_without_values = 0;

_Thread_local char coredata_thread_mark = 0;

void coredata_return_free_memory(void) {
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    // What is freed again and again stays: asking the system for it each time costs more than it is worth.
    struct mallinfo2 memory = mallinfo2();
    if (memory.fordblks < ((size_t)64 << 20) || memory.fordblks < memory.uordblks) return;
#endif
    malloc_trim(0);
#endif
}

void coredata_let_others_go_first(void) {
#if defined(__linux__)
    // On Linux, 0 is the calling thread, not the process: setpriority(2), "C library/kernel differences".
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
#elif defined(__APPLE__)
    pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#endif
}

int coredata_is_plain_enumeration(const void *metadata) {
    enum { kindOfEnumerations = 0x201, payloadMask = 0xFFFFFF };
    struct Description {
        uint32_t flags;
        int32_t parent, name, accessFunction, fields;
        /// The number of cases with associated values, and in the highest byte an offset.
        uint32_t payloadCases;
        uint32_t emptyCases;
    };
    struct Metadata {
        uintptr_t kind;
        const struct Description *description;
    };
    const struct Metadata *type = metadata;
    if (type->kind != kindOfEnumerations) return 0;
    return (type->description->payloadCases & payloadMask) == 0 && type->description->emptyCases > 0;
}
