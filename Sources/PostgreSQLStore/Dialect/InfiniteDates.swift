internal import Foundation

/// Infinite dates in SQL.
enum InfiniteDates {
    /// The seconds from PostgreSQL's first day, in 2000, to that of Foundation's dates, in 2001.
    private static let epochSeconds: Int64 = 31_622_400

    /// Returns SQL of a date where infinite ones are those that they are read as.
    static func bounded(_ sql: String) -> String {
        func date(_ date: Date) -> String {
            let seconds = Int64(date.timeIntervalSinceReferenceDate) + epochSeconds
            return "(timestamptz '2000-01-01 00:00:00+00' + interval '\(seconds) seconds')"
        }
        return
            "CASE \(sql) WHEN timestamptz 'infinity' THEN \(date(.distantFuture)) WHEN timestamptz '-infinity' THEN \(date(.distantPast)) ELSE \(sql) END"
    }
}
