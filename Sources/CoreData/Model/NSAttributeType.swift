/// The type of an attribute's values, with Apple's names and raw values.
///
/// See also the newer spelling ``NSAttributeDescription/AttributeType``.
public enum NSAttributeType: UInt, Sendable {
    /// No type is set. Only transient attributes may keep it; their values are any object.
    case undefinedAttributeType = 0
    /// A whole number of 16 bits.
    case integer16AttributeType = 100
    /// A whole number of 32 bits.
    case integer32AttributeType = 200
    /// A whole number of 64 bits.
    case integer64AttributeType = 300
    /// A decimal number of up to 38 digits.
    case decimalAttributeType = 400
    /// A floating-point number of 64 bits.
    case doubleAttributeType = 500
    /// A floating-point number of 32 bits.
    case floatAttributeType = 600
    /// Text.
    case stringAttributeType = 700
    /// True or false.
    case booleanAttributeType = 800
    /// A moment, in seconds since 2001-01-01 00:00 UTC.
    case dateAttributeType = 900
    /// Bytes.
    case binaryDataAttributeType = 1000
    /// A UUID.
    case UUIDAttributeType = 1100
    /// A URL.
    case URIAttributeType = 1200
    /// Any object; stores that write bytes turn it into data and back.
    case transformableAttributeType = 1800
    /// The identifier of an object.
    case objectIDAttributeType = 2000
    /// A dictionary of named attributes, described by an ``NSCompositeAttributeDescription``.
    case compositeAttributeType = 2100
}

extension NSAttributeDescription {
    /// The type of an attribute's values, in the spelling of current SDKs: `attribute.type = .string`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The raw value of the ``NSAttributeType``.
        public let rawValue: UInt
        /// Makes a type of a raw value; a value that no type has is ``undefined``.
        public init(rawValue: UInt) { self.rawValue = NSAttributeType(rawValue: rawValue)?.rawValue ?? 0 }
        init(_ type: NSAttributeType) { rawValue = type.rawValue }

        /// No type is set.
        public static let undefined = Self(.undefinedAttributeType)
        /// A whole number of 16 bits.
        public static let integer16 = Self(.integer16AttributeType)
        /// A whole number of 32 bits.
        public static let integer32 = Self(.integer32AttributeType)
        /// A whole number of 64 bits.
        public static let integer64 = Self(.integer64AttributeType)
        /// A decimal number.
        public static let decimal = Self(.decimalAttributeType)
        /// A floating-point number of 64 bits.
        public static let double = Self(.doubleAttributeType)
        /// A floating-point number of 32 bits.
        public static let float = Self(.floatAttributeType)
        /// Text.
        public static let string = Self(.stringAttributeType)
        /// True or false.
        public static let boolean = Self(.booleanAttributeType)
        /// A moment.
        public static let date = Self(.dateAttributeType)
        /// Bytes.
        public static let binaryData = Self(.binaryDataAttributeType)
        /// A UUID.
        public static let uuid = Self(.UUIDAttributeType)
        /// A URL.
        public static let uri = Self(.URIAttributeType)
        /// Any object.
        public static let transformable = Self(.transformableAttributeType)
        /// The identifier of an object.
        public static let objectID = Self(.objectIDAttributeType)
        /// A dictionary of named attributes.
        public static let composite = Self(.compositeAttributeType)
    }
}
