internal import JSONReading

/// Which parts of a resource in JSON are read, and what they are: a tree of keys, made once for a resource.
final class ItemShape: Sendable {
    /// What a value is.
    enum Leaf: Sendable {
        /// A part of the identifier.
        case identifier(part: Int)
        case versionNumber
        case versionTag
        /// A property, by its index in the plan.
        case property(Int)
        /// Something else, deeper in a value that paths with indexes lead into.
        indirect case inner(JSONPath, Leaf)
    }

    /// What is done with the value of a key.
    struct Node: Sendable {
        var leaves: [Leaf] = []
        var children: ItemShape?
    }

    let table: JSONKeyTable
    let nodes: [Node]

    private init(_ entries: [(key: String, node: Node)]) {
        table = JSONKeyTable(entries.map(\.key))
        nodes = entries.map(\.node)
    }

    /// Creates the tree of several paths.
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

/// How the resources of a plan are read.
final class ItemPlan: Sendable {
    let plan: ResourcePlan
    let shape: ItemShape
    /// The properties that resources have, in the order of the shape's indexes.
    let properties: [PropertyPlan]
    let partCount: Int
    /// Parts of the identifier that a call was given: their places, and the names of the parameters.
    let givenParts: [(part: Int, parameter: String)]

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
        partCount = plan.identity.count
        givenParts = given
    }
}
