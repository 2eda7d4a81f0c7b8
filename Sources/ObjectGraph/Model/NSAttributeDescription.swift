internal import Foundation

/// Describes an attribute: the type of its values and its default value.
///
/// Source: [NSAttributeDescription](https://developer.apple.com/documentation/coredata/nsattributedescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The type of the values.
    ///
    /// Setting it sets ``attributeValueClassName`` to the Foundation class of such values.
    open var attributeType: NSAttributeType = .undefinedAttributeType {
        willSet { willEditHash() }
        didSet { if attributeType != oldValue { customValueClassName = nil } }
    }

    /// The type of the values.
    open var type: AttributeType {
        get { AttributeType(attributeType) }
        set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    /// The value in a new object, of the attribute's type.
    open var defaultValue: Any? {
        willSet { requireMutable() }
        didSet { mistypedDefault = nil }
    }
    /// The default value as the model file spells it, if it does not fit the attribute's type; `defaultValue` is then its probable meaning.
    package final var mistypedDefault: String?

    /// The name of the class of the values: Foundation's class for the type, such as `NSNumber`, and the class that the model names for a
    /// transformable attribute; nil if there is neither.
    open var attributeValueClassName: String? {
        get { customValueClassName ?? attributeType.valueClassName }
        set {
            requireMutable()
            customValueClassName = newValue == attributeType.valueClassName ? nil : newValue
        }
    }
    /// The class name that the model states; nil if the type determines it.
    package final var customValueClassName: String?

    /// The name of the transformer with which stores that write bytes convert transformable values to data.
    open var valueTransformerName: String? { willSet { requireMutable() } }

    /// Whether a store may keep large values in external files.
    open var allowsExternalBinaryDataStorage: Bool = false { willSet { requireMutable() } }

    /// Whether the history of a store preserves the value of a deleted object.
    open var preservesValueInHistoryOnDeletion: Bool = false { willSet { requireMutable() } }

    /// Whether CloudKit may encrypt the value. Preserved for model files; it has no effect here.
    open var allowsCloudEncryption: Bool = false { willSet { requireMutable() } }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSAttributeDescription else { return }
        copy.attributeType = attributeType
        copy.defaultValue = defaultValue
        copy.customValueClassName = customValueClassName
        copy.mistypedDefault = mistypedDefault
        copy.valueTransformerName = valueTransformerName
        copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        copy.allowsCloudEncryption = allowsCloudEncryption
    }
}

extension NSAttributeDescription {
    /// Creates an attribute: `NSAttributeDescription(name: "title", type: .string, isOptional: false)`.
    ///
    /// - Parameters:
    ///   - name: The name of the attribute.
    ///   - type: The type of its values.
    ///   - isOptional: Whether it may be nil when the object is saved.
    ///   - defaultValue: The value in a new object.
    public convenience init(name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Any? = nil) {
        self.init()
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
    }
}
