#ifndef COUNT_STATEMENTS_H
#define COUNT_STATEMENTS_H

/// Counts the statements that connections of this process run which are opened from now on.
///
/// Returns 0, or SQLite's error code.
int start_counting_statements(void);

/// How many statements have started since counting began.
long count_statements(void);

#endif
