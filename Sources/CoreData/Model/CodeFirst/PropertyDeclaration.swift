internal import Foundation
internal import Predicates

/// What a class says of a property of its entity. The macro `@ManagedObject` writes it.
public struct PropertyDeclaration {
    let name: String
    /// The name in Swift.
    private(set) var swiftName: String
    /// Makes the description; of a relationship, without its ends.
    let make: () throws -> NSPropertyDescription
    var isUnique = false
    /// The class at the other end of a relationship, or that a fetched property fetches.
    var destination: NSManagedObject.Type?
    var inverse = Inverse.inferred
    var isSymmetric = false
    /// Whether the accessor can read what the description describes.
    var fits: (NSPropertyDescription) -> Bool = { _ in true }
    var originalName: String?
    var hashModifier: String?
    var userInfo: [String: String] = [:]

    enum Inverse {
        case inferred
        case none
        case named(String, of: any Any.Type)
    }

    /// Declares an attribute; where the type is that of managed objects, a relationship whose delete rule is nullify.
    ///
    /// - Parameters:
    ///   - name: the name in the model.
    ///   - type: the type, without the optional.
    ///   - isOptional: whether the Swift type is optional.
    ///   - defaultValue: the value of a new object.
    ///   - options: what else it is.
    ///   - originalName: its name in an earlier version of the model.
    ///   - hashModifier: text that goes into its version hash.
    ///   - userInfo: free information about it.
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

    /// Declares an attribute that keeps a value of any `Codable` type as JSON in binary data; see ``AttributeOption/codable``. The parameters
    /// are those of ``property(_:_:isOptional:default:options:originalName:hashModifier:userInfo:)``.
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

    /// Declares an attribute that keeps a value of any type as it is: transformable, or undefined and transient. The parameters are those of
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
                    "\(typeName) is no type of an attribute: write @Attribute(.codable) or @Attribute(.transformable(by: …)), or say which type"
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

    /// Declares a to-one or to-many relationship: the type is a managed object's, or a set of such.
    ///
    /// - Parameters:
    ///   - name: the name in the model.
    ///   - type: the type, without the optional.
    ///   - isOptional: whether the Swift type is optional; a to-many relationship is optional in the model unless an option says otherwise.
    ///   - options: what else it is.
    ///   - deleteRule: what happens to the objects at the other end when the object at this end is deleted.
    ///   - inverse: the relationship back.
    ///   - originalName: its name in an earlier version of the model.
    ///   - hashModifier: text that goes into its version hash.
    ///   - userInfo: free information about it.
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
    ///   - name: the name in the model.
    ///   - type: the class of what is fetched.
    ///   - predicate: which objects; `$FETCH_SOURCE` is the object that has the property. All where it is nil.
    ///   - isOptional: whether the model says that it may be nil.
    ///   - originalName: its name in an earlier version of the model.
    ///   - hashModifier: text that goes into its version hash.
    ///   - userInfo: free information about it.
    ///   - configure: sets what else there is to the request.
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

    /// The same for a property that has another name in Swift than in the model.
    public func called(_ swiftName: String) -> PropertyDeclaration {
        var property = self
        property.swiftName = swiftName
        return property
    }

    /// The description of an attribute outside an entity, as a part of a composite.
    func made() throws -> NSPropertyDescription {
        let description = try make()
        description.name = name
        description.renamingIdentifier = originalName
        description.versionHashModifier = hashModifier
        description.userInfo = userInfo
        return description
    }
}

/// How a relationship finds its inverse.
public struct InverseDeclaration {
    let inverse: PropertyDeclaration.Inverse

    /// The only relationship back that no other claims.
    public static var inferred: InverseDeclaration { InverseDeclaration(inverse: .inferred) }
    /// There is none.
    public static var none: InverseDeclaration { InverseDeclaration(inverse: .none) }
    /// The property at the end of a key path.
    ///
    /// - Parameters:
    ///   - keyPath: a key path of the class at the other end, so that the compiler knows of it.
    ///   - name: the name of its property in the model.
    public static func to<Root: NSManagedObject>(_ keyPath: PartialKeyPath<Root>, _ name: String) -> InverseDeclaration {
        InverseDeclaration(inverse: .named(name, of: Root.self))
    }
}
