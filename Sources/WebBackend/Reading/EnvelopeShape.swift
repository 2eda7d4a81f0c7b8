internal import JSONReading

/// Where the parts of an answer are: a tree of keys, made once for a call.
final class EnvelopeShape: Sendable {
    /// The parts of an answer.
    enum Part: Int, Sendable {
        case items, item, included, next, total, more
    }

    let table: JSONKeyTable
    let nodes: [(parts: [Part], children: EnvelopeShape?)]
    /// What the value is itself.
    let own: Part?

    init(_ paths: [(path: JSONPath, part: Part)]) {
        own = paths.first { $0.path.isEmpty }?.part
        var order: [String] = []
        var groups: [String: [(path: JSONPath, part: Part)]] = [:]
        for (path, part) in paths {
            guard case .key(let key)? = path.steps.first else { continue }
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append((JSONPath(steps: Array(path.steps.dropFirst())), part))
        }
        table = JSONKeyTable(order)
        nodes = order.map { key in
            let group = groups[key] ?? []
            let deeper = group.filter { !$0.path.isEmpty }
            return (group.filter(\.path.isEmpty).map(\.part), deeper.isEmpty ? nil : EnvelopeShape(deeper))
        }
    }

    /// The shape of a call's answers.
    convenience init(_ plan: ResourcePlan, _ call: CallPlan) {
        let envelope = plan.style.envelope
        var paths: [(path: JSONPath, part: Part)] = []
        if call.call.returns == .one {
            paths.append((call.call.items ?? envelope.item, .item))
        } else {
            paths.append((call.call.items ?? envelope.items, .items))
            if case .body(let path)? = call.paging.next { paths.append((path, .next)) }
            if case .body(let path)? = call.paging.total { paths.append((path, .total)) }
            if case .body(let path)? = call.paging.hasMore { paths.append((path, .more)) }
        }
        if let included = envelope.included { paths.append((included, .included)) }
        self.init(paths)
    }
}
