/// How the values of attributes are written in a file.
public struct ValueSpelling: Hashable, Sendable {
    /// The character between the whole part and the fraction of a number: a point or a comma.
    public var decimalSeparator: Character = "."
    /// The format of dates, unless a property has its own (see ``EntityLayout/formats``): `iso8601`, `seconds1970`, `milliseconds1970`,
    /// `seconds2001`, or a pattern such as `dd.MM.yyyy HH:mm` of the letters `yyyy`, `yy`, `MM`, `dd`, `HH`, `mm`, `ss` and `SSS`, in
    /// Coordinated Universal Time.
    public var dateFormat = "iso8601"
    /// The spellings of true, whatever their case; the first is written.
    public var trueSpellings = ["true", "yes", "1"]
    /// The spellings of false, whatever their case; the first is written.
    public var falseSpellings = ["false", "no", "0"]
    /// The spelling of nil in a CSV file, without quotes. In quotes, it is text. JSON has `null`, and leaves fields out.
    public var nilSpelling = ""
    /// The character between the keys of a to-many relationship in one field of a CSV file.
    public var listSeparator: Character = " "

    /// Creates the spelling that programs use: points, ISO 8601, `true` and `false`.
    public init() {}
}
