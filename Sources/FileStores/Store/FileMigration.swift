internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Migrates the files of a store to another version of the model. It renames columns and adds new ones. Everything else stays, including data that the
/// newer version lacks.
struct FileMigration {
    private let before: RecordStore
    private let after: RecordStore
    private let mapping: InferredMapping
    // Stores do not retain their coordinators.
    private let coordinators: [NSPersistentStoreCoordinator]
    /// The files to write, by index in the older version: their names and texts.
    private var changes: [(old: Int, name: String, text: TextBytes)] = []
    private(set) var rules: MigrationRules

    /// Reads the files, and determines the changes. The caller has the lock of the folder.
    init(
        _ storeClass: RecordStore.Type, at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel,
        to destination: NSManagedObjectModel, by mapping: InferredMapping, rules: MigrationRules
    ) throws {
        self.mapping = mapping
        self.rules = rules
        func store(_ model: NSManagedObjectModel) throws -> (RecordStore, NSPersistentStoreCoordinator) {
            let coordinator = try NSPersistentStoreCoordinator(checking: model)
            return (
                storeClass.init(persistentStoreCoordinator: coordinator, configurationName: nil, at: url, options: options), coordinator
            )
        }
        let (before, first) = try store(source)
        let (after, second) = try store(destination)
        (self.before, self.after, coordinators) = (before, after, [first, second])
        before.former = FormerLayout(mapping: mapping, layout: after.givenOptions.layout)
        try before.open()
        try after.loadMetadata()
        try makeTexts()
        try after.open()
    }

    // MARK: What is to be written

    private mutating func makeTexts() throws {
        let place = before.place
        var known: [String: Set<String>] = [:]
        for (index, image) in before.images.enumerated() where image.stamp != nil {
            for (file, names) in namesAfter(index) { known[file, default: []].formUnion(names) }
        }
        let plan = try after.makePlan(knownNames: known)
        for (index, image) in before.images.enumerated() where image.stamp != nil {
            guard let name = newName(index) else { continue }
            guard let file = plan.files.first(where: { $0.name == name }) else { continue }
            let change = try change(of: index, file, known)
            let isMoved = place.path(of: name) != image.path
            if change.isEmpty, !isMoved { continue }
            if isMoved, FileStamp(place.path(of: name)) != nil {
                throw failure(
                    "“\(before.plan.files[index].name)” becomes “\(name)”, and there is such a file.", next: "Move one of them away.")
            }
            let text = change.isEmpty ? image.text : TextBytes(try before.format.text(of: image, migrated: change))
            changes.append((index, name, text))
            after.givenTexts[place.path(of: name)] = (text, image.form)
        }
    }

    /// Returns the shape's entity in the newer version; nil if it has none.
    private func destination(_ shape: RecordShape) -> NSEntityDescription? { mapping.entity(from: shape.entity)?.destination }

    /// Returns the name of a file in the newer version; nil if that has none of its entities, in which case the file stays unchanged.
    private func newName(_ index: Int) -> String? {
        if let whole = before.place.file { return whole }
        let shapes = before.plan.files[index].shapes
        if shapes.allSatisfy(\.isJoin) { return before.plan.files[index].name }
        return shapes.lazy.compactMap { destination($0) }.first.map { StorePlan.file(of: $0, after.givenOptions.layout) }
    }

    /// Returns the names in a file's records after the migration, by file (in a JSON document, by list).
    private func namesAfter(_ index: Int) -> [String: Set<String>] {
        guard let name = newName(index) else { return [:] }
        let file = before.plan.files[index]
        var names: [String: Set<String>] = [:]
        for (shape, renamed) in zip(file.shapes, renamedColumns(index)) {
            let isList = before.place.file != nil && before.plan.isJSON
            let old = before.knownNames[isList ? shape.file : file.name] ?? []
            guard isList ? !shape.isJoin : true else { continue }
            let list = isList ? destination(shape).map { StorePlan.file(of: $0, after.givenOptions.layout) } : name
            if let list { names[list, default: []].formUnion(old.map { renamed[$0] ?? $0 }) }
        }
        return names
    }

