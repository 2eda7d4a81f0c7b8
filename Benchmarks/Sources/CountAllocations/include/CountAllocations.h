#ifndef COUNT_ALLOCATIONS_H
#define COUNT_ALLOCATIONS_H

/// How many blocks the heap has handed out to this thread.
long count_allocations(void);

#endif
