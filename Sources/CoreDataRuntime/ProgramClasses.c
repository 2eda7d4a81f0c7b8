#include "ProgramClasses.h"

#if !defined(__APPLE__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The layout of what the compiler and the runtime keep about types is part of Swift's stable ABI:
// https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst and include/swift/ABI/Metadata.h.

struct Range {
    uintptr_t start;
    size_t length;
};

/// The lists of one image. What follows is not read.
struct MetadataSections {
    uintptr_t version;
    const void *baseAddress;
    const void *unused0;
    const void *unused1;
    struct Range protocols;
    struct Range conformances;
    struct Range types;
};

/// What the runtime of Swift 5.4 and later exports for tools that look for types, such as the discovery of tests.
extern void swift_enumerateAllMetadataSections(
    bool (*body)(const struct MetadataSections *sections, void *context), void *context);

/// The head of the description of a type, module or other context. All but the flags are distances from their own address.
struct ContextDescriptor {
    uint32_t flags;
    int32_t parent;
    int32_t name;
};

enum { kindMask = 0x1F, kindOfModules = 0, kindOfClasses = 16, isGeneric = 0x80 };

struct Visit {
    void (*visit)(const char *module, const char *name, void *context);
    void *context;
};

static const void *target(const int32_t *field, int32_t distance) { return (const char *)field + distance; }

/// What a field whose lowest bit says that it leads to the address of an address refers to.
static const void *indirectableTarget(const int32_t *field) {
    if (*field == 0) return NULL;
    const void *place = target(field, *field & ~1);
    return *field & 1 ? *(const void *const *)place : place;
}

/// What an entry in the list of types refers to: its two lowest bits say whether directly (0) or through an address (1).
static const struct ContextDescriptor *describedType(const int32_t *entry) {
    const int32_t distance = *entry & ~3;
    if (distance == 0) return NULL;
    const void *place = target(entry, distance);
    switch (*entry & 3) {
    case 0: return place;
    case 1: return *(const void *const *)place;
    default: return NULL;
    }
}

static bool visitTypes(const struct MetadataSections *sections, void *context) {
    const struct Visit *visit = context;
    const int32_t *entries = (const int32_t *)sections->types.start;
    const size_t count = sections->types.length / sizeof(int32_t);
    for (size_t index = 0; index < count; index++) {
        const struct ContextDescriptor *type = describedType(&entries[index]);
        if (type == NULL || (type->flags & kindMask) != kindOfClasses || (type->flags & isGeneric) != 0) continue;
        const struct ContextDescriptor *module = indirectableTarget(&type->parent);
        if (module == NULL || (module->flags & kindMask) != kindOfModules) continue;
        visit->visit(target(&module->name, module->name), target(&type->name, type->name), visit->context);
    }
    return true;
}

void coredata_visit_classes(void (*visit)(const char *module, const char *name, void *context), void *context) {
    struct Visit all = {visit, context};
    swift_enumerateAllMetadataSections(visitTypes, &all);
}

#else

void coredata_visit_classes(void (*visit)(const char *module, const char *name, void *context), void *context) {}

#endif
