#include "Registration.h"

#include <stdatomic.h>

typedef void (*registration_function)(void);

static _Atomic(registration_function) registration;

void coredata_set_registration(void (*function)(void)) { atomic_store(&registration, function); }

void coredata_register(void) {
    registration_function function = atomic_load(&registration);
    if (function) function();
}
