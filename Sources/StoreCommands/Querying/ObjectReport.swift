internal import Foundation
package import ObjectGraph

/// Shows an object with all its properties.
package struct ObjectReport {
    /// The maximum number of related objects in a table.
    private static let listedObjects = 20

    private let store: OpenStore
    /// The ID of the object.
    package let id: NSManagedObjectID

    /// - Parameter reference: A URI (`x-coredata://…/Album/p12`), or its end (`Album/p12`).
    /// - Throws: The mistake in the reference, and the correction.
    package init(_ reference: String, in store: OpenStore) throws {
        self.store = store
        let parts = reference.split(separator: "/").map(String.init)
        let isWhole = reference.hasPrefix("x-coredata://")
        guard isWhole || parts.count == 2 else {
            throw CommandError.make(
                "“\(reference)” names no object.", next: "Give a URI, or an entity and a key as they are in its URI: Album/p12.")
        }
        let entity = try store.entity(parts[parts.count - 2].removingPercentEncoding ?? parts[parts.count - 2])
        let text = isWhole ? reference : "x-coredata://\(store.store.identifier ?? "")/\(reference)"
        guard let url = URL(string: text), let id = store.coordinator.managedObjectID(forURIRepresentation: url) else {
            let belongs = isWhole && parts.dropFirst().first != store.store.identifier
            throw CommandError.make(
                "“\(reference)” names no object.",
                reason: belongs ? "It belongs to another store: the UUID of this one is \(store.store.identifier ?? "unknown")." : nil,
                next: "The keys are those that “coredata query STORE \(entity)” shows.")
        }
        self.id = id
    }

    /// - Throws: An error if there is no such object.
    private func object() throws -> NSManagedObject {
        do { return try store.context.existingObject(with: id) } catch {
            throw CommandError.make(
                "The store has no object \(ValueText.short(id)).", reason: (error as NSError).localizedFailureReason,
                next: "“coredata query STORE \(id.entity)” shows those that it has.", cause: error)
        }
    }

    package func json() throws -> JSONValue {
        try store.read {
            let object = try object()
            let properties = Self.shown(object.entity)
            return .object(
                [
                    .init(name: "$id", value: .string(object.objectID.uriRepresentation().absoluteString)),
                    .init(name: "$entity", value: .string(object.entity.name ?? "")),
                ] + properties.map { .init(name: $0.name, value: ValueText.json(object.value(forKey: $0.name), $0)) })
        }
    }

    private static func shown(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        func place(_ property: NSPropertyDescription) -> Int {
            (property as? NSRelationshipDescription).map { $0.isToMany ? 2 : 1 } ?? 0
        }
        return entity.properties.filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
            .sorted { (place($0), $0.name) < (place($1), $1.name) }
    }

    package func write(_ format: OutputFormat, to output: any Output) throws {
        if format == .json { return try output.line(json().text()) }
        try store.read {
            let object = try object()
            try output.line(object.objectID.uriRepresentation().absoluteString)
            let properties = Self.shown(object.entity)
            let width = properties.map { DisplayText.width(DisplayText.line($0.name)) }.max() ?? 0
            for property in properties {
                let name = DisplayText.line(property.name)
                let blanks = String(repeating: " ", count: width - DisplayText.width(name))
                let value = object.value(forKey: property.name)
                let text = ValueText.cell(value, property).text
                try output.line("  \(name)\(blanks)  \(output.width.map { DisplayText.cut(text, to: max(20, $0 - width - 4)) } ?? text)")
                try list(value, property, output)
            }
        }
    }

    /// Lists the first objects of a to-many relationship.
    private func list(_ value: Any?, _ property: NSPropertyDescription, _ output: any Output) throws {
        guard property is NSRelationshipDescription, case .array(let ids) = ValueText.json(value, property), !ids.isEmpty else { return }
        let names = ids.prefix(Self.listedObjects).map { id -> String in
            if case .string(let uri) = id { uri.split(separator: "/").suffix(2).joined(separator: "/") } else { "" }
        }
        let rest = ids.count > names.count ? ", and \(DisplayText.grouped(ids.count - names.count)) more" : ""
        try output.line("      " + DisplayText.line(names.joined(separator: ", ")) + rest)
    }
}
