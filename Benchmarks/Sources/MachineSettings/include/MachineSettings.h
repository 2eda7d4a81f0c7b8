#ifndef MACHINE_SETTINGS_H
#define MACHINE_SETTINGS_H

/// Lets the calling thread run on one of the processors only that it may run on: the one of that number, counted round.
///
/// Threads that it makes inherit this. Returns 0, or an error number.
int stay_on_processor(int number);

/// Lets the allocator keep memory that it is given back, instead of giving it back to the system.
///
/// Returns 0 if it cannot.
int keep_freed_memory(void);

#endif
