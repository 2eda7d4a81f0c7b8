// The module holds only the declarations of its header.

_Thread_local const void *coredata_entity_without_values = 0;
