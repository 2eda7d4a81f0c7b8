#ifndef COREDATA_RUNTIME_H
#define COREDATA_RUNTIME_H

#include "ProgramClasses.h"

/// Retains a Swift object unless its deinitialisation has begun; returns NULL in that case.
///
/// The Swift runtime exports this function for its own weak references. The identity map of a context needs the same
/// question answered without the side table (an allocation for each object) that a `weak` variable costs.
void *swift_tryRetain(void *object);

/// Tells the processor that the memory at an address will be read soon. Any address will do; nothing is read.
static inline void coredata_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
