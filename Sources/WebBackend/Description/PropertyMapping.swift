/// Where the value of a property is in a resource, and how it is written.
///
/// ```swift
/// ["released": .at("release_date", .date(.secondsSince1970)), "label": .at("label.name"), "band": .at("band_id")]
/// ```
public struct PropertyMapping: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The path to the value in the resource, the style's prefixes not included; nil where the style names it.
    public var path: JSONPath?
    /// How the value is written.
    public var transform: ValueTransform
    /// How a reference is written; nil as the style has it. Of relationships only.
    public var reference: ReferenceStyle?
    /// Whether answers have it, and changes do not.
    public var isReadOnly: Bool
    /// The name in filters and sort keys; nil for the path.
    public var queryName: String?
    /// Whether an answer's list of a to-many relationship is whole. If not, it only brings objects along.
    public var isWholeList: Bool
    /// Whether objects that come along in this relationship are whole: attributes and references that they lack are nil, not unknown.
    public var bringsWholeObjects = false

    /// Creates the mapping of a property.
    public init(
        path: JSONPath? = nil, _ transform: ValueTransform = .byType, reference: ReferenceStyle? = nil, isReadOnly: Bool = false,
        queryName: String? = nil, isWholeList: Bool = true, bringsWholeObjects: Bool = false
    ) {
        self.path = path
        self.transform = transform
        self.reference = reference
        self.isReadOnly = isReadOnly
        self.queryName = queryName
        self.isWholeList = isWholeList
        self.bringsWholeObjects = bringsWholeObjects
    }

    /// Creates the mapping of a property at a path.
    public init(stringLiteral value: String) { self.init(path: JSONPath(value)) }

    /// Returns the mapping of a property at a path.
    public static func at(_ path: JSONPath, _ transform: ValueTransform = .byType, isReadOnly: Bool = false) -> PropertyMapping {
        PropertyMapping(path: path, transform, isReadOnly: isReadOnly)
    }
}

/// How the value of an attribute is written in JSON.
public indirect enum ValueTransform: Hashable, Sendable {
    /// As the type of the attribute has it: dates as the style says, binary data in Base64, UUIDs and URIs as text, decimals as numbers or
    /// text, transformable attributes as any JSON.
    case byType
    /// A date in another form than the style's.
    case date(DateForm)
    /// A value of an enumeration: the text that JSON has, and the attribute's value as text. A number is read, too, and not written.
    case enumeration([String: String])
    /// A value of an enumeration: the JSON that resources have (`1`, `true`, `"a"` with its quotation marks), and the attribute's value as text.
    case enumerationOfJSON([String: String])
    /// A number in another unit: the attribute's value is JSON's times this.
    case scaled(by: Double)
    /// Text that is written as another attribute type's, such as a number in quotation marks.
    case text
    /// JSON as its text, in an attribute of strings.
    case json
    /// A relative address, which continues another.
    case relativeURL(base: String)
    /// The elements of an array, joined to one text by a separator.
    case joined(separator: String)
    /// The value within an object of which the rest is always the same: `{"__type": "Date", "iso": …}` is `wrapped("iso", ["__type":
    /// "Date"])`.
    case wrapped(String, constants: [String: String], ValueTransform)
}

/// A form of dates.
///
/// A text is read whole, or the resource cannot be read: the day must exist, an hour be one from 0 to 23, and an offset lie between −18:00 and
/// +18:00. The calendar is the Gregorian one, also for the days before it. A second 60 is read at the end of a month in UTC, as the first second of
/// the next day. A date that the form does not have is not sent: the save throws code 134070.
public enum DateForm: Hashable, Sendable {
    /// ISO 8601 with an offset: `2026-03-01T10:00:00Z`, with as many digits of a second as the date has. A day alone, a space for `T` and a missing
    /// offset are read, too. Years beyond 0 to 9999 have a sign and six digits.
    case iso8601
    /// A day without a time, at midnight UTC: `2026-03-01`. A time is read, too, and not written.
    case day
    /// Seconds since 1970.
    case secondsSince1970
    /// Milliseconds since 1970.
    case millisecondsSince1970
    /// Seconds since 2001, as Core Data's.
    case secondsSinceReferenceDate
    /// The form of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`. The other forms of RFC 9110 and those of mails (RFC 5322) are read, too.
    case http
    /// A pattern of `DateFormatter`, in the locale `en_US_POSIX` and UTC, of the letters `y`, `yy`, `yyyy`, `u`, `M` to `MMMM`, `d`, `E` to `EEEE`, `H`,
    /// `h`, `a`, `m`, `s`, `S`, `z` to `zzz`, `Z` to `ZZZ`, `ZZZZZ`, `X` and `x`, and of text between apostrophes. Another letter is an error of the
    /// description.
    case pattern(String)
}

/// How references to other resources are written.
public enum ReferenceStyle: Hashable, Sendable {
    /// The identifier itself, in a list for to-many relationships; or an object with the identifier where the destination's resource has it.
    case identifier
    /// An object with the identifier at a path, and others of its values: it is read along.
    case object(id: JSONPath)
    /// An object with the identifier, and the type, at paths below another path, as `{"data": {"type": "bands", "id": "7"}}`.
    case typed(data: JSONPath, type: JSONPath, id: JSONPath)
    /// The address of the resource: its last component, or what a template has in the place of `{SELF}`, or in those of `{SELF.0}` and its
    /// like for the parts of a composite identifier: `repos/{SELF.0}/{SELF.1}`.
    case link(template: String?)
    /// An object with constants and the identifier: `{"__type": "Pointer", "className": "{type}", "objectId": "{SELF}"}`.
    case pointer(id: JSONPath, constants: [String: String])
}
