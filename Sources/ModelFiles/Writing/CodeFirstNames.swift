internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import TakenNames

/// Chooses the Swift names of a model's entities and properties, and determines the inverses to be named.
struct CodeFirstNames {
    private var classNames: [ObjectIdentifier: String] = [:]
    private let order: [ObjectIdentifier: Int]

    init(_ model: NSManagedObjectModel) throws {
        // Bounded: each entity is there once, whatever its name.
        order = Dictionary(uniqueKeysWithValues: model.entities.enumerated().map { (ObjectIdentifier($1), $0) })
        var owners: [String: String] = [:]
        for entity in model.entities {
            let entityName = entity.name ?? ""
            let given = (entity.managedObjectClassName ?? "").split(separator: ".").last.map(String.init) ?? ""
            let name = Self.freeTypeName(given.isEmpty || given == "NSManagedObject" ? entityName : given)
            if let other = owners.updateValue(entityName, forKey: name) {
                throw ModelFileError.unwritable(
                    entityName, "Its class would be “\(name)”, as that of “\(other)” is, and a class declares one entity.",
                    next: "Give the entities classes of their own.")
            }
            classNames[ObjectIdentifier(entity)] = name
        }
    }

    /// Returns a type name that does not conflict with others.
    static func freeTypeName(_ wish: String) -> String {
        let name = identifier(wish)
        return takenTypes.contains(name) || TakenNames.keywords.contains(name) ? name + "Object" : name
    }

    func className(of entity: NSEntityDescription) -> String { classNames[ObjectIdentifier(entity)] ?? "?" }

    /// Returns whether a relationship's inverse is inferred: each is the only one between the two entities.
    func isInferred(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship, let owner = relationship.entity, let other = relationship.destinationEntity,
            inverse.entity === other, inverse.destinationEntity === owner
        else { return false }
        func back(from entity: NSEntityDescription, to destination: NSEntityDescription, without own: NSRelationshipDescription) -> Int {
            entity.declaredProperties.count {
                ($0 as? NSRelationshipDescription)?.destinationEntity === destination && $0 !== own
            }
        }
        return back(from: other, to: owner, without: relationship) == 1 && back(from: owner, to: other, without: inverse) == 1
    }

    /// Returns whether this end names the inverse in the source: the first of the two.
    func names(_ inverse: NSRelationshipDescription, from relationship: NSRelationshipDescription) -> Bool {
        func place(_ end: NSRelationshipDescription) -> (Int, String) {
            (end.entity.flatMap { order[ObjectIdentifier($0)] } ?? 0, end.name)
        }
        return place(relationship) < place(inverse)
    }

    /// Returns the Swift name of a property, and its name in the model if it differs.
    static func swiftName(of name: String) -> (swift: String, model: String?) {
        let identifier = identifier(name)
        if identifier != name || TakenNames.impossible.contains(name) {
            let other = TakenNames.impossible.contains(identifier) || identifier == name
            return (other ? "\(identifier)Value" : identifier, name)
        }
        return (TakenNames.keywords.contains(name) ? "`\(name)`" : name, nil)
    }

    /// Returns a valid Swift identifier for a name.
    static func identifier(_ name: String) -> String {
        var result = String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
        if result.first.map({ $0.isLetter || $0 == "_" }) != true { result = "_" + result }
        return result == "_" ? "__" : result
    }

    /// Types that the written source uses, or that every source does: a class of their name would take their place.
    private static let takenTypes: Set<String> = [
        "Any", "AnyObject", "Array", "Attribute", "AttributeOption", "Bool", "Character", "Composite", "CompositeElements", "Data", "Date",
        "Decimal", "Dictionary", "Double", "Element", "EntityDeclaration", "EntityOption", "Error", "FetchedProperty", "Float",
        "Identifiable",
        "Ignored", "IndexElement", "IndexSet", "Int", "Int16", "Int32", "Int64", "ManagedObject", "ManagedProperty", "NSDeleteRule",
        "NSFetchRequest", "NSManagedObject", "NSManagedObjectID", "NSManagedObjectModel", "NSObject", "Never", "Optional",
        "PropertyDeclaration",
        "Protocol", "Relationship", "RelationshipOption", "Self", "Set", "String", "Transient", "Type", "URL", "UUID", "Void", "Foundation",
        "CoreData", "CoreDataMacros", "Swift", "CompositeValue", "NSFetchRequestResult",
    ]
}
