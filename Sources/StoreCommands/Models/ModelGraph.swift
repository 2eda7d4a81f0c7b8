internal import Foundation
internal import ObjectGraph

/// The layered graph of a model: its entities in columns, and the lines between them.
struct ModelGraph {
    /// An end of a line: a relationship, or an empty end without one.
    struct End {
        let name: String?
        let isToMany: Bool
        let isOptional: Bool
        let isOrdered: Bool

        init(_ relationship: NSRelationshipDescription?) {
            name = relationship?.name
            isToMany = relationship?.isToMany ?? false
            isOptional = relationship?.isOptional ?? true
            isOrdered = relationship?.isOrdered ?? false
        }
    }
    struct Edge {
        /// The entities. The first one is in an earlier column.
        var first: Int
        var second: Int
        /// The relationships of the first and of the second entity.
        var ends: (End, End)?
        var isInheritance: Bool { ends == nil }
        /// Whether the first is the subentity.
        var isReversed = false
        /// The nodes on the way from the first entity to the second.
        var nodes: [Int] = []
    }
    struct Node {
        /// Nil for a node that a long line passes through.
        let entity: NSEntityDescription?
        var layer = 0
        var width = 0.0
        var height = 0.0
        var x = 0.0
        var y = 0.0
        var middle: Double { y + height / 2 }
    }

    private(set) var nodes: [Node]
    private(set) var edges: [Edge] = []
    /// The relationships of an entity to itself.
    private(set) var loops: [(node: Int, ends: (End, End))] = []
    /// The nodes of each column, from top to bottom.
    private(set) var columns: [[Int]] = []

    init(_ model: NSManagedObjectModel, size: (NSEntityDescription) -> (Double, Double)) {
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        nodes = entities.map { entity in
            var node = Node(entity: entity)
            (node.width, node.height) = size(entity)
            return node
        }
        // Bounded: each entity is there once, whatever its name.
        let places = Dictionary(uniqueKeysWithValues: entities.enumerated().map { (ObjectIdentifier($1), $0) })
        connect(entities, places)
        layer()
        insertPassages()
        order()
    }

    // MARK: Lines

    private mutating func connect(_ entities: [NSEntityDescription], _ places: [ObjectIdentifier: Int]) {
        var drawn: Set<ObjectIdentifier> = []
        for (place, entity) in entities.enumerated() {
            if let parent = entity.superentity.flatMap({ places[ObjectIdentifier($0)] }) {
                edges.append(Edge(first: parent, second: place, ends: nil))
            }
            for case let relationship as NSRelationshipDescription in ModelReport.own(entity)
            where !drawn.contains(ObjectIdentifier(relationship)) {
                guard let destination = relationship.destinationEntity.flatMap({ places[ObjectIdentifier($0)] }) else { continue }
                drawn.insert(ObjectIdentifier(relationship))
                let inverse = relationship.inverseRelationship
                if let inverse { drawn.insert(ObjectIdentifier(inverse)) }
                let ends = (End(relationship), End(inverse))
                if destination == place {
                    loops.append((place, ends))
                } else if relationship.isToMany || inverse?.isToMany != true {
                    edges.append(Edge(first: place, second: destination, ends: ends))
                } else {
                    // The to-one end comes before the to-many end.
                    edges.append(Edge(first: destination, second: place, ends: (ends.1, ends.0)))
                }
            }
        }
    }

    // MARK: Columns

    /// Reverses lines that would close a cycle, and puts each entity after its predecessors.
    private mutating func layer() {
        var state = [Int](repeating: 0, count: nodes.count)
        var turned: Set<Int> = []
        func visit(_ node: Int) {
            state[node] = 1
            for (index, edge) in edges.enumerated() where edge.first == node {
                if state[edge.second] == 1 { turned.insert(index) } else if state[edge.second] == 0 { visit(edge.second) }
            }
            state[node] = 2
        }
        let targets = Set(edges.map(\.second))
        for node in nodes.indices where !targets.contains(node) && state[node] == 0 { visit(node) }
        for node in nodes.indices where state[node] == 0 { visit(node) }
        for index in turned {
            let edge = edges[index]
            edges[index] = Edge(
                first: edge.second, second: edge.first, ends: edge.ends.map { ($0.1, $0.0) }, isReversed: edge.isInheritance)
        }
        for _ in nodes {
            var isChanged = false
            for edge in edges where nodes[edge.second].layer <= nodes[edge.first].layer {
                nodes[edge.second].layer = nodes[edge.first].layer + 1
                isChanged = true
            }
            if !isChanged { break }
        }
        // An entity without predecessors is moved next to its nearest successor.
        for node in nodes.indices where !edges.contains(where: { $0.second == node }) {
            if let nearest = edges.filter({ $0.first == node }).map({ nodes[$0.second].layer }).min() { nodes[node].layer = nearest - 1 }
        }
        spreadUnconnected()
    }

