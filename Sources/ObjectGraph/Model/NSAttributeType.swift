/// The type of an attribute's values, with Apple's names and raw values.
///
/// ``NSAttributeDescription/AttributeType`` is the spelling of current SDKs.
public enum NSAttributeType: UInt, Sendable {
    /// No type. Valid for transient attributes only, whose values are then any object.
    case undefinedAttributeType = 0
    /// A 16-bit integer.
    case integer16AttributeType = 100
    /// A 32-bit integer.
    case integer32AttributeType = 200
    /// A 64-bit integer.
    case integer64AttributeType = 300
    /// A decimal number of up to 38 digits.
    case decimalAttributeType = 400
    /// A 64-bit floating-point number.
    case doubleAttributeType = 500
    /// A 32-bit floating-point number.
    case floatAttributeType = 600
    /// A string.
    case stringAttributeType = 700
    /// A Boolean.
    case booleanAttributeType = 800
    /// A date, in seconds since 2001-01-01 00:00 UTC.
    case dateAttributeType = 900
    /// Binary data.
    case binaryDataAttributeType = 1000
    /// A UUID.
    case UUIDAttributeType = 1100
    /// A URL.
    case URIAttributeType = 1200
    /// Any object, which stores that write bytes convert to data and back.
    case transformableAttributeType = 1800
    /// The ID of an object.
    case objectIDAttributeType = 2000
    /// A dictionary of named attributes, described by an ``NSCompositeAttributeDescription``.
    case compositeAttributeType = 2100
}

extension NSAttributeDescription {
    /// The type of an attribute's values, in the spelling of current SDKs: `attribute.type = .string`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The raw value of the ``NSAttributeType``.
        public let rawValue: UInt
        /// Creates a type from a raw value; an unknown value becomes ``undefined``.
        public init(rawValue: UInt) { self.rawValue = NSAttributeType(rawValue: rawValue)?.rawValue ?? 0 }
        init(_ type: NSAttributeType) { rawValue = type.rawValue }

        /// No type.
        public static let undefined = Self(.undefinedAttributeType)
        /// A 16-bit integer.
        public static let integer16 = Self(.integer16AttributeType)
        /// A 32-bit integer.
        public static let integer32 = Self(.integer32AttributeType)
        /// A 64-bit integer.
        public static let integer64 = Self(.integer64AttributeType)
        /// A decimal number.
        public static let decimal = Self(.decimalAttributeType)
        /// A 64-bit floating-point number.
        public static let double = Self(.doubleAttributeType)
        /// A 32-bit floating-point number.
        public static let float = Self(.floatAttributeType)
        /// A string.
        public static let string = Self(.stringAttributeType)
        /// A Boolean.
        public static let boolean = Self(.booleanAttributeType)
        /// A date.
        public static let date = Self(.dateAttributeType)
        /// Binary data.
        public static let binaryData = Self(.binaryDataAttributeType)
        /// A UUID.
        public static let uuid = Self(.UUIDAttributeType)
        /// A URL.
        public static let uri = Self(.URIAttributeType)
        /// Any object.
        public static let transformable = Self(.transformableAttributeType)
        /// The ID of an object.
        public static let objectID = Self(.objectIDAttributeType)
        /// A dictionary of named attributes.
        public static let composite = Self(.compositeAttributeType)
    }
}

extension NSAttributeType {
    /// The name of Foundation's class of the type's values; nil for types whose values may be of any class.
    package var valueClassName: String? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "NSString"
        case .dateAttributeType: "NSDate"
        case .binaryDataAttributeType: "NSData"
        case .UUIDAttributeType: "NSUUID"
        case .URIAttributeType: "NSURL"
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
        }
    }

    /// The description of the type's values in messages.
    var words: String {
        switch self {
        case .undefinedAttributeType: "a value without a type"
        case .integer16AttributeType: "a 16-bit integer"
        case .integer32AttributeType: "a 32-bit integer"
        case .integer64AttributeType: "a 64-bit integer"
        case .decimalAttributeType: "a decimal number"
        case .doubleAttributeType: "a double"
        case .floatAttributeType: "a float"
        case .stringAttributeType: "a string"
        case .booleanAttributeType: "a Boolean"
        case .dateAttributeType: "a date"
        case .binaryDataAttributeType: "binary data"
        case .UUIDAttributeType: "a UUID"
        case .URIAttributeType: "a URI"
        case .transformableAttributeType: "a transformable value"
        case .objectIDAttributeType: "an object ID"
        case .compositeAttributeType: "a composite value"
        }
    }
}
