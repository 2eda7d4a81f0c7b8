import CoreData

/// What the framework is compared with: a graph of nodes in plain dictionaries, every rule written out in the simplest way.
struct ReferenceGraph: Equatable {
    struct Node: Equatable {
        var name: String?
        var number = 0
        var parent: Int?
        var children: Set<Int> = []
        var next: Int?
        var previous: Int?
        var likes: Set<Int> = []
        var likedBy: Set<Int> = []
        var queue: [Int] = []
        var queueOf: Int?
    }

    var nodes: [Int: Node] = [:]
    /// Whether deleting a node deletes its children.
    var cascades = false

    mutating func setParent(of node: Int, to parent: Int?) {
        if let old = nodes[node]!.parent { nodes[old]!.children.remove(node) }
        nodes[node]!.parent = parent
        if let parent { nodes[parent]!.children.insert(node) }
    }

    mutating func setChildren(of node: Int, to children: Set<Int>) {
        for old in nodes[node]!.children.subtracting(children) { setParent(of: old, to: nil) }
        for new in children { setParent(of: new, to: node) }
    }

    mutating func setNext(of node: Int, to next: Int?) {
        if nodes[node]!.next == next { return }
        if let old = nodes[node]!.next { nodes[old]!.previous = nil }
        if let next, let rival = nodes[next]!.previous { nodes[rival]!.next = nil }
        nodes[node]!.next = next
        if let next { nodes[next]!.previous = node }
    }

    mutating func setLikes(of node: Int, to likes: Set<Int>) {
        for other in nodes[node]!.likes { nodes[other]!.likedBy.remove(node) }
        nodes[node]!.likes = likes
        for other in likes { nodes[other]!.likedBy.insert(node) }
    }

    mutating func setQueue(of node: Int, to queue: [Int]) {
        for old in nodes[node]!.queue where !queue.contains(old) { nodes[old]!.queueOf = nil }
        for new in queue where nodes[new]!.queueOf != node { setQueueOf(new, to: nil) }
        nodes[node]!.queue = queue
        for new in queue { nodes[new]!.queueOf = node }
    }

    mutating func setQueueOf(_ node: Int, to owner: Int?) {
        let old = nodes[node]!.queueOf
        if old == owner { return }
        if let old { nodes[old]!.queue.removeAll { $0 == node } }
        nodes[node]!.queueOf = owner
        if let owner { nodes[owner]!.queue.append(node) }
    }

    mutating func delete(_ node: Int) {
        var doomed = [node]
        if cascades {
            var next = 0
            while next < doomed.count {
                for child in nodes[doomed[next]]!.children.sorted() where !doomed.contains(child) { doomed.append(child) }
                next += 1
            }
        }
        for node in doomed {
            setParent(of: node, to: nil)
            setChildren(of: node, to: [])
            setNext(of: node, to: nil)
            if let previous = nodes[node]!.previous { setNext(of: previous, to: nil) }
            setLikes(of: node, to: [])
            for other in nodes[node]!.likedBy { nodes[other]!.likes.remove(node) }
            setQueue(of: node, to: [])
            setQueueOf(node, to: nil)
            nodes[node] = nil
        }
    }

    /// The nodes that differ from those of `other`.
    func changes(since other: ReferenceGraph) -> Set<Int> {
        Set(nodes.keys).union(other.nodes.keys).filter { nodes[$0] != other.nodes[$0] }
    }
}

extension ReferenceGraph {
    /// The same graph as a model.
    static func model(cascades: Bool) -> NSManagedObjectModel {
        let node = NSEntityDescription(name: "Node")
        func pair(_ first: NSRelationshipDescription, _ second: NSRelationshipDescription) -> [NSPropertyDescription] {
            first.inverse(to: second)
            return [first, second]
        }
        node.properties =
            [
                NSAttributeDescription(name: "label", type: .integer64), NSAttributeDescription(name: "name", type: .string),
                NSAttributeDescription(name: "number", type: .integer32, defaultValue: 0),
            ]
            + pair(
                NSRelationshipDescription(
                    name: "children", destination: node, toMany: true, deleteRule: cascades ? .cascadeDeleteRule : .nullifyDeleteRule),
                NSRelationshipDescription(name: "parent", destination: node))
            + pair(
                NSRelationshipDescription(name: "next", destination: node), NSRelationshipDescription(name: "previous", destination: node))
            + pair(
                NSRelationshipDescription(name: "likes", destination: node, toMany: true),
                NSRelationshipDescription(name: "likedBy", destination: node, toMany: true))
            + pair(
                NSRelationshipDescription(name: "queue", destination: node, toMany: true, isOrdered: true),
                NSRelationshipDescription(name: "queueOf", destination: node))
        return NSManagedObjectModel(entities: [node])
    }

    /// What a context shows, as a graph.
    static func read(_ context: NSManagedObjectContext, cascades: Bool) throws -> ReferenceGraph {
        func label(_ value: Any?) -> Int? { (value as? NSManagedObject)?.value(forKey: "label") as? Int }
        func labels(_ value: Any?) -> Set<Int> { Set((value as? Set<NSManagedObject> ?? []).compactMap { label($0) }) }
        var graph = ReferenceGraph(cascades: cascades)
        for object in try context.all("Node") {
            graph.nodes[label(object) ?? -1] = Node(
                name: object.value(forKey: "name") as? String, number: object.value(forKey: "number") as? Int ?? -1,
                parent: label(object.value(forKey: "parent")), children: labels(object.value(forKey: "children")),
                next: label(object.value(forKey: "next")), previous: label(object.value(forKey: "previous")),
                likes: labels(object.value(forKey: "likes")), likedBy: labels(object.value(forKey: "likedBy")),
                queue: (object.value(forKey: "queue") as? NSOrderedSet)?.array.compactMap { label($0) } ?? [],
                queueOf: label(object.value(forKey: "queueOf")))
        }
        return graph
    }
}
