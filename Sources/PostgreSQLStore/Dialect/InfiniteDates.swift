#if PostgreSQL
internal import Foundation

/// Infinite dates in SQL.
enum InfiniteDates {
    /// Returns SQL of a date in which infinite dates are replaced by the dates that they are read as.
    static func bounded(_ sql: String) -> String {
        func date(_ date: Date) -> String {
            let seconds = Int64(date.timeIntervalSinceReferenceDate) + DatabaseEpoch.secondsBefore2001
            return "(timestamptz '2000-01-01 00:00:00+00' + interval '\(seconds) seconds')"
        }
        return
            "CASE \(sql) WHEN timestamptz 'infinity' THEN \(date(.distantFuture)) WHEN timestamptz '-infinity' THEN \(date(.distantPast)) ELSE \(sql) END"
    }
}
#endif
