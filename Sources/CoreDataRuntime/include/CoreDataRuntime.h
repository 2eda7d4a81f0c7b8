#ifndef COREDATA_RUNTIME_H
#define COREDATA_RUNTIME_H

#include <stdint.h>

#include "ProgramClasses.h"
#include "Registration.h"

/// Retains a Swift object unless its deinitialisation has begun; returns NULL in that case.
///
/// The Swift runtime exports this function for its own weak references. The identity map of a context needs the same
/// question answered without the side table (an allocation for each object) that a `weak` variable costs.
void *swift_tryRetain(void *object);

/// Retains a Swift object so many times at once.
///
/// The Swift runtime exports this function for the compiler, which joins retains that it sees next to each other. Many objects that are made in a
/// row and hold the same one pay for it together: two threads that count the same object one by one wait for each other's processors.
void *swift_retain_n(void *object, uint32_t times);

/// Returns freed memory to the system where it is much, and most of what the process has: the memory allocation keeps it otherwise.
void coredata_return_free_memory(void);

/// Whether the metadata of a Swift type is that of an enumeration with cases, none of which has an associated value. All bytes of its first case are zero.
///
/// Metadata and descriptions of types are part of Swift's stable ABI: https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst.
int coredata_is_plain_enumeration(const void *metadata);

/// Tells the processor that the memory at an address will be read soon. Any address will do; nothing is read.
static inline void coredata_prefetch(const void *address) { __builtin_prefetch(address); }

/// Lowers the priority of the calling thread a little, for good. It remains the usual one where the system cannot.
void coredata_let_others_go_first(void);

/// The entity of which this thread is making an object without values; see coredata_takes_no_values.
extern _Thread_local const void *coredata_entity_without_values;

/// The next object of the entity that this thread makes is to get no values: they come from a store.
static inline void coredata_expect_no_values(const void *entity) { coredata_entity_without_values = entity; }

/// Whether the object of the entity that is being made is the one that is to get no values. No other one is expected then.
static inline int coredata_takes_no_values(const void *entity) {
    if (coredata_entity_without_values != entity) return 0;
    coredata_entity_without_values = 0;
    return 1;
}

/// A byte of this thread's own.
extern _Thread_local char coredata_thread_mark;

/// Tells threads apart as long as they run: an address that no other thread has at the same time.
static inline uintptr_t coredata_thread(void) { return (uintptr_t)&coredata_thread_mark; }

#endif
