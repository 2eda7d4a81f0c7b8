internal import ObjectGraph
internal import WebBackend

/// The keys by which objects of different places are the same: the attribute that was asked for, and otherwise the uniqueness constraints of
/// their entity and those that it inherits.
struct ObjectKeys {
    /// Attributes whose values together are those of one object.
    struct Key: Hashable {
        /// The name of the entity that has the attributes, or their constraint; objects of its subentities are among those that they tell apart.
        let entity: String
        let attributes: [String]
        /// Whether a uniqueness constraint has them: the store keeps no two objects with the values.
        let isUnique: Bool

        /// The attributes as an error names them.
        var names: String { attributes.joined(separator: ", ") }
    }

    /// The attribute that was asked for.
    private let asked: String?

    /// - Parameter asked: The attribute after `--key`, for entities that have it; nil for the uniqueness constraints.
    init(_ asked: String?) { self.asked = asked }

    /// Returns the keys of an entity, its own before those that it inherits; an empty array where nothing but URIs tells its objects apart.
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

    /// Whether an entity has an attribute that stores keep.
    static func has(_ entity: NSEntityDescription, _ name: String) -> Bool { entity.attributesByName[name]?.isTransient == false }

    /// Returns an object's values of a key; nil where one is missing.
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

    /// Checks that the attribute that was asked for is one of some entities, or of those that their relationships lead to.
    ///
    /// - Parameters:
    ///   - what: What is not done otherwise, for the error.
    ///   - names: Returns the attributes of an entity by which objects can be told apart.
    /// - Throws: An error that names the attributes that there are.
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
