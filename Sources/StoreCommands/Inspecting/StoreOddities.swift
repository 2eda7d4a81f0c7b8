internal import Foundation
internal import ObjectGraph
internal import SQLiteStore

/// The unusual properties of a store that are quick to detect; `check` examines every row.
struct StoreOddities {
    private let store: OpenStore
    private let files: [StoreFiles]

    init(_ store: OpenStore, _ files: [StoreFiles]) { (self.store, self.files) = (store, files) }

    func found() throws -> [String] {
        guard let file = store.file else { return [] }
        var found: [String] = []
        func bytes(_ ending: String) -> Int64 { files.first { $0.name.hasSuffix(ending) }?.bytes ?? 0 }
        if bytes("-wal") > 0 {
            found.append(
                "The latest changes are in \(store.url.lastPathComponent)-wal: a copy of the store without that file is older, or damaged.")
        }
        if bytes("-journal") > 0 {
            found.append(
                "A program ended within a transaction: what it had written is undone by the next that opens the store for writing.")
        }
        func number(_ pragma: String) throws -> Int64 {
            if case .integer(let number)? = try file.rows("PRAGMA \(pragma)").first?.first { number } else { 0 }
        }
        let (pages, free, size) = (try number("page_count"), try number("freelist_count"), try number("page_size"))
        if free * 4 > pages, free * size > 1_000_000 {
            found.append(
                "\(DisplayText.bytes(free * size)) of \(DisplayText.bytes(pages * size)) are free: NSSQLiteManualVacuumOption returns them."
            )
        }
        let names = Set(store.model.entities.compactMap(\.name))
        var written: Set<String> = []
        for row in try file.rows("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") {
            if case .text(let name) = row[0] { written.insert(name) }
        }
        let unknown = written.subtracting(names).sorted()
        if !unknown.isEmpty { found.append("The file has entities that the model has not: \(unknown.joined(separator: ", ")).") }
        let metadata = try file.metadata()
        if metadata[NSStoreModelVersionHashesKey] == nil {
            found.append("The metadata have no version hashes: any model is taken for the right one.")
        }
        let transformables = try transformableAttributes(file)
        if !transformables.isEmpty {
            found.append("Transformable values are shown as their bytes: \(transformables.joined(separator: ", ")).")
        }
        let foreign = try file.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'Z%' AND name NOT LIKE 'sqlite_%' AND name NOT IN "
                + "('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') AND name NOT LIKE 'ANSCK%' ORDER BY name"
        ).compactMap { if case .text(let name) = $0[0] { name } else { nil } }
        if !foreign.isEmpty { found.append("The file has tables that are not Core Data's: \(foreign.joined(separator: ", ")).") }
        return found
    }

    /// Returns the attributes that are transformable in the model in the file.
    private func transformableAttributes(_ file: SQLiteInspection) throws -> [String] {
        guard case .store = store.modelOrigin, let model = try file.model() else { return [] }
        return model.entities.flatMap { entity in
            entity.properties.compactMap { property in
                guard let attribute = property as? NSAttributeDescription, attribute.entity === entity,
                    attribute.attributeType == .transformableAttributeType
                else { return nil }
                return "\(entity.name ?? "").\(attribute.name)"
            }
        }.sorted()
    }
}