    /// Returns the new names of columns, by shape and old name.
    private func renamedColumns(_ index: Int) -> [[String: String]] {
        before.plan.files[index].shapes.map { shape in
            guard let entity = mapping.entity(from: shape.entity), let destination = entity.destination else { return [:] }
            let pairs = FormerLayout.pairs(entity)
            var names: [String: String] = [:]
            for field in shape.fields {
                guard let pair = pairs.first(where: { $0.source.name == field.property.name }) else { continue }
                let new = StorePlan.columns(of: pair.destination, in: destination, after.givenOptions.layout)
                guard new.count == field.columns.count else { continue }
                for (old, new) in zip(field.columns, new) where old != new { names[old] = new }
            }
            for (relationship, _) in shape.derived {
                // The list of records that are nested in those of this entity.
                guard let pair = pairs.first(where: { $0.source.name == relationship.name }), before.plan.isJSON else { continue }
                let old = StorePlan.columns(of: relationship, in: shape.entity, before.plan.layout)[0]
                let new = StorePlan.columns(of: pair.destination, in: destination, after.givenOptions.layout)[0]
                if old != new { names[old] = new }
            }
            return names
        }
    }

    private func change(of index: Int, _ file: FilePlan, _ known: [String: Set<String>]) throws -> FormChange {
        let old = before.plan.files[index]
        var change = FormChange(shapeCount: old.shapes.count)
        change.names = renamedColumns(index)
        let isDocument = before.place.file != nil && before.plan.isJSON
        for (index, shape) in old.shapes.enumerated() where !shape.isJoin {
            guard let entity = destination(shape), let new = file.shapes.first(where: { $0.entity === entity }) else {
                if !isDocument || old.shapes.contains(where: { $0 !== shape && $0.file == shape.file }) { change.removed.insert(index) }
                continue
            }
            if isDocument, shape.file != new.file, shape.owner == nil { change.lists[shape.file] = new.file }
            if old.hasEntityColumn, shape.entityText != new.entityText { change.entityTexts[index] = new.entityText }
            if file.hasEntityColumn, !old.hasEntityColumn {
                change.add(
                    before.plan.layout.entityColumn, .init(text: Array(new.entityText.utf8), form: .text), ofShape: index)
            }
            let names = known[isDocument ? new.file : file.name] ?? []
            for field in new.fields where !field.columns.allSatisfy(names.contains) {
                if isDocument, field.relationship != nil { continue }
                for column in field.columns where !names.contains(column) {
                    change.add(column, try Self.defaultValue(field, entity), ofShape: index)
                }
            }
        }
        return change
    }

    private static func defaultValue(_ field: RecordField, _ entity: NSEntityDescription) throws -> FormChange.Value? {
        guard case .attribute(let codec) = field.role, let row = entity.frozenParts.layout.defaultRow else { return nil }
        var text: [UInt8] = []
        let form = try codec.write(row, to: &text)
        if case .null = form { return nil }
        return FormChange.Value(text: text, form: form)
    }

    private func failure(_ reason: String, next: String) -> NSError {
        CoreDataError.make(
            NSMigrationError, "The files at \(before.place.folder) cannot be migrated.", reason: reason, next: next,
            info: [NSFilePathErrorKey: before.place.folder])
    }

    // MARK: Rows that the newer version forbids

    /// Returns the records without a value that the newer version requires.
    func forbidden() throws -> [MigrationEstimate.ForbiddenRow] {
        var found: [MigrationEstimate.ForbiddenRow] = []
        for (index, image) in after.images.enumerated() {
            let required = image.plan.shapes.map { shape in
                shape.fields.filter { field in
                    guard case .attribute = field.role, let entity = mapping.entity(to: shape.entity) else { return false }
                    let source = entity.attributes.first { $0.destination.name == field.property.name }?.source
                    return !field.property.isOptional && source?.isOptional != false
                }
            }
            if required.allSatisfy(\.isEmpty) { continue }
            for record in 0..<image.count where !image.skipped.contains(record) && !image.shape(record).isJoin {
                let row = try after.row(record, in: index)
                let missing = required[image.shapeIndex(record)].filter { $0.isNil(in: row) }.map(\.property.name)
                if missing.isEmpty { continue }
                found.append(
                    .init(
                        uri: row.knownObjectID.uriRepresentation(), entity: image.shape(record).entity.name ?? "", properties: missing,
                        violatesConstraint: false))
            }
        }
        return found
    }