    /// Distributes entities without lines over the columns, so that none becomes much taller.
    private mutating func spreadUnconnected() {
        let connected = Set(edges.flatMap { [$0.first, $0.second] })
        let free = nodes.indices.filter { !connected.contains($0) }
        let count = max(
            (nodes.indices.filter(connected.contains).map { nodes[$0].layer }.max() ?? -1) + 1,
            // Bounded: the number of entities.
            Int(Double(free.count).squareRoot().rounded(.up)), 1)
        var heights = [Double](repeating: 0, count: count)
        for node in nodes.indices where connected.contains(node) { heights[nodes[node].layer] += nodes[node].height + 40 }
        for node in free {
            let column = heights.indices.min { heights[$0] < heights[$1] } ?? 0
            nodes[node].layer = column
            heights[column] += nodes[node].height + 40
        }
    }

    private mutating func insertPassages() {
        for index in edges.indices {
            let (first, second) = (edges[index].first, edges[index].second)
            var way = [first]
            for layer in (nodes[first].layer + 1)..<max(nodes[first].layer + 1, nodes[second].layer) {
                var passage = Node(entity: nil)
                passage.layer = layer
                passage.height = 14
                nodes.append(passage)
                way.append(nodes.count - 1)
            }
            edges[index].nodes = way + [second]
        }
    }

    // MARK: Order and places

    private var neighbours: [(before: [Int], after: [Int])] {
        var result = [(before: [Int], after: [Int])](repeating: ([], []), count: nodes.count)
        for edge in edges {
            for (left, right) in zip(edge.nodes, edge.nodes.dropFirst()) {
                result[left].after.append(right)
                result[right].before.append(left)
            }
        }
        return result
    }

    /// Orders each column by the means of its neighbours, in both directions, to reduce the number of crossings.
    private mutating func order() {
        let count = (nodes.map(\.layer).max() ?? -1) + 1
        columns = (0..<count).map { layer in nodes.indices.filter { nodes[$0].layer == layer } }
        let neighbours = neighbours
        var place = [Double](repeating: 0, count: nodes.count)
        for column in columns { for (index, node) in column.enumerated() { place[node] = Double(index) } }
        for round in 0..<12 {
            let layers = round % 2 == 0 ? Array(columns.indices) : columns.indices.reversed()
            for layer in layers {
                let means = columns[layer].map { node -> (Int, Double) in
                    let near = round % 2 == 0 ? neighbours[node].before : neighbours[node].after
                    return (node, near.isEmpty ? place[node] : near.reduce(0) { $0 + place[$1] } / Double(near.count))
                }
                columns[layer] = means.enumerated().sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
                for (index, node) in columns[layer].enumerated() { place[node] = Double(index) }
            }
        }
    }

    /// Sets the places of the nodes: columns by the widths of the gaps between them, rows near the neighbours.
    mutating func place(gaps: (Int) -> Double, spacing: Double = 28) {
        var x = 0.0
        for (layer, column) in columns.enumerated() {
            let width = column.map { nodes[$0].width }.max() ?? 0
            for node in column {
                nodes[node].x = x
                if nodes[node].entity == nil { nodes[node].width = width }
            }
            x += width + gaps(layer)
        }
        for column in columns {
            var y = 0.0
            for node in column {
                nodes[node].y = y
                y += nodes[node].height + spacing
            }
        }
        let neighbours = neighbours
        for round in 0..<24 {
            for column in round % 2 == 0 ? columns : columns.reversed() {
                let wanted = column.map { node -> Double in
                    let near = neighbours[node].before + neighbours[node].after
                    return near.isEmpty
                        ? nodes[node].y : near.reduce(0) { $0 + nodes[$1].middle } / Double(near.count) - nodes[node].height / 2
                }
                settle(column, wanted, spacing)
            }
        }
        closeBands(spacing)
    }

    /// Closes empty bands by moving the nodes below them upwards, because unconnected parts of the model drift apart.
    private mutating func closeBands(_ spacing: Double) {
        var end = 0.0
        var shift = 0.0
        for (index, node) in nodes.indices.sorted(by: { (nodes[$0].y, $0) < (nodes[$1].y, $1) }).enumerated() {
            let start = nodes[node].y
            if index == 0 { shift = start } else if start - end > spacing { shift += start - end - spacing }
            end = index == 0 ? start + nodes[node].height : max(end, start + nodes[node].height)
            nodes[node].y = start - shift
        }
    }

    /// Moves the nodes of a column to their preferred places, as far as their order and their distances allow.
    private mutating func settle(_ column: [Int], _ wanted: [Double], _ spacing: Double) {
        // Groups of touching nodes move together to the mean of their preferred places.
        var groups: [(start: Int, sum: Double, count: Int, height: Double)] = []
        for (index, node) in column.enumerated() {
            groups.append((index, wanted[index], 1, nodes[node].height + spacing))
            while groups.count > 1 {
                let (last, before) = (groups[groups.count - 1], groups[groups.count - 2])
                guard before.sum / Double(before.count) + before.height > last.sum / Double(last.count) else { break }
                groups.removeLast(2)
                groups.append(
                    (
                        before.start, before.sum + last.sum - Double(last.count) * before.height, before.count + last.count,
                        before.height + last.height
                    ))
            }
        }
        for (index, group) in groups.enumerated() {
            var y = group.sum / Double(group.count)
            let end = index + 1 < groups.count ? groups[index + 1].start : column.count
            for place in group.start..<end {
                nodes[column[place]].y = y
                y += nodes[column[place]].height + spacing
            }
        }
    }
}
