// The SQLite of the system, for the SQLite store.
#pragma once
#include <sqlite3.h>
