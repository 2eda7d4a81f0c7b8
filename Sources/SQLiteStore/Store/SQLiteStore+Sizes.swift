internal import Foundation
@_spi(Stores) package import ObjectGraph
internal import SQLQueries

extension SQLiteStore: SizedStore {
    package func usedBytes() throws -> Int64 {
        if url.map(SQLiteFiles.isInMemory) ?? true { return 0 }
        let sizes = try reading { reader in
            try reader.database().texts(
                "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()")
        }
        let pages = sizes.first?.first?.flatMap { Int64($0) } ?? 0
        guard schema.entities.contains(where: { !$0.externalColumns.isEmpty }) else { return pages }
        return pages + externalSizes().values.reduce(0, +)
    }

    /// Returns the sizes of the external files by their names.
    private func externalSizes() -> [String: Int64] {
        guard let folder = SQLiteFiles.externalFiles(of: url), let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        else { return [:] }
        var sizes: [String: Int64] = [:]
        for name in names {
            var status = stat()
            if stat(folder.appendingPathComponent(name).path, &status) == 0 { sizes[name] = Int64(status.st_size) }
        }
        return sizes
    }

    package func sizes(of entity: NSEntityDescription) throws -> [Int64: Int64] {
        let root = try sqlEntity(entity)
        var plain: Set<String> = []
        var external: Set<String> = []
        for one in schema.entities where one.rootNumber == root.rootNumber {
            for property in one.properties {
                guard case .attribute(let place) = property else { continue }
                switch place.storage {
                case .externalData: external.insert("\(place.column)")
                // The type of a blob's column yields its length; a text is counted in bytes.
                case .text, .uri: plain.insert("ifnull(length(CAST(\(place.column) AS BLOB)), 0)")
                default: plain.insert("ifnull(length(\(place.column)), 0)")
                }
            }
        }
        // The size of a row apart from its values.
        let sum = (["64"] + plain.sorted()).joined(separator: " + ")
        let columns = external.sorted()
        let files = columns.isEmpty ? [:] : externalSizes()
        let list = columns.flatMap { ["ifnull(length(\($0)), 0)", "CASE WHEN substr(\($0), 1, 1) = x'02' THEN \($0) END"] }
        return try reading { reader in
            try reader.database().with("SELECT \((["Z_PK", sum] + list).joined(separator: ", ")) FROM \(root.table)") { statement in
                var sizes: [Int64: Int64] = [:]
                while try statement.step() {
                    var size = statement.int64(1)
                    for column in columns.indices {
                        size += statement.int64(2 + column * 2)
                        if !statement.isNull(3 + column * 2), let name = SQLExternalFiles.name(in: statement.data(3 + column * 2)) {
                            size += files[name] ?? 0
                        }
                    }
                    sizes[statement.int64(0)] = size
                }
                return sizes
            }
        }
    }

    package func giveBackSpace() throws {
        try writeLock.withLock {
            let connection = try database()
            _ = try connection.texts("PRAGMA incremental_vacuum", .writing)
            // The file shrinks once the log is in it, which is later if others are reading.
            _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)", .writing)
        }
    }
}
