/// The changes of a migration to the text of a file. Everything else is copied.
struct FormChange {
    /// A new name in records, with their values by shape; nil for nil.
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
    /// The new texts of the entity column, by shape; nil for no change.
    var entityTexts: [String?]
    /// The shapes whose records are removed.
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

    /// Adds a value for the records of a shape under a new name.
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
