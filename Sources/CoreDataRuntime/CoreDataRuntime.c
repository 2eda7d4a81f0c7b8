#include "CoreDataRuntime.h"

_Thread_local const void *coredata_entity_without_values = 0;

_Thread_local char coredata_thread_mark = 0;
