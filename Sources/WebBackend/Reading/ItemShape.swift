internal import JSONReading
internal import ObjectGraph

/// The parts of a resource in JSON that are read: a tree of keys, made once for a resource.
final class ItemShape: Sendable {
    /// The meaning of a value.
    enum Leaf: Sendable {
        /// A part of the identifier.
        case identifier(part: Int)
        case versionNumber
        case versionTag
        /// A property, by its index in the plan.
        case property(Int)
        /// A value at a deeper path, for paths with indices.
        indirect case inner(JSONPath, Leaf)
    }

    /// The treatment of a key's value.
    struct Node: Sendable {
        var leaves: [Leaf] = []
        var children: ItemShape?
    }

    let table: JSONKeyTable
    let nodes: [Node]
    /// The index of the property for each key that is one property and nothing else; -1 for other keys. Most keys are looked up here, without reference
    /// counting.
    let plainProperties: [Int32]

    private init(_ entries: [(key: String, node: Node)]) {
        table = JSONKeyTable(entries.map(\.key))
        nodes = entries.map(\.node)
        plainProperties = entries.map { _, node in
            guard node.children == nil, node.leaves.count == 1, case .property(let index) = node.leaves[0] else { return -1 }
            return Int32(index)
        }
    }

    /// Creates the tree for several paths.
    convenience init(_ paths: [(path: [JSONPath.Step], leaf: Leaf)]) {
        var order: [String] = []
        var groups: [String: (leaves: [Leaf], deeper: [(path: [JSONPath.Step], leaf: Leaf)])] = [:]
        for (path, leaf) in paths {
            guard case .key(let key)? = path.first else { continue }
            if groups[key] == nil { order.append(key) }
            let rest = Array(path.dropFirst())
            if rest.isEmpty {
                groups[key, default: ([], [])].leaves.append(leaf)
            } else if case .element = rest[0] {
                groups[key, default: ([], [])].leaves.append(.inner(JSONPath(steps: rest), leaf))
            } else {
                groups[key, default: ([], [])].deeper.append((rest, leaf))
            }
        }
        self.init(
            order.map { key in
                let group = groups[key] ?? ([], [])
                return (key, Node(leaves: group.leaves, children: group.deeper.isEmpty ? nil : ItemShape(group.deeper)))
            })
    }
}

/// The way in which the resources of a plan are read.
final class ItemPlan: Sendable {
    let plan: ResourcePlan
    let shape: ItemShape
    /// The properties that resources have, in the order of the shape's indexes.
    let properties: [PropertyPlan]
    /// The kind of each property whose type determines the form.
    let plainKinds: [PlainKind]
    let partCount: Int
    /// The parts of the identifier that are parameters of the call: their positions, and the names of the parameters.
    let givenParts: [(part: Int, parameter: String)]
    /// The forms of identifiers that have come.
    let forms = SeenForms()

    /// The kinds of values that are read without the mapping.
    enum PlainKind: UInt8, Sendable {
        case mapped, string, integer, double, boolean, isoDate
        /// A reference to one resource, or the embedded resource itself.
        case one
    }

    init(_ plan: ResourcePlan) {
        self.plan = plan
        properties = plan.properties.values.filter { $0.path != nil }.sorted { $0.name < $1.name }
        var paths: [(path: [JSONPath.Step], leaf: ItemShape.Leaf)] = []
        var given: [(part: Int, parameter: String)] = []
        for (part, text) in plan.identity.enumerated() {
            if text.hasPrefix("@") {
                given.append((part, String(text.dropFirst())))
            } else {
                paths.append((JSONPath(text).steps, .identifier(part: part)))
            }
        }
        switch plan.version {
        case .none, .eTag: break
        case .number(let path): paths.append((path.steps, .versionNumber))
        case .tag(let path): paths.append((path.steps, .versionTag))
        }
        for (index, property) in properties.enumerated() { paths.append((property.path?.steps ?? [], .property(index))) }
        shape = ItemShape(paths)
        plainKinds = properties.map(PlainKind.init)
        partCount = plan.identity.count
        givenParts = given
    }
}

extension ItemPlan.PlainKind {
    init(_ property: PropertyPlan) {
        guard case .attribute(let type, .byType) = property.kind else {
            if case .toOne = property.kind { self = .one } else { self = .mapped }
            return
        }
        switch type {
        case .stringAttributeType: self = .string
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: self = .integer
        case .doubleAttributeType, .floatAttributeType: self = .double
        case .booleanAttributeType: self = .boolean
        case .dateAttributeType where property.dateWrapping == nil && property.dates.isISO8601: self = .isoDate
        default: self = .mapped
        }
    }
}
