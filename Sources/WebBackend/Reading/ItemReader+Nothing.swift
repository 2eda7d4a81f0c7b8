internal import JSONReading

extension ItemReader {
    /// Sets a property to nil if its path leads into null: the value is known, as if it were null itself.
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

    /// Sets all properties below a value to nil.
    func setNil(below shape: ItemShape, _ sink: ItemSink, _ item: inout Item) {
        for node in shape.nodes {
            for leaf in node.leaves { setNil(leaf, sink, &item) }
            if let children = node.children { setNil(below: children, sink, &item) }
        }
    }
}

extension JSONValue {
    /// Returns whether a path leads into null, or beyond the end of a list. Then there is no value, and no other answer of the service would have one.
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
