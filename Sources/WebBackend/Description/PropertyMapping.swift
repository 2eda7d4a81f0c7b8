/// The place of a property's value in a resource, and the form of the value.
///
/// ```swift
/// ["released": .at("release_date", .date(.secondsSince1970)), "label": .at("label.name"), "band": .at("band_id")]
/// ```
public struct PropertyMapping: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The path to the value in the resource, without the style's prefixes; nil for the style's name.
    public var path: JSONPath?
    /// The form of the value.
    public var transform: ValueTransform
    /// The form of a reference, for relationships only; nil for the style's.
    public var reference: ReferenceStyle?
    /// Whether the property is only read: answers have it, and changes are sent without it.
    public var isReadOnly: Bool
    /// The name in filters and sort keys; nil for the path.
    public var queryName: String?
    /// Whether an answer's list of a to-many relationship is complete. If not, the list only brings objects along.
    public var isWholeList: Bool
    /// Whether objects that come along in this relationship are complete: attributes and references that they lack are nil, not unknown.
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

/// The form of an attribute's value in JSON.
public indirect enum ValueTransform: Hashable, Sendable {
    /// By the type of the attribute: dates as the style says, binary data in Base64, UUIDs and URIs as text, decimals as numbers or text, transformable
    /// attributes as any JSON.
    case byType
    /// A date in another form than the style's.
    case date(DateForm)
    /// A value of an enumeration: the text in JSON, and the attribute's value as text. A number is read, too, and not written.
    case enumeration([String: String])
    /// A value of an enumeration: the JSON in resources (`1`, `true`, `"a"` with its quotation marks), and the attribute's value as text.
    case enumerationOfJSON([String: String])
    /// A number in another unit: the attribute's value is the number in JSON times this factor.
    case scaled(by: Double)
    /// Text in place of a value of another type, such as a number in quotation marks.
    case text
    /// Any JSON, kept as text in a string attribute.
    case json
    /// A relative address, which is appended to a base.
    case relativeURL(base: String)
    /// An array, whose elements are joined to one text by a separator.
    case joined(separator: String)
    /// A value within an object whose other keys are constant: `{"__type": "Date", "iso": …}` is `wrapped("iso", constants: ["__type": "Date"], …)`.
    case wrapped(String, constants: [String: String], ValueTransform)
}

/// A form of dates.
///
/// The whole text must be valid, or the resource cannot be read: the day must exist, the hour must be from 0 to 23, and the offset between −18:00 and
/// +18:00. The calendar is the Gregorian one, also for the days before its introduction. A second 60 is read at the end of a month in UTC, as the first
/// second of the next day. A date that the form cannot express is not sent: the save throws code 134070.
public enum DateForm: Hashable, Sendable {
    /// ISO 8601 with an offset: `2026-03-01T10:00:00Z`, with as many digits of a second as the date needs. A day without a time, a space in place of
    /// `T`, and a missing offset are read, too. Years outside of 0 to 9999 have a sign and six digits.
    case iso8601
    /// A day without a time, at midnight UTC: `2026-03-01`. A time is read, too, and not written.
    case day
    /// Seconds since 1970.
    case secondsSince1970
    /// Milliseconds since 1970.
    case millisecondsSince1970
    /// Seconds since 2001, Core Data's reference date.
    case secondsSinceReferenceDate
    /// The date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`. The other formats of RFC 9110 and those of mails (RFC 5322) are read, too.
    case http
    /// A pattern of `DateFormatter`, in the locale `en_US_POSIX` and UTC, with the letters `y`, `yy`, `yyyy`, `u`, `M` to `MMMM`, `d`, `E` to `EEEE`,
    /// `H`, `h`, `a`, `m`, `s`, `S`, `z` to `zzz`, `Z` to `ZZZ`, `ZZZZZ`, `X` and `x`, and with text between apostrophes. Any other letter is an error
    /// of the description.
    case pattern(String)
}

/// The form of references to other resources.
public enum ReferenceStyle: Hashable, Sendable {
    /// The identifier itself, or a list of identifiers for a to-many relationship. An object is read, too, if it has the identifier where the
    /// destination's resource has it.
    case identifier
    /// An object with the identifier at a path. Its other values are read along.
    case object(id: JSONPath)
    /// An object with the identifier and the type at paths below another path, as `{"data": {"type": "bands", "id": "7"}}`.
    case typed(data: JSONPath, type: JSONPath, id: JSONPath)
    /// The address of the resource. The identifier is its last component, or the text in the place of `{SELF}` in a template. Templates for composite
    /// identifiers have `{SELF.0}`, `{SELF.1}` and so on: `repos/{SELF.0}/{SELF.1}`.
    case link(template: String?)
    /// An object with constants and the identifier: `{"__type": "Pointer", "className": "{type}", "objectId": "{SELF}"}`.
    case pointer(id: JSONPath, constants: [String: String])
}
