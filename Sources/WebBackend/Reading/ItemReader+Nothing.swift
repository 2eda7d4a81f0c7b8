internal import JSONReading

extension ItemReader {
    /// Sets a property to nil whose path leads into nothing: it is known, as if it were null itself.
    func setNil(_ leaf: ItemShape.Leaf, _ sink: ItemSink, _ item: inout Item) {
        switch leaf {
        case .identifier, .versionNumber, .versionTag: break
        case .property(let index):
            guard let column = sink.columns[index] else { return }
            item.note(index)
            item.hasValues = true
            setNil(column, sink.writer)
        case .inner(_, let leaf): setNil(leaf, sink, &item)
        }
    }

    /// Sets all properties to nil that would stand within a value.
    func setNil(below shape: ItemShape, _ sink: ItemSink, _ item: inout Item) {
        for node in shape.nodes {
            for leaf in node.leaves { setNil(leaf, sink, &item) }
            if let children = node.children { setNil(below: children, sink, &item) }
        }
    }
}

extension JSONValue {
    /// Whether a path leads into null, or behind the end of a list: there is nothing, and no other answer of the service would have it.
    func hasNothing(at path: JSONPath) -> Bool {
        var current = self
        for step in path.steps {
            if current.isNull { return true }
            switch step {
            case .element(let index):
                guard let list = current.array else { return false }
                guard index < list.count else { return true }
                current = list[index]
            case .key(let key):
                guard let value = current[key] else { return false }
                current = value
            }
        }
        return current.isNull
    }
}
