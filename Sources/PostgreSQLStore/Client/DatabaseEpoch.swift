#if PostgreSQL
/// The beginning of PostgreSQL's dates.
enum DatabaseEpoch {
    /// The seconds from PostgreSQL's first date, 2000, to that of `Date`, 2001.
    static let secondsBefore2001: Int64 = 31_622_400
}
#endif
