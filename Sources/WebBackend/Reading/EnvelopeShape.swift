internal import JSONReading

/// The places of the parts of an answer: a tree of keys, made once for a call.
final class EnvelopeShape: Sendable {
    /// The parts of an answer.
    enum Part: Int, Sendable {
        case items, item, included, next, total, exact, more
    }

    typealias Node = (parts: [Part], children: EnvelopeShape?)

    /// The keys of an object, with a node for each.
    let table: JSONKeyTable
    let nodes: [Node]
    /// The nodes of a list, by position.
    let elements: [Int: Node]
    /// The part that the value itself is.
    let own: Part?

    init(_ paths: [(path: JSONPath, part: Part)]) {
        own = paths.first { $0.path.isEmpty }?.part
        var order: [String] = []
        var groups: [JSONPath.Step: [(path: JSONPath, part: Part)]] = [:]
        for (path, part) in paths {
            guard let first = path.steps.first else { continue }
            if case .key(let key) = first, groups[first] == nil { order.append(key) }
            groups[first, default: []].append((JSONPath(steps: Array(path.steps.dropFirst())), part))
        }
        func node(_ step: JSONPath.Step) -> Node {
            let group = groups[step] ?? []
            let deeper = group.filter { !$0.path.isEmpty }
            return (group.filter(\.path.isEmpty).map(\.part), deeper.isEmpty ? nil : EnvelopeShape(deeper))
        }
        table = JSONKeyTable(order)
        nodes = order.map { node(.key($0)) }
        var elements: [Int: Node] = [:]
        for step in groups.keys { if case .element(let index) = step { elements[index] = node(step) } }
        self.elements = elements
    }

    /// Creates the shape of a call's answers.
    convenience init(_ plan: ResourcePlan, _ call: CallPlan) {
        let envelope = plan.style.envelope
        var paths: [(path: JSONPath, part: Part)] = []
        if call.call.returns == .one {
            paths.append((call.call.items ?? envelope.item, .item))
        } else {
            paths.append((call.call.items ?? envelope.items, .items))
            if let path = call.paging.next?.bodyPath { paths.append((path, .next)) }
            if let path = call.paging.total?.bodyPath { paths.append((path, .total)) }
            if let path = call.paging.exactTotal?.part.bodyPath { paths.append((path, .exact)) }
            if let path = call.paging.hasMore?.bodyPath { paths.append((path, .more)) }
        }
        if let included = envelope.included { paths.append((included, .included)) }
        self.init(paths)
    }

    /// Visits the nodes of an object or a list in the order of the answer, with the scanner at each.
    ///
    /// - Parameters:
    ///   - isDone: Returns whether the rest can be skipped.
    ///   - body: Reads a node, and leaves the scanner after its value.
    func forEachNode(
        _ scanner: inout JSONScanner, until isDone: () -> Bool = { false }, _ body: (Node, inout JSONScanner) throws -> Void
    ) throws {
        switch try scanner.peek() {
        case .object:
            try scanner.beginObject()
            while !isDone(), let index = try scanner.nextIndex(in: table) { try pass(index >= 0 ? nodes[index] : nil, &scanner, body) }
        case .array where !elements.isEmpty:
            try scanner.beginArray()
            var index = 0
            while !isDone(), try scanner.nextElement() {
                try pass(elements[index], &scanner, body)
                index += 1
            }
        default: try scanner.skipValue()
        }
    }

    private func pass(_ node: Node?, _ scanner: inout JSONScanner, _ body: (Node, inout JSONScanner) throws -> Void) throws {
        if let node { try body(node, &scanner) } else { try scanner.skipValue() }
    }
}
