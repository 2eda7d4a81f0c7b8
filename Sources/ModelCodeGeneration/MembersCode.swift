internal import ObjectGraph

/// Writes the methods that Xcode generates for a to-many relationship.
struct MembersCode {
    let className: String
    let relationship: NSRelationshipDescription

    private var destination: String { relationship.destinationEntity?.className ?? "NSManagedObject" }
    private var suffix: String { relationship.name.capitalizedFirst }

    private func method(_ head: String, _ body: String) -> String {
        """
            public func \(head) {
                \(body)
            }

        """
    }

    /// The extension with the methods.
    var declaration: String {
        let collection = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        let property = "ManagedProperty<\(collection)?>(\"\(relationship.name)\")"
        var methods: [String] = []
        if relationship.isOrdered {
            methods += [
                method(
                    "insertInto\(suffix)(_ value: \(destination), at idx: Int)",
                    "insert([value], at: NSIndexSet(index: idx), into: \(property))"),
                method("removeFrom\(suffix)(at idx: Int)", "remove(at: NSIndexSet(index: idx), from: \(property))"),
                method(
                    "insertInto\(suffix)(_ values: [\(destination)], at indexes: NSIndexSet)",
                    "insert(values, at: indexes, into: \(property))"),
                method("removeFrom\(suffix)(at indexes: NSIndexSet)", "remove(at: indexes, from: \(property))"),
                method(
                    "replace\(suffix)(at idx: Int, with value: \(destination))",
                    "replace(at: NSIndexSet(index: idx), with: [value], in: \(property))"),
                method(
                    "replace\(suffix)(at indexes: NSIndexSet, with values: [\(destination)])",
                    "replace(at: indexes, with: values, in: \(property))"),
            ]
        }
        methods += [
            method("addTo\(suffix)(_ value: \(destination))", "add(value, to: \(property))"),
            method("removeFrom\(suffix)(_ value: \(destination))", "remove(value, from: \(property))"),
            method("addTo\(suffix)(_ values: \(collection))", "add(values, to: \(property))"),
            method("removeFrom\(suffix)(_ values: \(collection))", "remove(values, from: \(property))"),
        ]
        return """
            // MARK: Generated accessors for \(relationship.name)
            extension \(className) {

            \(methods.joined(separator: "\n"))
            }

            """
    }
}
