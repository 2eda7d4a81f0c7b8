internal import Foundation
internal import Predicates

/// The declaration of a class's entity: the value of ``NSManagedObject/entityDeclaration``.
///
/// The macro `@ManagedObject` of the product CoreDataMacros generates it; without macros, a program can write it by hand.
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
    ///   - objectClass: The class.
    ///   - name: The name of the entity.
    ///   - options: The options of the entity.
    ///   - originalName: The name in an earlier version of the model (``NSEntityDescription/renamingIdentifier``).
    ///   - hashModifier: A string that is included in the version hash.
    ///   - userInfo: Custom information about the entity.
    ///   - properties: The properties that the class declares; inherited ones are declared by the superclass.
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

/// An option of an entity, in addition to its name and properties: `@ManagedObject(.abstract, .unique("title", "year"))`.
///
/// Properties are referred to by their names in the model; an unknown name is an error when the model is created.
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

    /// Makes the entity abstract: it has no objects except those of its subentities.
    public static var abstract: EntityOption { EntityOption { $0.isAbstract = true } }

    /// Adds a uniqueness constraint over the attributes together.
    public static func unique(_ names: String...) -> EntityOption {
        EntityOption { $0.uniquenessConstraints.append(names) }
    }

    /// Adds an index over properties: `.index("year", .descending("rating"))`.
    ///
    /// - Parameters:
    ///   - elements: The elements, the most significant first: names of properties, or elements with further settings.
    ///   - name: The name of the index; the default follows Xcode, such as `byYearIndex`.
    ///   - predicate: The format of a predicate for the indexed objects; nil for all.
    public static func index(_ elements: IndexElement..., name: String? = nil, where predicate: String? = nil) -> EntityOption {
        EntityOption { entity in
            let parts = elements.map(\.title)
            let index = NSFetchIndexDescription(
                name: name ?? "by\(parts.joined())Index", elements: try elements.map { try $0.make() })
            index.partialIndexPredicate = try predicate.map { try NSPredicate(parsing: $0) }
            entity.indexes.append(index)
        }
    }

    /// Adds an index over several properties in the form that preceded fetch indexes. See ``NSEntityDescription/compoundIndexes``.
    public static func compoundIndex(_ names: String...) -> EntityOption { EntityOption { $0.compoundIndexes.append(names) } }

    /// Adds the entity to a configuration of the model, which a store can be limited to.
    public static func configuration(_ name: String) -> EntityOption { EntityOption(configuration: name) }

    /// Adds a fetch request template, whose predicate may have variables: `.fetchRequest("Best", where: "rating >= $LEAST")`.
    ///
    /// - Parameters:
    ///   - name: The name of the template.
    ///   - predicate: The format of the predicate; nil for all objects.
    ///   - configure: Sets further properties of the request, such as its limit.
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

    /// Sets the display name of objects in the system's search index. Preserved for model files; it has no effect here.
    public static func spotlightDisplayName(_ expression: String) -> EntityOption {
        EntityOption { $0.coreSpotlightDisplayNameExpression = try NSExpression(parsing: expression) }
    }
}

/// An element of an index: the name of a property, or a property or expression with further settings.
public struct IndexElement: ExpressibleByStringLiteral {
    let title: String
    let make: () throws -> NSFetchIndexElementDescription

    /// Creates an element for a property.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - isAscending: Whether the order is ascending.
    ///   - type: The kind of index structure.
    public init(_ name: String, isAscending: Bool = true, type: NSFetchIndexElementType = .binary) {
        title = name.prefix(1).uppercased() + name.dropFirst()
        make = {
            let element = NSFetchIndexElementDescription(propertyName: name, collationType: type)
            element.isAscending = isAscending
            return element
        }
    }

    /// Creates an element for a property in ascending order.
    public init(stringLiteral name: String) { self.init(name) }

    /// Returns an element for a property in descending order.
    public static func descending(_ name: String) -> IndexElement { IndexElement(name, isAscending: false) }

    /// Returns an element for an expression over the properties, and the type of its value.
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
