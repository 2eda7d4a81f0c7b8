#ifndef COUNT_ALLOCATIONS_H
#define COUNT_ALLOCATIONS_H

/// How many blocks the heap has handed out to this thread.
long count_allocations(void);

/// How many blocks the heap has handed out to all threads while they were counted. Counts from now on, or no longer.
long count_all_allocations(int on);

#endif
