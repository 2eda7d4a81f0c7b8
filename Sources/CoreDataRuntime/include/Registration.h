#ifndef COREDATA_REGISTRATION_H
#define COREDATA_REGISTRATION_H

/// Says which function registers the stores that ship above the object graph. A constructor calls it while the program is loaded; nothing of
/// Swift runs then.
void coredata_set_registration(void (*registration)(void));

/// Calls the function that was set; does nothing in a program that links the object graph alone.
void coredata_register(void);

#endif
