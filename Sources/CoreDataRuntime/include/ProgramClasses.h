#ifndef COREDATA_PROGRAM_CLASSES_H
#define COREDATA_PROGRAM_CLASSES_H

/// Calls `visit` for every class of the program that stands at the top of a Swift module and is not generic, with the names of its module
/// and of itself. They are valid for the length of the call.
///
/// The Swift runtime lists the types of every loaded image for its own lookups by name; this reads the same lists. It costs a few
/// milliseconds in a large program, and nothing where it is not called. On Apple's platforms there is nothing to visit: there the
/// Objective-C runtime finds classes by their names.
void coredata_visit_classes(void (*visit)(const char *module, const char *name, void *context), void *context);

#endif
