/// The spelling of attribute values in a file.
public struct ValueSpelling: Hashable, Sendable {
    /// The character between the whole part and the fraction of a number: a point or a comma.
    public var decimalSeparator: Character = "."
    /// The format of dates, unless a property has its own (see ``EntityLayout/formats``): `iso8601`, `seconds1970`, `milliseconds1970`,
    /// `seconds2001`, or a pattern such as `dd.MM.yyyy HH:mm` of the letters `yyyy`, `yy`, `MM`, `dd`, `HH`, `mm`, `ss` and `SSS`, in
    /// Coordinated Universal Time.
    ///
    /// The whole text must be valid: the day must exist, the hour must be from 0 to 23, and the offset between −18:00 and +18:00. `iso8601` reads a
    /// day, or a day with a time, whose offset, seconds and fraction are optional. It writes as many digits as are needed to read the same date, and
    /// years outside of 0 to 9999 with a sign and six digits. A pattern has four digits for a year (or two, from 1970 to 2069); saving a date in
    /// another year is an error.
    public var dateFormat = "iso8601"
    /// The spellings of true, in any case; the first one is written.
    public var trueSpellings = ["true", "yes", "1"]
    /// The spellings of false, in any case; the first one is written.
    public var falseSpellings = ["false", "no", "0"]
    /// The spelling of nil in a CSV file, without quotes. In quotes, it is text. JSON has `null`, and omits fields.
    public var nilSpelling = ""
    /// The character between the keys of a to-many relationship in one field of a CSV file.
    public var listSeparator: Character = " "

    /// Creates the usual spelling of programs: decimal points, ISO 8601, `true` and `false`.
    public init() {}
}
