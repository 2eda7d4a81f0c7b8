internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

extension RecordStore {
    // MARK: Saving

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try requestLock.withLock {
            try StoreFiles.locking(place.folder) {
                if place.replacement.needsRecovery { try place.replacement.recover() }
                for _ in 0..<10 {
                    try mergeOutsideChanges()
                    let parts = try collect(changes)
                    try checkUniqueness(changes)
                    // Changes that others have made at the last moment are merged, too.
                    do { return try write(changes, parts) } catch is FileReplacement.OthersHaveWritten { continue }
                }
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "The files at \(place.folder) were not written.",
                    reason: "Another program writes them all the time.", next: "Save again.", info: [NSFilePathErrorKey: place.folder])
            }
        }
    }

    private func write(_ changes: StoreChangeSet, _ parts: [RecordChanges]) throws -> SaveOutcome {
        var outcome = SaveOutcome()
        var newImages: [Int: RecordImage] = [:]
        var files: [FileReplacement.File] = []
        for (index, part) in parts.enumerated() where !part.isEmpty {
            let mode = FileStamp(images[index].path)?.mode ?? 0o644
            if mode & 0o222 == 0 {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "The file at \(images[index].path) is not written.", reason: "Nobody may write to it.",
                    next: "Change its permissions, and save again.", info: [NSFilePathErrorKey: images[index].path])
            }
            let image = try changedImage(images[index], part)
            newImages[index] = image
            files.append(
                FileReplacement.File(
                    name: place.fileName(image.plan.name), text: try encodedText(of: image), mode: mode,
                    expected: .init(images[index].stamp)))
        }
        if let file = try changedMetadata() { files.append(file) }
        if place.file == nil, !files.isEmpty {
            // Each entity has a file, so that the folder can be read as a whole.
            for (index, image) in images.enumerated() where newImages[index] == nil && FileStamp(image.path) == nil {
                newImages[index] = image
                files.append(
                    FileReplacement.File(
                        name: place.fileName(image.plan.name), text: try encodedText(of: image), mode: 0o644, expected: .missing))
            }
        }
        try place.replacement.replace(files)
        for (index, image) in newImages {
            image.stamp = FileStamp(image.path)
            images[index] = image
        }
        if !newImages.isEmpty {
            forgetRelated()
            changeCount &+= 1
        }
        if uniqueness != nil {
            for change in changes.inserted + changes.updated { uniqueness?.set(try row(with: change.objectID), of: change.objectID) }
            for change in changes.deleted { uniqueness?.set(nil, of: change.objectID) }
        }
        let completed = parts.flatMap(\.completed)
        outcome.rows = try completed.compactMap { try row(with: $0) }
        return outcome
    }

    /// Sorts the changes by files and records, and checks whether others have changed the same objects since they were read.
    ///
    /// - Throws: ``StoreConflicts``.
    private func collect(_ changes: StoreChangeSet) throws -> [RecordChanges] {
        var parts = images.map { _ in RecordChanges() }
        // A million of them take tens of megabytes, which would be copied each time the array grows.
        if parts.count == 1 { parts[0].updates.reserveCapacity(changes.updated.count + changes.locked.count) }
        var conflicts: [StoreConflicts.Version] = []
        func find(_ change: StoreChange) throws -> (file: Int, record: Int)? {
            let id = change.objectID
            guard let found = try record(of: id) else {
                if change.baseVersion != nil || change.row != nil { conflicts.append(.init(id, stored: nil)) }
                return nil
            }
            guard let version = change.baseVersion else { return found }
            let stored = try row(found.record, in: found.file)
            if stored.version == version { return found }
            conflicts.append(.init(id, stored: stored))
            return nil
        }
        for (part, isLock) in [(changes.updated, false), (changes.locked, true)] {
            for index in part.indices {
                let change = part[index]
                guard let (file, record) = try find(change), let row = change.row else { continue }
                let shape = images[file].shape(record)
                if let key = shape.keyField, change.changed.contains(key.property.slotIndex),
                    try Self.keyText(key, row) != keyText(record, file)
                {
                    throw fixedKey(change.objectID, key)
                }
                if shape.keyColumns.count > 1 || images[file].plan.hasSharedNames {
                    try checkColumns(change, row, file, record, shape)
                }
                parts[file].updates.append(
                    .init(record: record, row: row, changed: isLock ? PropertySet() : change.changed, version: row.version))
            }
        }
        for change in changes.deleted { if let (file, record) = try find(change) { parts[file].deletions.append(record) } }
        for id in changes.returning { if let stored = try row(with: id) { conflicts.append(.init(id, stored: stored)) } }
        if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
        for change in changes.inserted {
            let entity = change.objectID.owningEntity
            guard let row = change.row, let file = fileOfRoot[ObjectIdentifier(entity.rootEntity)],
                let shape = images[file].plan.shapeIndex(of: entity)
            else { throw notKept(entity) }
            let key = RecordKey.text(change.objectID.reference)
            let kind = images[file].plan.shapes[shape]
            if kind.keyColumns.count > 1, try Self.composedKey(kind, row) != key, let field = kind.keyParts.joined().first?.field {
                throw fixedKey(change.objectID, field)
            }
            if images[file].plan.hasSharedNames, try checkSharedColumns(row, images[file].plan, shape, changed: nil) {
                parts[file].completed.append(change.objectID)
            }
            if let field = images[file].plan.shapes[shape].keyField {
                let value = try Self.keyText(field, row)
                if value == nil {
                    parts[file].completed.append(change.objectID)
                } else if value != key {
                    throw fixedKey(change.objectID, field)
                }
            }
            if try record(of: change.objectID) != nil {
                throw CoreDataError.make(
                    NSManagedObjectConstraintMergeError, "“\(key)” has become the key of another “\(entity)”.",
                    reason: "Another program has added it meanwhile.", next: "Insert the object again.",
                    info: [NSAffectedObjectsErrorKey: [change.objectID]])
            }
            parts[file].insertions.append(.init(shape: shape, key: key, row: row, version: row.version))
        }
        try collectPairs(changes, &parts)
        for index in parts.indices {
            // Usually, they are in the order of the file.
            let updates = parts[index].updates.indices
            let isSorted = updates.dropFirst().allSatisfy { parts[index].updates[$0 - 1].record <= parts[index].updates[$0].record }
            if !isSorted { parts[index].updates.sort { $0.record < $1.record } }
            parts[index].deletions.sort()
        }
        return parts
    }

    /// Checks that no change gives a record another key, or a column two values.
    private func checkColumns(_ change: StoreChange, _ row: Row, _ file: Int, _ record: Int, _ shape: RecordShape) throws {
        if shape.keyColumns.count > 1,
            let changed = shape.keyParts.joined().first(where: { change.changed.contains($0.field.property.slotIndex) }),
            try Self.composedKey(shape, row) != keyText(record, file)
        {
            throw fixedKey(change.objectID, changed.field)
        }
        let plan = images[file].plan
        _ = try checkSharedColumns(row, plan, images[file].shapeIndex(record), changed: change.changed)
        // Nil cannot be written if each column also belongs to another property.
        for (field, names) in zip(shape.fields, plan.fieldNames[images[file].shapeIndex(record)])
        where field.columns.count > 1 && change.changed.contains(field.property.slotIndex) && field.isNil(in: row) {
            guard plan.parts(names).allSatisfy(plan.sharedNames[images[file].shapeIndex(record)].contains) else { continue }
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "“\(field.property)” of \(change.objectID) cannot be nil.",
                reason: "Its columns are those of other properties, or of the key.", next: "Set those to nil, or delete the object.",
                info: [NSAffectedObjectsErrorKey: [change.objectID]])
        }
    }

    private func keyText(_ record: Int, _ file: Int) throws -> String { RecordKey.text(try id(record, in: file).reference) }

    private func fixedKey(_ id: NSManagedObjectID, _ field: RecordField) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "“\(field.property)” of \(id) cannot be changed.",
            reason: "It is the key, by which the file and other records know the object.", next: "Insert a new object with the other key.",
            info: [NSAffectedObjectsErrorKey: [id]])
    }

    /// Creates the text of a file with changes, and parses it: a text that cannot be parsed is not written.
    private func changedImage(_ old: RecordImage, _ changes: RecordChanges) throws -> RecordImage {
        let text = TextBytes(try format.text(of: old, changed: changes))
        let image = RecordImage(old.plan, path: old.path, text: text, form: old.form, stamp: nil)
        // In this case, no record gets another key or another index.
        if format.keepsOrder, !old.isKeyless, changes.insertions.isEmpty, changes.deletions.isEmpty, !plan.layout.skipsUnreadableRecords {
            image.knownIndex = old.index
            (image.lastNumber, image.hasNumericKeys) = (old.lastNumber, old.hasNumericKeys)
        }
        // The unreadable records of the old image are still there.
        try format.scan(image, progress: nil, skip: plan.layout.skipsUnreadableRecords ? { _ in } : nil)
        guard image.count == old.count + changes.insertions.count - changes.deletions.count else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The file at \(old.path) was not written.",
                reason:
                    "It would have had \(image.count) records instead of \(old.count + changes.insertions.count - changes.deletions.count).",
                next: "Look whether the dialect of the file is right.")
        }
        keepNumbers(of: old, in: image, changes)
        try carry(old, to: image, changes)
        return image
    }

    /// Keeps the numbers of records in a file without keys.
    private func keepNumbers(of old: RecordImage, in image: RecordImage, _ changes: RecordChanges) {
        if !old.isKeyless && !image.isKeyless { return }
        let deleted = Set(changes.deletions)
        let staying = old.numbers.indices.lazy.filter { !deleted.contains($0) }.map { old.numbers[$0] }
        image.numbers = Array(staying) + changes.insertions.compactMap { Int64($0.key) }
        image.lastNumber = max(old.lastNumber, image.numbers.last ?? 0)
    }

    /// Copies the data about unchanged records to the new image.
    private func carry(_ old: RecordImage, to image: RecordImage, _ changes: RecordChanges) throws {
        let countsVersions = image.plan.versionName < 0
        let deleted = Set(changes.deletions)
        let counted = countsVersions ? changes.updates : []
        if !old.rows.isEmpty || old.count == 0 && image.text.count <= plan.layout.keepsRowsUpTo {
            image.rows = [Row?](repeating: nil, count: image.count)
        }
        if !old.bumps.isEmpty || !counted.isEmpty { image.bumps = Array(repeating: 0, count: image.count) }
        if image.rows.isEmpty && image.bumps.isEmpty && old.skipped.isEmpty { return }
        var places: [Int] = Array(repeating: -1, count: old.count)
        if format.keepsOrder || old.isKeyless {
            var next = 0
            for record in 0..<old.count where !deleted.contains(record) {
                places[record] = next
                next += 1
            }
        } else {
            for record in 0..<old.count where !deleted.contains(record) && !old.skipped.contains(record) {
                if let place = try Self.record(like: record, of: old, in: image, format) { places[record] = place }
            }
        }
        for record in 0..<old.count where places[record] >= 0 {
            let place = places[record]
            if !old.rows.isEmpty { image.rows[place] = old.rows[record] }
            if !old.bumps.isEmpty { image.bumps[place] = old.bumps[record] }
            if !old.skipped.isEmpty, old.skipped.contains(record) { image.skipped.insert(place) }
        }
        for update in changes.updates {
            if !image.rows.isEmpty { image.rows[places[update.record]] = nil }
            if countsVersions { image.bumps[places[update.record]] += 1 }
        }
    }

    /// Returns the record of another image with the same key as a record.
    static func record(like record: Int, of old: RecordImage, in image: RecordImage, _ format: any RecordFormat) throws -> Int? {
        let reader = old.walking ?? format.reader(of: old)
        old.walking = reader
        let finding = image.finding ?? format.reader(of: image)
        image.finding = finding
        let shape = old.shapeIndex(record)
        do {
            try reader.open(record)
            let key = reader.cell(old.plan.keyNames[shape]).text
            return try image.index.find(RecordKey.hash(key)) { other in
                guard image.shape(other).root === old.plan.shapes[shape].root else { return false }
                try finding.open(other)
                return finding.cell(image.plan.keyNames[image.shapeIndex(other)]).text.elementsEqual(key)
            }
        } catch let mistake as FileMistake {
            throw old.error(mistake)
        }
    }

    func encodedText(of image: RecordImage) throws -> TextBytes {
        if image.form.encoding == .utf8, !image.form.hasByteOrderMark { return image.text }
        do {
            return TextBytes(try image.form.encoded(Array(image.text.buffer)))
        } catch {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The file at \(image.path) cannot be written.", reason: "Expected \(error.expected).",
                next: "Save the file once as UTF-8, or change the value.", info: [NSFilePathErrorKey: image.path])
        }
    }

    /// Returns the file with the metadata, if it must be written.
    func changedMetadata() throws -> FileReplacement.File? {
        let hashes = Dictionary(
            entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }, uniquingKeysWith: { first, _ in first })
        var wanted = metadata ?? [:]
        wanted[NSStoreModelVersionHashesKey] = hashes
        wanted["NSStoreModelVersionHashesVersion"] = 3
        wanted[NSStoreModelVersionIdentifiersKey] = (persistentStoreCoordinator?.managedObjectModel.versionIdentifiers ?? [])
            .compactMap { $0.base as? String }.sorted()
        let known = try place.metadata(ofType: Self.storeType)
        if let known, NSDictionary(dictionary: known).isEqual(to: wanted) { return nil }
        let file = try place.metadataFile(wanted)
        metadata = wanted
        return file
    }
}

extension RecordStore: ConflictFinding {
    func latestRow(for id: NSManagedObjectID) throws -> LatestRow { try row(with: id).map { .row($0) } ?? .deleted }

    func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row] {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return [] }
        let index = try uniqueness ?? UniquenessIndex(table, model: model)
        uniqueness = index
        return try index.owners(of: constraint, key).compactMap { try row(with: $0) }
    }
}
