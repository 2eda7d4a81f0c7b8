package import ObjectGraph
internal import TakenNames

/// Writes the declaration of a property in its class, with the type that Xcode uses and the typed property of its accessors.
struct PropertyCode {
    let name: String
    /// The type of the property in the class.
    let type: String
    /// The `ManagedValue` type of the accessors; nil for a fetched property, which is not part of a row.
    let managedType: String?
    /// Whether the value is wrapped in an `AnyManagedValue`.
    let isWrapped: Bool
    /// Whether it can be the `id` of an `Identifiable` class.
    let isHashable: Bool

    private init(
        _ name: String, _ type: String, managed: String?, isWrapped: Bool = false, isHashable: Bool = true
    ) {
        self.name = name
        self.type = type
        managedType = managed
        self.isWrapped = isWrapped
        self.isHashable = isHashable
    }

    /// Creates the code of a property; nil for a kind of property that classes do not declare.
    init?(_ property: NSPropertyDescription) {
        switch property {
        case let attribute as NSAttributeDescription: self.init(attribute)
        case let relationship as NSRelationshipDescription:
            if relationship.isToMany {
                let type = relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
                self.init(relationship.name, type, managed: type)
            } else {
                let type = (relationship.destinationEntity?.className ?? "NSManagedObject") + "?"
                self.init(relationship.name, type, managed: type)
            }
        case let fetched as NSFetchedPropertyDescription:
            let entity = fetched.fetchRequest?.entityName.flatMap { fetched.entity?.managedObjectModel?.entitiesByName[$0] }
            self.init(fetched.name, "[\(entity?.className ?? "NSManagedObject")]?", managed: nil)
        default: return nil
        }
    }

    private init(_ attribute: NSAttributeDescription) {
        let isScalar = attribute.modelFileAttributes["usesScalarValueType"] == "YES"
        func value(_ type: String) -> PropertyCode {
            PropertyCode(attribute.name, type, managed: type)
        }
        func number(_ scalar: String) -> PropertyCode { isScalar ? value(scalar) : value("NSNumber?") }
        func wrapped(_ type: String, isHashable: Bool) -> PropertyCode {
            PropertyCode(
                attribute.name, type + "?", managed: "AnyManagedValue<\(type)>?", isWrapped: true,
                isHashable: isHashable)
        }
        switch attribute.attributeType {
        case .integer16AttributeType: self = number("Int16")
        case .integer32AttributeType: self = number("Int32")
        case .integer64AttributeType: self = number("Int64")
        case .doubleAttributeType: self = number("Double")
        case .floatAttributeType: self = number("Float")
        case .booleanAttributeType: self = number("Bool")
        case .decimalAttributeType: self = value("NSDecimalNumber?")
        case .stringAttributeType: self = value("String?")
        case .dateAttributeType: self = value(isScalar ? "TimeInterval" : "Date?")
        case .binaryDataAttributeType: self = value("Data?")
        case .UUIDAttributeType: self = value("UUID?")
        case .URIAttributeType: self = value("URL?")
        case .compositeAttributeType: self = wrapped("[String: Any]", isHashable: false)
        case .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType:
            let custom = attribute.customValueClassName
            self = wrapped(custom ?? "NSObject", isHashable: custom == nil)
        }
    }

    /// Returns the declaration, which uses the typed slot of the property.
    func declaration(isInlinable: Bool) -> String {
        let inlinable = isInlinable && managedType != nil ? "@inlinable " : ""
        guard let managedType else {
            return """
                    public var \(name.asIdentifier): \(type) {
                        return value(forKey: "\(name)") as? \(type.dropLast())
                    }

                """
        }
        let property = "self[ManagedProperty<\(managedType)>(\"\(name)\")]"
        let (read, written) = isWrapped ? ("?.wrapped", "newValue.map { AnyManagedValue($0) }") : ("", "newValue")
        return """
                \(inlinable)public var \(name.asIdentifier): \(type) {
                    get { return \(property)\(read) }
                    set { \(property) = \(written) }
                }

            """
    }
}

extension NSEntityDescription {
    /// The class name of the entity's objects without the module; nil for `NSManagedObject`.
    package var className: String? {
        guard let name = managedObjectClassName, name != "NSManagedObject" else { return nil }
        let bare = String(name.split(separator: ".").last ?? "")
        return bare.isEmpty ? nil : bare
    }
}

extension String {
    /// The name as written in code.
    var asIdentifier: String { TakenNames.keywords.contains(self) ? "`\(self)`" : self }

    /// Whether the string can be the name of a declaration.
    package var isIdentifier: Bool {
        guard let first, first == "_" || first.isLetter else { return false }
        return allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    }

    /// The string with a capital first letter, as part of a method name.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
