/// A notation of dates in texts. A text is read completely, or is not of the notation; a time without an offset is in Coordinated Universal Time
/// (UTC).
///
/// All notations use the Gregorian calendar, even for dates before its introduction. A day must exist, an hour be between 0 and 23, and an offset lie
/// between −18:00 and +18:00. A second 60 is accepted where leap seconds are, at the end of a month in UTC: it is the first second of the next day,
/// because `Date` counts no leap seconds.
package enum DateNotation: Hashable, Sendable {
    /// ISO 8601 (RFC 3339): `2026-03-01T10:00:00.25+01:00`. Everything after the day is optional, as are seconds, fraction, offset and its minutes. A
    /// space or a small letter may replace `T`, a small letter `Z`, a comma the point, and the offset needs no colon.
    ///
    /// A year has four digits, or a sign and four to nine: `-000043-03-15` is in the year 44 before Christ.
    case iso8601
    /// ISO 8601 as SQLite and PostgreSQL read and write it: with a blank behind the time, or between it and the offset, if there is one.
    case database
    /// ISO 8601 as people write it and pages show it: ``database``, with `UTC` or `GMT` for an offset of zero.
    case typed
    /// The dates of HTTP (RFC 9110) in their three forms, and of mails (RFC 5322), which services send in the same places:
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`, `6 Nov 1994 09:49:37 +0100`.
    /// A weekday that is not that of the date is a mistake.
    case http
    /// The dates of cookies (RFC 6265, 5.1.1): a time, a day, a month and a year, in any order and with anything between them.
    case cookie
    /// A pattern.
    case pattern(DatePattern)

    /// Examples of texts of the notation, for errors.
    package var examples: String {
        switch self {
        case .iso8601: "2026-03-01, 2026-03-01T10:00:00Z or 2026-03-01T10:00:00.25+01:00"
        case .database: "2026-03-01, 2026-03-01 10:00:00 or 2026-03-01 10:00:00.25+01:00"
        case .typed: "2026-03-01, 2026-03-01 10:00:00 UTC or 2026-03-01T10:00:00+01:00"
        case .http: "Sun, 06 Nov 1994 08:49:37 GMT"
        case .cookie: "Sun, 06 Nov 1994 08:49:37 GMT"
        case .pattern(let pattern): pattern.text
        }
    }
}
