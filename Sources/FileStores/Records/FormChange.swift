/// What a migration changes in the text of a file. Everything else is copied.
struct FormChange {
    /// A name that records get, with their values there by shape; nil for nil.
    struct Addition {
        let name: String
        var values: [Value?]
    }
    struct Value {
        let text: [UInt8]
        let form: SpelledForm
    }

    /// The new names of columns (in JSON, members), by shape and old name.
    var names: [[String: String]]
    var additions: [Addition] = []
    /// What stands in the entity column, by shape; nil for what is there.
    var entityTexts: [String?]
    /// The shapes whose records go.
    var removed: Set<Int> = []
    /// The new names of the lists of a JSON document.
    var lists: [String: String] = [:]

    init(shapeCount: Int) {
        names = Array(repeating: [:], count: shapeCount)
        entityTexts = Array(repeating: nil, count: shapeCount)
    }

    var isEmpty: Bool {
        names.allSatisfy(\.isEmpty) && additions.isEmpty && entityTexts.allSatisfy { $0 == nil } && removed.isEmpty && lists.isEmpty
    }

    /// Notes the value of records of a shape under a new name.
    mutating func add(_ name: String, _ value: Value?, ofShape shape: Int) {
        if let index = additions.firstIndex(where: { $0.name == name }) {
            additions[index].values[shape] = value
        } else {
            var values = [Value?](repeating: nil, count: names.count)
            values[shape] = value
            additions.append(Addition(name: name, values: values))
        }
    }
}
