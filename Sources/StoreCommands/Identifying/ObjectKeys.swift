internal import ObjectGraph
internal import WebBackend

/// The keys that identify objects across places: the requested attribute, or otherwise the uniqueness constraints of their entity, including inherited
/// ones.
struct ObjectKeys {
    /// Attributes whose values together identify an object.
    struct Key: Hashable {
        /// The name of the entity that has the attributes, or their constraint. They also identify objects of its subentities.
        let entity: String
        let attributes: [String]
        /// Whether they have a uniqueness constraint: the values are unique in the store.
        let isUnique: Bool

        /// The names of the attributes, for errors.
        var names: String { attributes.joined(separator: ", ") }
    }

    /// The requested attribute.
    private let asked: String?

    /// - Parameter asked: The attribute of `--key`, for entities that have it; nil for the uniqueness constraints.
    init(_ asked: String?) { self.asked = asked }

    /// Returns the keys of an entity, its own before inherited ones; empty if only URIs identify its objects.
    func keys(of entity: NSEntityDescription) -> [Key] {
        let line = sequence(first: entity, next: \.superentity)
        if let asked, Self.has(entity, asked) {
            let owner = Array(line).last { Self.has($0, asked) }
            return [Key(entity: (owner ?? entity).name ?? "", attributes: [asked], isUnique: false)]
        }
        return line.flatMap { owner in
            owner.uniquenessConstraints.compactMap { constraint in
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                guard !names.isEmpty, names.allSatisfy({ Self.has(owner, $0) }) else { return nil }
                return Key(entity: owner.name ?? "", attributes: names, isUnique: true)
            }
        }
    }

    /// Returns whether an entity has a stored attribute of a name.
    static func has(_ entity: NSEntityDescription, _ name: String) -> Bool { entity.attributesByName[name]?.isTransient == false }

    /// Returns the values of an object for a key; nil if one is missing.
    ///
    /// - Parameter value: Returns the value of an attribute.
    static func values(
        of key: Key, _ entity: NSEntityDescription, _ value: (NSAttributeDescription) throws -> Any?
    ) rethrows -> [JSONValue]? {
        var values: [JSONValue] = []
        for name in key.attributes {
            guard let attribute = entity.attributesByName[name], let value = try value(attribute) else { return nil }
            values.append(ValueText.json(value, attribute))
        }
        return values
    }

    /// Checks that the requested attribute belongs to one of some entities, or to a destination of their relationships.
    ///
    /// - Parameters:
    ///   - what: The refused operation, for the error.
    ///   - names: Returns the attributes of an entity that can identify objects.
    /// - Throws: An error that names the available attributes.
    func require(
        in entities: [NSEntityDescription], _ what: String, _ names: (NSEntityDescription) -> [String]
    ) throws {
        guard let asked, !entities.isEmpty else { return }
        let destinations = entities.flatMap(\.relationshipsByName.values).compactMap(\.destinationEntity)
        if (entities + destinations.flatMap(Self.kinds)).contains(where: { names($0).contains(asked) }) { return }
        let lists = entities.map { ($0.name ?? "", names($0).sorted()) }.filter { !$1.isEmpty }.sorted { $0.0 < $1.0 }
        let near = Suggestion.nearest(to: asked, in: Set(lists.flatMap(\.1)).sorted()).map { "Did you mean “\($0)”? " } ?? ""
        throw CommandError.make(
            "\(what): “\(DisplayText.line(asked))” after --key is no attribute of these objects.",
            next: near + lists.map { "\($0) has: \($1.joined(separator: ", "))." }.joined(separator: " "))
    }

    private static func kinds(_ entity: NSEntityDescription) -> [NSEntityDescription] { [entity] + entity.subentities.flatMap(kinds) }
}
