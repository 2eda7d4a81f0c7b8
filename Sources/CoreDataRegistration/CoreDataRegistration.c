#include "CoreDataRegistration.h"

#include "CoreDataRuntime.h"

/// Registers the stores that ship; CoreData defines it (Registration.swift).
extern void coredata_register_what_ships(void);

__attribute__((constructor)) static void coredata_registration(void) { coredata_set_registration(coredata_register_what_ships); }
