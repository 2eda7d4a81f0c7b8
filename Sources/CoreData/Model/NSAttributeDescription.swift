internal import Foundation

/// Describes an attribute: the type of its values and the value a new object starts with.
///
/// Source: [NSAttributeDescription](https://developer.apple.com/documentation/coredata/nsattributedescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
    /// The type of the values.
    open var attributeType: NSAttributeType = .undefinedAttributeType { willSet { requireMutable() } }

    /// The type of the values, in the spelling of current SDKs.
    open var type: AttributeType {
        get { AttributeType(attributeType) }
        set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    /// The value of the attribute in a new object; it must be of the attribute's type.
    open var defaultValue: Any? { willSet { requireMutable() } }

    /// The name of the class of transformable values, for readers of the model.
    open var attributeValueClassName: String? { willSet { requireMutable() } }

    /// The name of the transformer with which stores that write bytes turn a transformable value into data.
    open var valueTransformerName: String? { willSet { requireMutable() } }

    /// Whether a store may keep large values in a file beside its own.
    open var allowsExternalBinaryDataStorage: Bool = false { willSet { requireMutable() } }

    /// Whether the history of a store keeps the value of a deleted object.
    open var preservesValueInHistoryOnDeletion: Bool = false { willSet { requireMutable() } }

    /// Whether CloudKit may encrypt the value. Kept for model files; nothing here acts on it.
    open var allowsCloudEncryption: Bool = false { willSet { requireMutable() } }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSAttributeDescription else { return }
        copy.attributeType = attributeType
        copy.defaultValue = defaultValue
        copy.attributeValueClassName = attributeValueClassName
        copy.valueTransformerName = valueTransformerName
        copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        copy.allowsCloudEncryption = allowsCloudEncryption
    }
}

extension NSAttributeDescription {
    /// Makes a named attribute in one line: `NSAttributeDescription(name: "title", type: .string, isOptional: false)`.
    ///
    /// - Parameters:
    ///   - name: the key of the attribute.
    ///   - type: the type of its values.
    ///   - isOptional: whether it may be nil when saved.
    ///   - defaultValue: the value in a new object.
    public convenience init(name: String, type: AttributeType, isOptional: Bool = true, defaultValue: Any? = nil) {
        self.init()
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
    }
}