    // MARK: Writing

    func write() throws {
        if rules.forbiddenRows != .keep, let first = try forbidden().first {
            throw CoreDataError.make(
                NSMigrationError, "The files at \(before.place.folder) cannot be migrated.",
                reason: "\(first.uri) has no “\(first.properties[0])”, which the newer version of “\(first.entity)” requires.",
                next: "Complete the files, give the property a default value, or keep such records.",
                info: [NSFilePathErrorKey: before.place.folder])
        }
        let place = before.place
        var files: [FileReplacement.File] = []
        for (index, name, _) in changes {
            guard let image = after.images.first(where: { $0.plan.name == name }) else { continue }
            let mode = FileStamp(before.images[index].path)?.mode ?? 0o644
            files.append(FileReplacement.File(name: place.fileName(name), text: try after.encodedText(of: image), mode: mode))
        }
        if let metadata = try after.changedMetadata() { files.append(metadata) }
        try place.replacement.replace(files)
        // The old files of renamed entities.
        for (index, name, _) in changes where before.images[index].path != place.path(of: name) {
            try FileCalls.remove(before.images[index].path)
        }
        try FileCalls.synchronize(place.folder)
    }

    func estimate() throws -> MigrationEstimate {
        var (rows, deleted): ([String: Int], [String: Int]) = ([:], [:])
        for image in before.images {
            for record in 0..<image.count where !image.skipped.contains(record) && !image.shape(record).isJoin {
                let shape = image.shape(record)
                if let name = destination(shape)?.name {
                    rows[name, default: 0] += 1
                } else {
                    deleted[shape.entity.name ?? "", default: 0] += 1
                }
            }
        }
        let forbidden = try forbidden()
        return MigrationEstimate(
            isInPlace: true, rows: rows, deletedRows: deleted, bytes: changes.reduce(0) { $0 + Int64($1.text.count) },
            forbiddenCount: forbidden.count, forbidden: Array(forbidden.prefix(1000)))
    }
}

extension RecordStore: ModelMigratingStore {
    static func migrateFiles(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping, rules: MigrationRules, progress: Progress?
    ) throws {
        try withPlace(url) { place in
            let migration = try FileMigration(self, at: url, options: options, from: source, to: destination, by: mapping, rules: rules)
            if progress?.isCancelled == true {
                throw CoreDataError.make(
                    NSMigrationCancelledError, "The migration of the files at \(place.folder) was cancelled.",
                    reason: "Its progress was cancelled.", next: "Open the store again.")
            }
            try migration.write()
        }
    }

    static func migrationEstimate(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping
    ) throws -> MigrationEstimate {
        try withPlace(url) { _ in
            try FileMigration(self, at: url, options: options, from: source, to: destination, by: mapping, rules: MigrationRules())
                .estimate()
        }
    }

    private static func withPlace<Result>(_ url: URL, _ body: (FilePlace) throws -> Result) throws -> Result {
        guard let place = FilePlace(url, fileExtension) else { throw StoreFiles.notFound(url.path) }
        return try StoreFiles.locking(place.folder) {
            // Opening the files would wait for the lock to do it.
            if place.replacement.needsRecovery { try place.replacement.recover() }
            return try body(place)
        }
    }

    /// Shared files keep no model.
    static func keptModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? { nil }
    static func hasDeferredMigration(at url: URL, options: [AnyHashable: Any]?) throws -> Bool { false }
    static func continueDeferredMigration(at url: URL, options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws -> Bool { false }
}
