internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import PropertyLists
internal import RemoteStore
internal import SQLiteStore

/// A report about a store: its files, metadata, model, entities and history, and its unusual properties.
package struct StoreReport {
    private let json: JSONValue

    /// - Throws: The errors of reading the store.
    package init(_ store: OpenStore) throws {
        let metadata = store.store.metadata ?? [:]
        let (model, note): (String, String?) =
            switch store.modelOrigin {
            case .store: ("kept by the store", nil)
            case .file(let path): (path, nil)
            case .drafted(let note): ("drafted", note)
            }
        let files = try StoreFiles.of(store)
        let ((entities, uncounted), history) = (try Self.entities(store, metadata), try Self.history(store))
        json = .members([
            "path": .string(store.place), "kind": .string(store.kind.rawValue),
            "uuid": .string(metadata[NSStoreUUIDKey] as? String ?? store.store.identifier ?? ""),
            "files": .array(files.map { .members(["name": .string($0.name), "bytes": .integer($0.bytes), "holds": .string($0.holds)]) }),
            "model": .members([
                "origin": .string(model), "note": note.map(JSONValue.string),
                "identifiers": .array(Self.identifiers(store, metadata).map(JSONValue.string)),
                "checksum": (metadata["NSStoreModelVersionChecksumKey"] as? String).map(JSONValue.string),
            ]), "metadata": Self.shown(metadata), "entities": .array(entities), "history": history,
            "oddities": .array((uncounted + (try StoreOddities(store, files).found())).map(JSONValue.string)),
        ])
    }

    private static func identifiers(_ store: OpenStore, _ metadata: [String: Any]) -> [String] {
        if let known = metadata[NSStoreModelVersionIdentifiersKey] as? [Any] { return known.map { "\($0)" }.filter { !$0.isEmpty } }
        return store.model.versionIdentifiers.map { "\($0.base)" }.sorted()
    }

    /// Returns the metadata without the parts that are shown elsewhere.
    private static func shown(_ metadata: [String: Any]) -> JSONValue {
        let elsewhere: Set = [
            NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, NSStoreTypeKey,
            "NSStoreModelVersionHashesDigest",
            "NSStoreModelVersionChecksumKey", "NSStoreModelVersionHashesVersion",
        ]
        return .object(
            metadata.filter { !elsewhere.contains($0.key) && !$0.key.hasPrefix("OpenCoreData") }.sorted { $0.key < $1.key }
                .map { .init(name: $0.key, value: json($0.value)) })
    }

    private static func json(_ value: Any) -> JSONValue {
        switch value {
        case let text as String: .string(text)
        case let date as Date: .string(DateText.text(date))
        case let data as Data: .string("\(data.count) bytes")
        case let list as [Any]: .array(list.map(json))
        case let values as [String: Any]: .object(values.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: json($0.value)) })
        case let number as NSNumber: .real(number.doubleValue)
        default: .string("\(value)")
        }
    }

    /// Returns the entities with the numbers of their objects, and the reasons for missing numbers.
    private static func entities(_ store: OpenStore, _ metadata: [String: Any]) throws -> (list: [JSONValue], uncounted: [String]) {
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        var uncounted: [String] = []
        let list: [JSONValue] = try store.read {
            var list: [JSONValue] = []
            for entity in store.model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
                try Interruption.check()
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                let count = try Self.count(request, of: entity, in: store, &uncounted)
                list.append(json(of: entity, count, hashes[entity.name ?? ""] ?? entity.versionHash))
            }
            return list
        }
        return (list, uncounted)
    }

    private static func json(of entity: NSEntityDescription, _ count: Int?, _ hash: Data) -> JSONValue {
        .members([
            "name": .string(entity.name ?? ""), "objects": count.map(JSONValue.count) ?? .null,
            "parent": entity.superentity?.name.map(JSONValue.string),
            "abstract": entity.isAbstract ? .bool(true) : nil, "attributes": .count(entity.attributesByName.count),
            "relationships": .count(entity.relationshipsByName.count),
            "versionHash": .string(hash.base64EncodedString()),
        ])
    }

    /// The time limit for counting the objects of an entity. A view may have infinitely many rows.
    private static let countingTime = Duration.seconds(10)

    /// Returns the number of objects; nil if a web service would have to send all of them, if counting takes too long, or if the rows of a view cannot
    /// be computed.
    private static func count(
        _ request: NSFetchRequest<NSManagedObject>, of entity: NSEntityDescription, in store: OpenStore, _ uncounted: inout [String]
    ) throws -> Int? {
        if entity.isAbstract { return 0 }
        guard store.counts(request, in: store.context) else { return nil }
        do { return try TimeLimit.limited(to: countingTime) { try store.context.count(for: request) } } catch {
            guard store.isOfOneEntity(error) else { throw error }
            uncounted.append("“\(entity)” cannot be counted: \((error as NSError).localizedFailureReason ?? error.localizedDescription)")
            return nil
        }
    }

    private static func history(_ store: OpenStore) throws -> JSONValue? {
        guard let file = store.file, try StoreHistory.isKept(by: store) else { return nil }
        let row = try file.rows("SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP), MAX(Z_PK) FROM ATRANSACTION").first ?? []
        let changes = try file.rows("SELECT COUNT(*) FROM ACHANGE").first ?? []
        func integer(_ cell: SQLiteInspection.Cell?) -> JSONValue {
            if case .integer(let number)? = cell { .integer(number) } else { .null }
        }
        func date(_ cell: SQLiteInspection.Cell?) -> JSONValue {
            switch cell {
            case .real(let seconds): .string(DateText.text(Date(timeIntervalSinceReferenceDate: seconds)))
            case .integer(let seconds): .string(DateText.text(Date(timeIntervalSinceReferenceDate: Double(seconds))))
            default: .null
            }
        }
        return .members([
            "transactions": integer(row.first), "changes": integer(changes.first), "first": date(row.dropFirst().first),
            "last": date(row.dropFirst(2).first), "lastNumber": integer(row.last),
        ])
    }

    // MARK: Writing

    package func write(_ format: OutputFormat, to output: any Output) throws {
        if format == .json { return try output.line(json.text()) }
        func text(_ value: JSONValue?) -> String { if case .string(let text)? = value { DisplayText.line(text) } else { "" } }
        func number(_ value: JSONValue?) -> Int { if case .integer(let number)? = value { Int(number) } else { 0 } }
        func elements(_ value: JSONValue?) -> [JSONValue] { if case .array(let elements)? = value { elements } else { [] } }
        try output.line("\(text(json["path"]))")
        try output.line("\(text(json["kind"])) store \(text(json["uuid"]))")
        for file in elements(json["files"]) {
            try output.line("  \(text(file["name"]))  \(DisplayText.bytes(Int64(number(file["bytes"]))))  \(text(file["holds"]))")
        }
        let identifiers = elements(json["model"]?["identifiers"]).map { text($0) }.joined(separator: ", ")
        try output.line("Model: \(text(json["model"]?["origin"]))" + (identifiers.isEmpty ? "" : ", version \(identifiers)"))
        if let note = json["model"]?["note"] { try output.line("  \(text(note))") }
        if case .object(let members)? = json["metadata"], !members.isEmpty {
            try output.line("Metadata:")
            for member in members {
                let value = if case .string(let text) = member.value { text } else { member.value.text(indent: false) }
                try output.line("  \(DisplayText.line(member.name)): \(DisplayText.line(value))")
            }
        }
        if let history = json["history"] {
            try output.line(
                "History: \(DisplayText.counted(number(history["transactions"]), "transaction")), \(DisplayText.counted(number(history["changes"]), "change")), \(text(history["first"])) to \(text(history["last"]))"
            )
        }
        try output.line()
        var table = TextTable(["Entity", "Objects", "Attributes", "Relationships", "Parent"], width: output.width)
        for entity in elements(json["entities"]) {
            table.add([
                .init(text(entity["name"]) + (entity["abstract"] == nil ? "" : " (abstract)")),
                .init(entity["objects"] == .null ? "?" : DisplayText.grouped(number(entity["objects"])), isNumber: true),
                .init("\(number(entity["attributes"]))", isNumber: true),
                .init("\(number(entity["relationships"]))", isNumber: true), .init(text(entity["parent"])),
            ])
        }
        try table.write(to: output)
        let oddities = elements(json["oddities"])
        if !oddities.isEmpty { try output.line("\nOddities:") }
        for oddity in oddities { try output.line("  - \(text(oddity))") }
    }
}
