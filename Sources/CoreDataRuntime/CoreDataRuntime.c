#include "CoreDataRuntime.h"

_Thread_local const void *coredata_entity_without_values = 0;
