import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Stores that Core Data has made on Apple's systems. The suite runs when the environment names the folder that holds them; it works on
/// copies.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MaterialStoreTests {
    private static var folder: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "") }

    /// A store and a copy of it, log included.
    private struct Copy {
        let name: String
        let pad: Scratchpad
        let owner: URL

        init(_ path: String) throws {
            name = path
            pad = try Scratchpad()
            let source = MaterialStoreTests.folder.appendingPathComponent("stores").appendingPathComponent(path)
            owner = MaterialStoreTests.folder.appendingPathComponent("models").appendingPathComponent(
                path.split(separator: "/").first.map(String.init) ?? "")
            for ending in ["", "-wal"] {
                let from = source.path + ending
                if FileManager.default.fileExists(atPath: from) {
                    try FileManager.default.copyItem(atPath: from, toPath: pad.store.path + ending)
                    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: pad.store.path + ending)
                }
            }
        }

        /// The model that the store keeps of itself, or one among those beside it that has its tables.
        func model() throws -> NSManagedObjectModel {
            if let model = try SQLiteModelCache.model(in: SQLiteFiles.connectForReading(pad.store, timeout: 5)) { return model }
            let hashes = try SQLiteMetadata.read(from: SQLiteFiles.connectForReading(pad.store, timeout: 5))[NSStoreModelVersionHashesKey]
            let names = Set((hashes as? [String: Data] ?? [:]).keys)
            let paths = FileManager.default.enumerator(atPath: owner.path)?.compactMap { $0 as? String } ?? []
            var reasons: [String] = []
            for path in paths.sorted() where path.hasSuffix(".xcdatamodel") || path.hasSuffix(".mom") {
                guard let model = try? NSManagedObjectModel(reading: owner.appendingPathComponent(path)),
                    Set(model.entities.compactMap(\.name)) == names
                else { continue }
                do {
                    let coordinator = try NSPersistentStoreCoordinator(checking: model)
                    try coordinator.addPersistentStore(
                        ofType: NSSQLiteStoreType, configurationName: nil, at: pad.store, options: [NSReadOnlyPersistentStoreOption: true])
                    return model
                } catch { reasons.append("\(path): \(error.localizedDescription)") }
            }
            throw CoreDataError.make(NSCoreDataError, "There is no model for \(name).", reason: reasons.joined(separator: "\n"))
        }
    }

    private static func paths() -> [String] {
        let root = folder.appendingPathComponent("stores")
        let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".sqlite") || $0.hasSuffix(".moody") }.sorted()
    }

    /// Tables and indexes of a file, with one space between words.
    private static func definitions(_ pad: Scratchpad, in file: URL? = nil) throws -> [String: String] {
        let rows = try pad.texts("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL", in: file)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1] ?? "") })
    }

    /// Stores of long ago differ in what this does not copy: the order of columns, indexes made with the tables, uniqueness in the table.
    private static func isOfToday(_ metadata: [String: Any]) -> Bool {
        (metadata["NSPersistenceFrameworkVersion"] as? Int ?? 0) > 700
    }

    @Test func whatIsMadeForAModelIsWhatCoreDataHasMade() throws {
        var compared = 0
        for path in Self.paths() {
            let copy = try Copy(path)
            let model = try copy.model()
            try model.freeze()
            let metadata = try SQLiteMetadata.read(from: SQLiteFiles.connectForReading(copy.pad.store, timeout: 5))
            let found = try Self.definitions(copy.pad)
            let schema = SQLSchema(model: model, entities: model.entities)
            // Migrated stores keep the order in which columns came.
            func columns(_ sql: String) -> Set<String> {
                guard let start = sql.firstIndex(of: "("), let end = sql.lastIndex(of: ")") else { return [] }
                let list = sql[sql.index(after: start)..<end].components(separatedBy: ", CONSTRAINT")[0]
                return Set(list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
            }
            let made = schema.tables.map { ($0.name.name, $0.definition) } + schema.joins.map { ($0.name.name, $0.definition) }
            for (name, sql) in made {
                expect(found[name].map(columns), equals: columns(sql), "\(path): \(name)")
                if Self.isOfToday(metadata) { expect(found[name], equals: sql, "\(path): \(name)") }
                compared += 1
            }
            let tables = Set(made.map(\.0))
            for (name, sql) in found where sql.hasPrefix("CREATE TABLE") && !tables.contains(name) {
                #expect(SQLSchema.metadataTables.contains(sql), "\(path): \(name)")
            }
            guard Self.isOfToday(metadata) else { continue }
            let indexes = Dictionary(uniqueKeysWithValues: schema.indexes.map { ($0.name.name, $0.sql) })
            let foundIndexes = found.filter { $0.value.hasPrefix("CREATE INDEX") || $0.value.hasPrefix("CREATE UNIQUE") }
            expect(indexes, equals: foundIndexes, "\(path)")
        }
        print("\(compared) tables of \(Self.paths().count) stores are what would be made here.")
    }

    /// What models that lie beside a store say otherwise of a property than the store's own, and why.
    private static func reason(_ difference: String) -> String? {
        let reasons = [
            "isIndexed is true here, false there.": "The compiler marks a property that has an index of its own.",
            "versionHashModifier is": "It marks a version, and the versions of a model differ by it.",
            "BookmarkEntity.favorites: inverseRelationship is favoriteFolders here, favoriteFolder there.":
                "The relationship was renamed in version 4, and the store is later.",
            "BookmarkEntity.favorites: inverseRelationship is favoriteFolder here, favoriteFolders there.":
                "The relationship was renamed in version 4, and the store is earlier.",
            "Car.color: attributeValueClassName is none here, Color there.": "The archive says nothing; the source names the class.",
        ]
        return reasons.first { difference.contains($0.key) }?.value
    }

    @Test func modelsBesideAStoreSayOfPropertiesThatBothHaveWhatTheStoresOwnSays() throws {
        var pairs = 0
        var properties = 0
        for path in Self.paths() {
            let copy = try Copy(path)
            guard let own = try SQLiteModelCache.model(in: SQLiteFiles.connectForReading(copy.pad.store, timeout: 5)) else { continue }
            func places(_ model: NSManagedObjectModel) -> Set<String> {
                Set(model.entities.flatMap { entity in entity.declaredProperties.map { "\(entity.name ?? "?").\($0.name)" } })
            }
            let paths = FileManager.default.enumerator(atPath: copy.owner.path)?.compactMap { $0 as? String } ?? []
            for file in paths.sorted() where file.hasSuffix(".xcdatamodel") || file.hasSuffix(".mom") {
                let model = try NSManagedObjectModel(reading: copy.owner.appendingPathComponent(file))
                // Another model of the same owner has other entities.
                guard Set(model.entities.map(\.name)) == Set(own.entities.map(\.name)) else { continue }
                let shared = places(own).intersection(places(model))
                pairs += 1
                properties += shared.count
                for difference in own.differences(from: model, includingFileAttributes: false) {
                    guard let place = difference.split(separator: ":").first, shared.contains(String(place)) else { continue }
                    #expect(Self.reason(difference) != nil, "\(path), \(file): \(difference)")
                }
            }
        }
        print("\(pairs) models that lie beside stores were compared, over \(properties) properties.")
        #expect(pairs > 10)
    }

    @Test func entityNumbersAreThoseOfCoreData() throws {
        for path in Self.paths() {
            let copy = try Copy(path)
            let model = try copy.model()
            try model.freeze()
            let found = try copy.pad.texts("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT")
            let schema = SQLSchema(model: model, entities: model.entities)
            let made = schema.entities.map { entity in
                [
                    String(entity.number), entity.entity.name,
                    String(entity.entity.superentity.flatMap { schema.entity($0)?.number } ?? 0),
                ]
            }
            // A migration leaves the names of entities that were renamed.
            let names = Set(model.entities.map(\.name))
            expect(made.map { $0[0] }, equals: found.map { $0[0] }, "\(path)")
            for row in found where names.contains(row[1]) { #expect(made.contains(row), "\(path): \(row)") }
        }
    }

    @Test func everyStoreOpensAndEveryValueIsWhatPlainSQLReads() throws {
        var values = 0
        for path in Self.paths() {
            let copy = try Copy(path)
            let model = try copy.model()
            let context = try copy.pad.context(model)
            try context.performAndWait {
                for entity in model.entities {
                    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                    request.includesSubentities = false
                    let objects = try context.fetch(request)
                    values += try compare(objects, entity, copy)
                }
            }
        }
        print("\(values) values of \(Self.paths().count) stores are what plain SQL reads.")
        #expect(values > 30_000)
    }

    private func compare(_ objects: [NSManagedObject], _ entity: NSEntityDescription, _ copy: Copy) throws -> Int {
        guard let store = objects.first?.objectID.persistentStore as? SQLiteStore else { return 0 }
        let place = try store.sqlEntity(entity)
        let byKey = Dictionary(
            uniqueKeysWithValues: objects.compactMap { object in store.place(of: object.objectID).map { ($0.key, object) } })
        let condition = place.condition(includingSubentities: false).map { " WHERE \($0)" } ?? ""
        let keys = try store.database().texts("SELECT Z_PK FROM \(place.table)\(condition)")
        expect(Set(keys.compactMap { $0[0].flatMap(Int64.init) }), equals: Set(byKey.keys), "\(copy.name): \(entity)")
        var values = 0
        for property in entity.frozen!.properties {
            let column: SQLIdentifier
            switch place[property] {
            case .attribute(let attribute): column = attribute.column
            case .toOne(let key): column = key.column
            case .toMany, .unstored: continue
            }
            for row in try store.database().texts(
                "SELECT Z_PK, \(column), hex(\(column)), typeof(\(column)) FROM \(place.table)\(condition)")
            {
                guard let object = row[0].flatMap(Int64.init).flatMap({ byKey[$0] }) else { continue }
                let value = object.value(forKey: property.name)
                #expect(same(value, row), "\(copy.name): \(property) is \(String(describing: value)), plain SQL reads \(row)")
                values += 1
            }
        }
        return values
    }

    private func same(_ value: Any?, _ row: [String?]) -> Bool {
        guard let text = row[1] else { return value == nil }
        switch value {
        case nil: return false
        case let string as String: return string == text
        case let date as Date: return Double(text).map { abs($0 - date.timeIntervalSinceReferenceDate) < 1e-5 } ?? false
        case let decimal as Decimal: return Decimal(string: text) == decimal
        // SQLite writes 15 digits, and attributes of single precision round to 7.
        case let number as NSNumber:
            return Double(text).map { abs($0 - number.doubleValue) <= abs($0) * 1e-7 } ?? false
        case let data as Data: return data.map { String(format: "%02X", $0) }.joined() == row[2]
        case let uuid as UUID: return withUnsafeBytes(of: uuid) { $0.map { String(format: "%02X", $0) }.joined() } == row[2]
        case let url as URL: return url.absoluteString == text
        case let object as NSManagedObject: return object.objectID.uriRepresentation().lastPathComponent == "p\(text)"
        default: return row[3] == "blob"
        }
    }

    @Test func aStoreOpensWithTheModelFileItWasMadeFromWhateverItsHashes() throws {
        let models = Self.folder.appendingPathComponent(
            "models/duckduckgo+BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld")
        for (path, version) in [
            ("Bookmarks_V1", "BookmarksModel"), ("Bookmarks_V2", "BookmarksModel 2"), ("Bookmarks_V4", "BookmarksModel 4"),
        ] {
            let copy = try Copy("duckduckgo+BrowserServicesKit/\(path).sqlite")
            let model = try NSManagedObjectModel(reading: models.appendingPathComponent("\(version).xcdatamodel"))
            let context = try copy.pad.context(model)
            let count = try context.performAndWait { try context.all("BookmarkEntity").count }
            #expect(count > 0, "\(path)")
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: copy.pad.store)
            let bundle = try #require(Bundle(path: models.deletingLastPathComponent().path))
            let found = try #require(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata), "\(path)")
            #expect(found.differences(from: model).isEmpty, "\(path)")
            let other = try NSManagedObjectModel(reading: models.appendingPathComponent("BookmarksModel 3.xcdatamodel"))
            let error = try #require(failure { _ = try copy.pad.coordinator(other) })
            expect(error.code, equals: NSPersistentStoreIncompatibleVersionHashError)
        }
    }

    @Test func editingAStoreLeavesItWholeAndTheTablesThatAreNotTouchedAsTheyAre() throws {
        var edited = 0
        for path in Self.paths() {
            let copy = try Copy(path)
            let model = try copy.model()
            func contents() throws -> [String: [[String?]]] {
                let tables = try copy.pad.texts("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] }
                return Dictionary(
                    uniqueKeysWithValues: try tables.map { ($0, try copy.pad.texts("SELECT * FROM \(SQLIdentifier($0))")) })
            }
            let definitions = try Self.definitions(copy.pad)
            let before = try contents()
            var touched: String?
            try {
                let context = try copy.pad.context(model)
                try context.performAndWait {
                    for entity in model.entities where touched == nil {
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                        request.fetchLimit = 1
                        let text = entity.frozen!.properties.first {
                            ($0 as? NSAttributeDescription)?.attributeType == .stringAttributeType && !$0.isTransient
                                && !entity.frozen!.uniqueness.flatMap(\.slotIndexes).contains($0.slotIndex)
                        }
                        guard let text, let object = try context.fetch(request).first else { continue }
                        object.setValue("changed here", forKey: text.name)
                        try context.save()
                        touched = (context.persistentStoreCoordinator?.persistentStores[0] as? SQLiteStore)
                            .flatMap { try? $0.sqlEntity(entity).table.name }
                    }
                }
            }()
            let after = try contents()
            try expect(Self.definitions(copy.pad), equals: definitions, "\(path)")
            expect(Set(after.keys), equals: Set(before.keys), "\(path)")
            for (table, rows) in before where table != touched { expect(after[table], equals: rows, "\(path): \(table)") }
            if let touched {
                let changed = zip(before[touched] ?? [], after[touched] ?? []).filter { $0 != $1 }
                expect(changed.count, equals: 1, "\(path): \(touched)")
                expect(changed.first?.1.contains("changed here"), equals: true)
                edited += 1
            }
            try expect(copy.pad.texts("PRAGMA integrity_check"), equals: [["ok"]], "\(path)")
        }
        print("\(edited) stores were edited.")
        #expect(edited > 10)
    }
}
