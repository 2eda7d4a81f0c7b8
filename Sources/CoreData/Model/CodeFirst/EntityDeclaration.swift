internal import Foundation
internal import Predicates

/// What a class says of its own entity: ``NSManagedObject/entityDeclaration``.
///
/// The macro `@ManagedObject` of the product CoreDataMacros writes it; a program that does without macros can write it by hand.
public struct EntityDeclaration {
    let objectClass: NSManagedObject.Type
    let name: String
    let options: [EntityOption]
    let originalName: String?
    let hashModifier: String?
    let userInfo: [String: String]
    let properties: [PropertyDeclaration]

    /// Declares the entity of a class.
    ///
    /// - Parameters:
    ///   - objectClass: the class.
    ///   - name: the name of the entity.
    ///   - options: what else it is.
    ///   - originalName: its name in an earlier version of the model (``NSEntityDescription/renamingIdentifier``).
    ///   - hashModifier: text that goes into its version hash.
    ///   - userInfo: free information about it.
    ///   - properties: what it declares itself; what it inherits is declared by the class above.
    public init(
        _ objectClass: NSManagedObject.Type, name: String, options: [EntityOption] = [], originalName: String? = nil,
        hashModifier: String? = nil, userInfo: [String: String] = [:], properties: [PropertyDeclaration]
    ) {
        self.objectClass = objectClass
        self.name = name
        self.options = options
        self.originalName = originalName
        self.hashModifier = hashModifier
        self.userInfo = userInfo
        self.properties = properties
    }
}

/// What an entity is beside its name and properties: `@ManagedObject(.abstract, .unique("title", "year"))`.
///
/// Properties are called by their names in the model; a name that is none is an error when the model is made.
public struct EntityOption {
    let apply: (NSEntityDescription) throws -> Void
    let configuration: String?
    let template: (name: String, configure: (NSFetchRequest<any NSFetchRequestResult>) throws -> Void)?

    private init(
        configuration: String? = nil, template: (name: String, configure: (NSFetchRequest<any NSFetchRequestResult>) throws -> Void)? = nil,
        _ apply: @escaping (NSEntityDescription) throws -> Void = { _ in }
    ) {
        self.apply = apply
        self.configuration = configuration
        self.template = template
    }

    /// There are objects of its subentities only.
    public static var abstract: EntityOption { EntityOption { $0.isAbstract = true } }

    /// No two objects may share the values of all these attributes at once.
    public static func unique(_ names: String...) -> EntityOption {
        EntityOption { $0.uniquenessConstraints.append(names) }
    }

    /// Stores with indexes should keep one over these properties, the first foremost: `.index("year", .descending("rating"))`.
    ///
    /// - Parameters:
    ///   - elements: names of properties, or elements that say more.
    ///   - name: the name of the index; `byYearIndex`, as Xcode calls it, unless given.
    ///   - predicate: which objects are in the index, as a format; all unless given.
    public static func index(_ elements: IndexElement..., name: String? = nil, where predicate: String? = nil) -> EntityOption {
        EntityOption { entity in
            let parts = elements.map(\.title)
            let index = NSFetchIndexDescription(
                name: name ?? "by\(parts.joined())Index", elements: try elements.map { try $0.make() })
            index.partialIndexPredicate = try predicate.map { try NSPredicate(parsing: $0) }
            entity.indexes.append(index)
        }
    }

    /// An index over several properties, as models before fetch indexes have them. See ``NSEntityDescription/compoundIndexes``.
    public static func compoundIndex(_ names: String...) -> EntityOption { EntityOption { $0.compoundIndexes.append(names) } }

    /// The entity is part of a configuration of the model, which a store can be limited to.
    public static func configuration(_ name: String) -> EntityOption { EntityOption(configuration: name) }

    /// A fetch request template of the model, whose predicate may have variables: `.fetchRequest("Best", where: "rating >= $LEAST")`.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - predicate: which objects, as a format; all unless given.
    ///   - configure: sets what else there is to the request, such as its limit.
    public static func fetchRequest(
        _ name: String, where predicate: String? = nil, configure: ((NSFetchRequest<any NSFetchRequestResult>) -> Void)? = nil
    ) -> EntityOption {
        EntityOption(
            template: (
                name,
                { request in
                    request.predicate = try predicate.map { try NSPredicate(parsing: $0) }
                    configure?(request)
                }
            ))
    }

    /// What the system's search index shows as the name of an object. Kept for model files; nothing here acts on it.
    public static func spotlightDisplayName(_ expression: String) -> EntityOption {
        EntityOption { $0.coreSpotlightDisplayNameExpression = try NSExpression(parsing: expression) }
    }
}

/// A part of an index: the name of a property, or more than that.
public struct IndexElement: ExpressibleByStringLiteral {
    let title: String
    let make: () throws -> NSFetchIndexElementDescription

    /// A property.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - isAscending: whether the smallest value comes first.
    ///   - type: how the store keeps it.
    public init(_ name: String, isAscending: Bool = true, type: NSFetchIndexElementType = .binary) {
        title = name.prefix(1).uppercased() + name.dropFirst()
        make = {
            let element = NSFetchIndexElementDescription(propertyName: name, collationType: type)
            element.isAscending = isAscending
            return element
        }
    }

    /// A property, the smallest value first.
    public init(stringLiteral name: String) { self.init(name) }

    /// A property, the largest value first.
    public static func descending(_ name: String) -> IndexElement { IndexElement(name, isAscending: false) }

    /// An expression over the properties, and the type of what it gives.
    public static func expression(
        _ expression: String, _ type: NSAttributeDescription.AttributeType, isAscending: Bool = true,
        collation: NSFetchIndexElementType = .binary
    ) -> IndexElement {
        IndexElement(title: "Expression") {
            let computed = NSExpressionDescription()
            computed.expression = try NSExpression(parsing: expression)
            computed.expressionResultType = NSAttributeType(rawValue: type.rawValue) ?? .undefinedAttributeType
            let element = NSFetchIndexElementDescription(property: computed, collationType: collation)
            element.isAscending = isAscending
            return element
        }
    }

    private init(title: String, make: @escaping () throws -> NSFetchIndexElementDescription) {
        self.title = title
        self.make = make
    }
}
