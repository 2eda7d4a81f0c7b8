internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RecordStore {
    // MARK: IDs

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try requestLock.withLock {
            var given: Set<NSManagedObjectID> = []
            return try new.map { object in
                guard let file = fileOfRoot[ObjectIdentifier(object.entity.rootEntity)],
                    let shape = images[file].plan.shapeIndex(of: object.entity)
                else { throw notKept(object.entity) }
                let key = try key(of: object, images[file].plan.shapes[shape], file)
                let id = NSManagedObjectID(entity: object.entity, token: token, reference: RecordKey.reference(key))
                guard given.insert(id).inserted, try record(of: id) == nil else {
                    throw CoreDataError.make(
                        NSManagedObjectConstraintMergeError, "“\(key)” is the key of another “\(object.entity)”.",
                        reason: "The file knows its records by “\(images[file].plan.shapes[shape].keyName)”.",
                        next: "Give the object another key, or save the deletion of the other first.")
                }
                return id
            }
        }
    }

    private func notKept(_ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The store has no file for “\(entity)”.", next: "Check the configuration of the store.",
            info: [NSAffectedStoresErrorKey: [self]])
    }

    /// Returns the key of a new object: the value of the attribute that is the key, or a new one.
    private func key(of object: NewObject, _ shape: RecordShape, _ file: Int) throws -> String {
        let image = images[file]
        if image.isKeyless || image.count > 0 && image.hasNumericKeys && shape.keyField == nil { return nextNumber(file) }
        if image.count == 0, format.isKeyless(image) { return nextNumber(file) }
        guard let field = shape.keyField else { return UUID().uuidString }
        if let row = object.row, let text = try Self.keyText(field, row) { return text }
        guard let attribute = field.property as? NSAttributeDescription else { return UUID().uuidString }
        switch attribute.attributeType {
        case .stringAttributeType, .UUIDAttributeType: return UUID().uuidString
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return nextNumber(file)
        default:
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A new “\(shape.entity)” has no key.", reason: "“\(attribute)” is nil.",
                next: "Set it before the object is saved.")
        }
    }

    private func nextNumber(_ file: Int) -> String {
        givenNumbers[file] = max(givenNumbers[file], images[file].lastNumber) + 1
        return String(givenNumbers[file])
    }

    /// Returns the key that a row has in the attribute for it; nil where that is nil.
    private static func keyText(_ field: RecordField, _ row: Row) throws -> String? {
        guard case .attribute(let codec) = field.role else { return nil }
        var text: [UInt8] = []
        if case .null = try codec.write(row, to: &text) { return nil }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    // MARK: Saving

    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try requestLock.withLock {
            try FileCalls.locking(place.folder) {
                if place.replacement.needsRecovery { try place.replacement.recover() }
                try mergeOutsideChanges()
                let parts = try collect(changes)
                try checkUniqueness(changes)
                return try write(changes, parts)
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
                    name: place.fileName(image.plan.name), bytes: try bytes(of: image), mode: mode))
        }
        if let file = try changedMetadata() { files.append(file) }
        try place.replacement.replace(files)
        for (index, image) in newImages {
            image.stamp = FileStamp(image.path)
            images[index] = image
        }
        if !newImages.isEmpty {
            inverses = [:]
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

    /// Sorts the changes by files and records, and looks whether others have changed the same objects since they were read.
    ///
    /// - Throws: ``StoreConflicts``.
    private func collect(_ changes: StoreChangeSet) throws -> [RecordChanges] {
        var parts = images.map { _ in RecordChanges() }
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
        for index in parts.indices {
            parts[index].updates.sort { $0.record < $1.record }
            parts[index].deletions.sort()
        }
        return parts
    }

    private func keyText(_ record: Int, _ file: Int) throws -> String { RecordKey.text(try id(record, in: file).reference) }

    private func fixedKey(_ id: NSManagedObjectID, _ field: RecordField) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "“\(field.property)” of \(id) cannot be changed.",
            reason: "It is the key, by which the file and other records know the object.", next: "Insert a new object with the other key.",
            info: [NSAffectedObjectsErrorKey: [id]])
    }

    /// Makes the text of a file with changes, and reads it back: what cannot be read is not written.
    private func changedImage(_ old: RecordImage, _ changes: RecordChanges) throws -> RecordImage {
        let text = TextBytes(try format.text(of: old, changed: changes))
        let image = RecordImage(old.plan, path: old.path, text: text, form: old.form, stamp: nil)
        // What could not be read before is still there.
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

    /// Gives the records of a file without keys the numbers that they had.
    private func keepNumbers(of old: RecordImage, in image: RecordImage, _ changes: RecordChanges) {
        if !old.isKeyless && !image.isKeyless { return }
        let deleted = Set(changes.deletions)
        let staying = old.numbers.indices.lazy.filter { !deleted.contains($0) }.map { old.numbers[$0] }
        image.numbers = Array(staying) + changes.insertions.compactMap { Int64($0.key) }
        image.lastNumber = max(old.lastNumber, image.numbers.last ?? 0)
    }

    /// Takes over what is known of records that stay.
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

    /// Returns the record of another image with the key of a record.
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

    private func bytes(of image: RecordImage) throws -> [UInt8] {
        do {
            return try image.form.encoded(Array(image.text.buffer))
        } catch {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The file at \(image.path) cannot be written.", reason: "Expected \(error.expected).",
                next: "Save the file once as UTF-8, or change the value.", info: [NSFilePathErrorKey: image.path])
        }
    }

    /// Returns the file of the metadata where it must be written.
    private func changedMetadata() throws -> FileReplacement.File? {
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

    // MARK: Changes of others

    /// Reads the files that others have changed since, so that this save changes what they have written.
    ///
    /// Records that have other text have a new version, so that a save that changed them conflicts. Others are as they were.
    func mergeOutsideChanges() throws {
        var hasChanges = false
        for index in images.indices where FileStamp(images[index].path) != images[index].stamp {
            let old = images[index]
            var report = FileReport()
            let new = try read(old.plan, progress: nil, report: &report)
            if new.text.buffer.elementsEqual(old.text.buffer), new.form == old.form {
                old.stamp = new.stamp
                continue
            }
            hasChanges = true
            if new.isKeyless || old.isKeyless {
                try compareByNumber(old, new)
            } else {
                try compareByKey(old, new)
            }
            images[index] = new
        }
        if !hasChanges { return }
        inverses = [:]
        uniqueness = nil
        changeCount &+= 1
        for (index, image) in images.enumerated() {
            var report = FileReport()
            try redecode(index, image, &report)
        }
    }

    /// Checks all records of a changed file, as when it was opened.
    private func redecode(_ index: Int, _ image: RecordImage, _ report: inout FileReport) throws {
        image.rows = image.text.count <= plan.layout.keepsRowsUpTo ? Array(repeating: nil, count: image.count) : []
        for record in 0..<image.count {
            do { _ = try row(record, in: index) } catch {
                guard plan.layout.skipsUnreadableRecords else { throw error }
                image.skipped.insert(record)
            }
        }
    }

    private func compareByKey(_ old: RecordImage, _ new: RecordImage) throws {
        new.bumps = Array(repeating: 0, count: new.count)
        for record in 0..<old.count where !old.skipped.contains(record) {
            guard let other = try Self.record(like: record, of: old, in: new, format) else { continue }
            try note(old, record, new, other)
        }
    }

    /// Records without keys are what they were only where all before them are.
    private func compareByNumber(_ old: RecordImage, _ new: RecordImage) throws {
        new.bumps = Array(repeating: 0, count: new.count)
        // A deleted record leaves a gap, which the file does not show.
        for record in 0..<min(old.numbers.count, new.numbers.count) { new.numbers[record] = old.numbers[record] }
        var next = old.lastNumber
        for record in min(old.numbers.count, new.numbers.count)..<new.numbers.count {
            next += 1
            new.numbers[record] = next
        }
        new.lastNumber = next
        for record in 0..<min(old.count, new.count) { try note(old, record, new, record) }
    }

    private func note(_ old: RecordImage, _ record: Int, _ new: RecordImage, _ other: Int) throws {
        let isSame =
            try format.recordText(record, of: old).elementsEqual(format.recordText(other, of: new))
            || haveSameValues(old, record, new, other)
        new.bumps[other] = (old.bumps.isEmpty ? 0 : old.bumps[record]) + (isSame ? 0 : 1)
    }

    /// Whether two records have the same values, perhaps in other columns or other quotes.
    private func haveSameValues(_ old: RecordImage, _ record: Int, _ new: RecordImage, _ other: Int) throws -> Bool {
        let (before, after) = (old.walking ?? format.reader(of: old), new.walking ?? format.reader(of: new))
        (old.walking, new.walking) = (before, after)
        do {
            try before.open(record)
            try after.open(other)
        } catch { return false }
        return old.plan.names.indices.allSatisfy { name in
            let (first, second) = (before.cell(name), after.cell(name))
            return first.isNil == second.isNil && (first.isNil || first.text.elementsEqual(second.text))
        }
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
