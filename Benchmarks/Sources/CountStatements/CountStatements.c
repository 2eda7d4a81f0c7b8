#include "CountStatements.h"
#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_long count;

static int note(unsigned event, void *context, void *statement, void *text) {
    (void)event;
    (void)context;
    (void)statement;
    (void)text;
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return 0;
}

struct sqlite3_api_routines;

static int opened(sqlite3 *database, const char **message, const struct sqlite3_api_routines *routines) {
    (void)message;
    (void)routines;
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, note, NULL);
}

// Whoever opens the connection, the toolkit or the store, SQLite calls an automatic extension for it.
int start_counting_statements(void) { return sqlite3_auto_extension((void (*)(void))opened); }

long count_statements(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
