#include "CoreDataRuntime.h"

_Thread_local const void *coredata_entity_without_values = 0;

_Thread_local char coredata_thread_mark = 0;

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
