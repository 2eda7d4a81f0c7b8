internal import Foundation
internal import Predicates

/// The declaration of a property. The macro `@ManagedObject` generates it.
public struct PropertyDeclaration {
    let name: String
    /// The name of the property in Swift.
    private(set) var swiftName: String
    /// Creates the description; that of a relationship has no destination yet.
    let make: () throws -> NSPropertyDescription
    var isUnique = false
    /// The destination class of a relationship, or the class of a fetched property.
    var destination: NSManagedObject.Type?
    var inverse = Inverse.inferred
    var isSymmetric = false
    /// Returns whether the accessor can read the described property.
    var fits: (NSPropertyDescription) -> Bool = { _ in true }
    var originalName: String?
    var hashModifier: String?
    var userInfo: [String: String] = [:]

    enum Inverse {
        case inferred
        case none
        case named(String, of: any Any.Type)
    }

    /// Declares an attribute; or, if the type is a managed object type, a relationship with the nullify rule.
    ///
    /// - Parameters:
    ///   - name: The name in the model.
    ///   - type: The type, without the optional.
    ///   - isOptional: Whether the Swift type is optional.
    ///   - defaultValue: The value in a new object.
    ///   - options: The options of the attribute.
    ///   - originalName: The name in an earlier version of the model.
    ///   - hashModifier: A string that is included in the version hash.
    ///   - userInfo: Custom information about the property.
    public static func property<Value: ManagedValue>(
        _ name: String, _ type: Value.Type, isOptional: Bool, default defaultValue: Value? = nil, options: [AttributeOption] = [],
        originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
    ) -> PropertyDeclaration {
        if let related = type as? any RelatedValue.Type {
            var property = relationship(name, destination: related.destination, isToMany: related.isToMany, isOptional: isOptional)
            if !options.isEmpty {
                property = PropertyDeclaration(name: name) {
                    throw DeclarationMistake("It is a relationship: write @Relationship instead of @Attribute.")
                }
            }
            (property.originalName, property.hashModifier, property.userInfo) = (originalName, hashModifier, userInfo)
            property.fits = Value.fits
            return property
        }
        let fits = Value.fits
        return attribute(
            name, DeclaredType.of(type), "\(type)", isOptional: isOptional,
            default: { defaultValue.flatMap { DeclaredType.modelValue($0) } }, options, originalName, hashModifier, userInfo,
            composite: type as? any CompositeValue.Type
        ) { $0.isTransient && ($0 as? NSAttributeDescription)?.attributeType == .undefinedAttributeType || fits($0) }
    }

    /// Declares an attribute that stores a value of any `Codable` type as JSON in binary data; see ``AttributeOption/codable``. The
    /// parameters are those of ``property(_:_:isOptional:default:options:originalName:hashModifier:userInfo:)``.
    public static func codable<Value: Codable>(
        _ name: String, _ type: Value.Type, isOptional: Bool, default defaultValue: Value? = nil, options: [AttributeOption] = [],
        originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
    ) -> PropertyDeclaration {
        attribute(
            name, .binaryDataAttributeType, "\(type)", isOptional: isOptional,
            default: { try defaultValue.map { try CodedValue.encode($0) } }, options,
            originalName, hashModifier, userInfo
        ) { ($0 as? NSAttributeDescription)?.attributeType == .binaryDataAttributeType }
    }

    /// Declares an attribute that stores a value of any type: transformable, or undefined and transient. The parameters are those of
    /// ``property(_:_:isOptional:default:options:originalName:hashModifier:userInfo:)``.
    public static func object<Value>(
        _ name: String, _ type: Value.Type, isOptional: Bool, default defaultValue: Value? = nil, options: [AttributeOption] = [],
        originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
    ) -> PropertyDeclaration {
        attribute(
            name, .undefinedAttributeType, "\(type)", isOptional: isOptional, default: { defaultValue }, options, originalName,
            hashModifier,
            userInfo
        ) {
            let type = ($0 as? NSAttributeDescription)?.attributeType
            return type == .transformableAttributeType || type == .objectIDAttributeType
                || type == .undefinedAttributeType && $0.isTransient
        }
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType?, _ typeName: String, isOptional: Bool, default defaultValue: @escaping () throws -> Any?,
        _ options: [AttributeOption], _ originalName: String?, _ hashModifier: String?, _ userInfo: [String: String],
        composite: (any CompositeValue.Type)? = nil, fits: @escaping (NSPropertyDescription) -> Bool
    ) -> PropertyDeclaration {
        var draft = AttributeDraft(isOptionalType: isOptional)
        var mistake: (any Error)?
        do { for option in options { try option.apply(&draft) } } catch { mistake = error }
        let finished = draft
        var property = PropertyDeclaration(name: name) {
            if let mistake { throw mistake }
            guard let type = finished.type ?? type else {
                throw DeclarationMistake(
                    "\(typeName) is not a type of an attribute: write @Attribute(.codable) or @Attribute(.transformable(by: …)), or say which type"
                        + " the model gives it with .type(…).")
            }
            let attribute =
                if let composite {
                    try CompositeElements.description(of: composite, named: name)
                } else if let derivation = finished.derivation {
                    derived(derivation)
                } else { NSAttributeDescription() }
            attribute.attributeType = type
            attribute.isOptional = finished.isOptional
            for setting in finished.settings { setting(attribute) }
            attribute.defaultValue = try defaultValue()
            attribute.validationRules = try finished.rules.map { try $0(type) }
            return attribute
        }
        property.isUnique = draft.isUnique
        property.fits = fits
        (property.originalName, property.hashModifier, property.userInfo) = (originalName, hashModifier, userInfo)
        return property
    }

