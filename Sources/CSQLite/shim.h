// The SQLite of the system, for the SQLite store.
#pragma once
#include <sqlite3.h>

/// Lets the closing of a connection leave the write-ahead log as it is. A call with variable arguments, which Swift cannot make.
static inline int coredata_sqlite3_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
