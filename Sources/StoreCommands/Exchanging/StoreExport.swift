internal import Foundation
internal import ObjectGraph

/// Writes the objects of a store to JSON or CSV files that ``StoreImport`` reads, with their relationships.
package struct StoreExport {
    /// The forms of files.
    package enum Form: String, Sendable, CaseIterable {
        case json, csv
    }

    private let store: OpenStore
    private let entities: [NSEntityDescription]
    /// The share of all objects that has been written.
    private let progress = Progress(totalUnitCount: 1)

    /// - Parameter names: The entities to export; an empty array for all.
    /// - Throws: An error with the existing entities, for an unknown name.
    package init(_ store: OpenStore, entities names: [String] = []) throws {
        self.store = store
        let named = try names.map { try store.entity($0) }
        let exported = (named.isEmpty ? store.model.entities : named).filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in exported {
            // SQLite stores show them as their bytes, and in other programs' tables they are JSON.
            guard !store.hasTables,
                let attribute = entity.attributesByName.values.first(where: { $0.attributeType == .transformableAttributeType })
            else { continue }
            throw CommandError.make(
                "“\(entity).\(attribute.name)” cannot be exported.",
                reason: "It is transformable, and only the program that wrote it has its class.",
                next: "Export other entities with --entity.")
        }
        entities = exported
    }

    /// Writes the files.
    ///
    /// - Parameters:
    ///   - path: A file, `.json` for all entities or `.csv` for one, or a folder with a file for each entity. It must not exist yet.
    ///   - form: The form of files in a folder; nil for CSV.
    /// - Returns: The number of objects.
    /// - Throws: An error if the place is not empty, and the errors of reading and writing. Incomplete files are removed.
    package func write(to path: String, form: Form? = nil) throws -> Int {
        try StoreKind.refuseAddress(path)
        let url = URL(fileURLWithPath: path)
        if FileManager.default.fileExists(atPath: url.path) {
            throw CommandError.make(
                "Nothing is exported to \(PlaceText.shown(url.path)).", reason: "There is something already.",
                next: "Give another place, or remove it.")
        }
        let ending = url.pathExtension.lowercased()
        let isFile = !path.hasSuffix("/") && (ending == "json" || ending == "csv")
        if isFile, let form, form.rawValue != ending {
            throw CommandError.make(
                "Nothing is exported to \(PlaceText.shown(url.path)).",
                reason: "The file's name ends in .\(ending), but --format is \(form.rawValue).",
                next: "Give one of both.")
        }
        if isFile, ending == "csv", entities.count != 1 {
            throw CommandError.make(
                "Nothing is exported to \(PlaceText.shown(url.path)).", reason: "A CSV file has the objects of one entity.",
                next: "Name it with --entity, or give the name of a folder, which gets a file for each entity.")
        }
        if !isFile, !ending.isEmpty, !path.hasSuffix("/") {
            throw CommandError.make(
                "Nothing is exported to \(PlaceText.shown(url.path)).", reason: "“.\(ending)” is no form of exported files.",
                next: "End the name with .json or .csv, or with a slash for a folder of CSV files.")
        }
        try StoreCheck.requireObjects(in: store, "Nothing is exported to \(PlaceText.shown(url.path)).")
        try countObjects()
        // The files appear at the place atomically.
        let unfinished = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-\(UUID().uuidString)")
        do {
            let count = isFile ? try file(unfinished, ending) : try folder(unfinished, form ?? .csv)
            try FileManager.default.moveItem(at: unfinished, to: url)
            return count
        } catch {
            // If it could not be created, it is missing.
            try? FileManager.default.removeItem(at: unfinished)
            throw error
        }
    }

    private func file(_ url: URL, _ ending: String) throws -> Int {
        try FileOutput.write(url) { output in
            ending == "csv" ? try writeCSV(entities[0], output) : try writeDocument(output)
        }
    }

    private func folder(_ url: URL, _ form: Form) throws -> Int {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        var count = 0
        for entity in entities {
            let file = url.appendingPathComponent("\(entity.name ?? "").\(form.rawValue)")
            count += try FileOutput.write(file) { output in
                if form == .csv { return try writeCSV(entity, output) }
                let count = try writeList(entity, output)
                try output.line()
                return count
            }
        }
        return count
    }

    private func countObjects() throws {
        // A web service would send all objects to count them.
        if store.service != nil { return }
        var count = 0
        for entity in entities { count += try Query(QueryText(entity.name ?? "", excludesSubentities: true), in: store).count() }
        progress.totalUnitCount = Int64(max(1, count))
    }

    // MARK: The forms

    private func writeDocument(_ output: any Output) throws -> Int {
        var count = 0
        try output.write("{")
        for (index, entity) in entities.enumerated() {
            try output.write((index == 0 ? "\n" : ",\n") + JSONValue.string(entity.name ?? "").text() + ": ")
            count += try writeList(entity, output)
        }
        try output.line(entities.isEmpty ? "}" : "\n}")
        return count
    }

    private func writeList(_ entity: NSEntityDescription, _ output: any Output) throws -> Int {
        var count = 0
        try output.write("[")
        try forEach(entity) { object, properties in
            let id = JSONValue.Member(name: "$id", value: .string(object.objectID.uriRepresentation().absoluteString))
            let values = properties.map { JSONValue.Member(name: $0.name, value: ValueText.json(object.value(forKey: $0.name), $0)) }
            try output.write((count == 0 ? "\n  " : ",\n  ") + JSONValue.object([id] + values).text(indent: false))
            count += 1
        }
        try output.write(count == 0 ? "]" : "\n]")
        return count
    }

    private func writeCSV(_ entity: NSEntityDescription, _ output: any Output) throws -> Int {
        var count = 0
        let names = ExchangeProperties.exported(entity).map { ValueText.field(.string($0.name)) }
        try output.line((["$id"] + names).joined(separator: ","))
        try forEach(entity) { object, properties in
            let values = properties.map { ValueText.field(object.value(forKey: $0.name), $0) }
            try output.line(([object.objectID.uriRepresentation().absoluteString] + values).joined(separator: ","))
            count += 1
        }
        return count
    }

    private func forEach(
        _ entity: NSEntityDescription, _ body: (NSManagedObject, [NSPropertyDescription]) throws -> Void
    ) throws {
        let properties = ExchangeProperties.exported(entity)
        var query = try Query(QueryText(entity.name ?? "", excludesSubentities: true), in: store)
        query.furtherPrefetchedPaths = properties.filter { ($0 as? NSRelationshipDescription)?.isToMany == true }.map(\.name)
        try query.forEach {
            try body($0, properties)
            progress.completedUnitCount += 1
        }
    }
}