    private static func derived(_ expression: NSExpression) -> NSAttributeDescription {
        let attribute = NSDerivedAttributeDescription()
        attribute.derivationExpression = expression
        return attribute
    }

    // MARK: Relationships and fetched properties

    /// Declares a relationship: to-one for a managed object type, to-many for a set or array of one.
    ///
    /// - Parameters:
    ///   - name: The name in the model.
    ///   - type: The type, without the optional.
    ///   - isOptional: Whether the Swift type is optional; a to-many relationship is optional in the model unless an option makes it required.
    ///   - options: The options of the relationship.
    ///   - deleteRule: The delete rule.
    ///   - inverse: The inverse relationship.
    ///   - originalName: The name in an earlier version of the model.
    ///   - hashModifier: A string that is included in the version hash.
    ///   - userInfo: Custom information about the property.
    public static func relationship<Value: RelatedValue>(
        _ name: String, _ type: Value.Type, isOptional: Bool, options: [RelationshipOption] = [], deleteRule: NSDeleteRule = .nullify,
        inverse: InverseDeclaration = .inferred, originalName: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:]
    ) -> PropertyDeclaration {
        var property = relationship(
            name, destination: type.destination, isToMany: type.isToMany, isOrdered: type.isOrdered, isOptional: isOptional, options,
            deleteRule)
        property.inverse = inverse.inverse
        property.isSymmetric = options.contains(where: \.isSymmetric)
        (property.originalName, property.hashModifier, property.userInfo) = (originalName, hashModifier, userInfo)
        return property
    }

    private static func relationship(
        _ name: String, destination: NSManagedObject.Type, isToMany: Bool, isOrdered: Bool = false, isOptional: Bool,
        _ options: [RelationshipOption] = [], _ deleteRule: NSDeleteRule = .nullify
    ) -> PropertyDeclaration {
        var property = PropertyDeclaration(name: name) {
            let relationship = NSRelationshipDescription()
            relationship.isOptional = isToMany || isOptional
            relationship.maxCount = isToMany ? 0 : 1
            relationship.isOrdered = isOrdered
            relationship.deleteRule = deleteRule
            for option in options { option.apply(relationship) }
            guard relationship.isToMany == isToMany else {
                throw DeclarationMistake(
                    isToMany
                        ? "A to-many relationship cannot have a maximum of 1: make it to-one." : "A to-one relationship has a maximum of 1."
                )
            }
            return relationship
        }
        property.destination = destination
        return property
    }

    /// Declares a fetched property.
    ///
    /// - Parameters:
    ///   - name: The name in the model.
    ///   - type: The class of the fetched objects.
    ///   - predicate: The format of the predicate, in which `$FETCH_SOURCE` is the object of the property; nil for all objects.
    ///   - isOptional: Whether the property is optional in the model.
    ///   - originalName: The name in an earlier version of the model.
    ///   - hashModifier: A string that is included in the version hash.
    ///   - userInfo: Custom information about the property.
    ///   - configure: Sets further properties of the request.
    public static func fetched(
        _ name: String, _ type: NSManagedObject.Type, _ predicate: String?, isOptional: Bool = true, originalName: String? = nil,
        hashModifier: String? = nil, userInfo: [String: String] = [:],
        configure: ((NSFetchRequest<any NSFetchRequestResult>) -> Void)? = nil
    ) -> PropertyDeclaration {
        var property = PropertyDeclaration(name: name) {
            let fetched = NSFetchedPropertyDescription()
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: type.entityDeclaration?.name ?? "")
            request.predicate = try predicate.map { try NSPredicate(parsing: $0) }
            configure?(request)
            fetched.isOptional = isOptional
            fetched.fetchRequest = request
            return fetched
        }
        property.destination = type
        property.inverse = .none
        (property.originalName, property.hashModifier, property.userInfo) = (originalName, hashModifier, userInfo)
        return property
    }

    private init(name: String, make: @escaping () throws -> NSPropertyDescription) {
        self.name = name
        swiftName = name
        self.make = make
    }

    /// Returns the declaration with another name in Swift than in the model.
    public func called(_ swiftName: String) -> PropertyDeclaration {
        var property = self
        property.swiftName = swiftName
        return property
    }

    /// Returns the description of an attribute as an element of a composite.
    func made() throws -> NSPropertyDescription {
        let description = try make()
        description.name = name
        description.renamingIdentifier = originalName
        description.versionHashModifier = hashModifier
        description.userInfo = userInfo
        return description
    }
}

/// Identifies the inverse of a relationship.
public struct InverseDeclaration {
    let inverse: PropertyDeclaration.Inverse

    /// Infers the inverse: the only relationship back that is not the inverse of another one.
    public static var inferred: InverseDeclaration { InverseDeclaration(inverse: .inferred) }
    /// Declares that there is no inverse.
    public static var none: InverseDeclaration { InverseDeclaration(inverse: .none) }
    /// Names the inverse by a key path.
    ///
    /// - Parameters:
    ///   - keyPath: A key path of the destination class, which the compiler checks.
    ///   - name: The name of its property in the model.
    public static func to<Root: NSManagedObject>(_ keyPath: PartialKeyPath<Root>, _ name: String) -> InverseDeclaration {
        InverseDeclaration(inverse: .named(name, of: Root.self))
    }
}
