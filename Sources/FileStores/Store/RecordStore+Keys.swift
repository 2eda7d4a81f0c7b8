internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RecordStore {
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try requestLock.withLock {
            var given = GivenKeys()
            var ids = [NSManagedObjectID?](repeating: nil, count: new.count)
            var waiting = Array(new.indices)
            // An object whose key has that of another new object comes behind it.
            while !waiting.isEmpty {
                var left: [Int] = []
                for index in waiting {
                    if let id = try permanentID(new, index, &given) { ids[index] = id } else { left.append(index) }
                }
                guard left.count < waiting.count else {
                    throw noKey(new[left[0]].entity, "The keys of new objects consist of one another.")
                }
                waiting = left
            }
            return ids.compactMap { $0 }
        }
    }

    /// The IDs that were given to new objects.
    private struct GivenKeys {
        var ids: Set<NSManagedObjectID> = []
        /// By their former IDs; kept where keys consist of those of others.
        var byFormer: [NSManagedObjectID: NSManagedObjectID] = [:]
    }

    /// Returns the ID of a new object; nil where its key has that of a new object that has none yet.
    private func permanentID(_ new: NewObjects, _ index: Int, _ given: inout GivenKeys) throws -> NSManagedObjectID? {
        let object = new[index]
        guard let file = fileOfRoot[ObjectIdentifier(object.entity.rootEntity)],
            let shape = images[file].plan.shapeIndex(of: object.entity)
        else { throw notKept(object.entity) }
        guard
            let key = try key(
                of: object, images[file].plan.shapes[shape], file,
                related: { relationship in
                    new.relatedID(at: index, relationship).map { given.byFormer[$0] ?? $0 }
                })
        else { return nil }
        let id = NSManagedObjectID(entity: object.entity, token: token, reference: RecordKey.reference(key))
        guard given.ids.insert(id).inserted, try record(of: id) == nil else {
            throw CoreDataError.make(
                NSManagedObjectConstraintMergeError, "“\(key)” is the key of another “\(object.entity)”.",
                reason: "The file knows its records by “\(images[file].plan.shapes[shape].keyName)”.",
                next: "Give the object another key, or save the deletion of the other first.")
        }
        if hasKeysOfOthers, let former = new.formerID(at: index) { given.byFormer[former] = id }
        return id
    }

    func notKept(_ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The store has no file for “\(entity)”.", next: "Check the configuration of the store.",
            info: [NSAffectedStoresErrorKey: [self]])
    }

    private func noKey(_ entity: NSEntityDescription, _ reason: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A new “\(entity)” has no key.", reason: reason, next: "Set it before the object is saved.")
    }

    /// Returns the key of a new object: the value of the attribute that is the key, those of the properties that it consists of, or a new
    /// one. Nil where it consists of that of another new object that has no ID yet.
    private func key(
        of object: NewObject, _ shape: RecordShape, _ file: Int, related: (NSRelationshipDescription) -> NSManagedObjectID?
    ) throws -> String? {
        let image = images[file]
        if shape.keyColumns.count > 1 { return try composedKey(of: object, shape, related) }
        if image.isKeyless || image.count > 0 && image.hasNumericKeys && shape.keyField == nil { return nextNumber(file) }
        if image.count == 0, format.isKeyless(image) { return nextNumber(file) }
        guard let field = shape.keyField else { return UUID().uuidString }
        if let row = object.row, let text = try Self.keyText(field, row) { return text }
        guard let attribute = field.property as? NSAttributeDescription else { return UUID().uuidString }
        switch attribute.attributeType {
        case .stringAttributeType, .UUIDAttributeType: return UUID().uuidString
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return nextNumber(file)
        default: throw noKey(shape.entity, "“\(attribute)” is nil.")
        }
    }

    /// Returns the key of several columns of a new object; nil where a part is that of another new object that has no ID yet.
    private func composedKey(
        of object: NewObject, _ shape: RecordShape, _ related: (NSRelationshipDescription) -> NSManagedObjectID?
    ) throws -> String? {
        var parts: [String] = []
        for (column, writers) in zip(shape.keyColumns, shape.keyParts) {
            var found: String?
            for (field, part) in writers where found == nil {
                if let relationship = field.relationship {
                    guard let id = related(relationship) else { continue }
                    // That of another store is copied from there, and gets another one here.
                    if id.isTemporaryID || id.token !== token { return nil }
                    found = CompositeKey.parts(RecordKey.text(id.reference), count: field.columns.count)?[part]
                } else if let row = object.row {
                    found = try Self.keyText(field, row)
                }
            }
            guard let found else { throw noKey(shape.entity, "Nothing says what “\(column)” is.") }
            parts.append(found)
        }
        return CompositeKey.text(parts)
    }

    private func nextNumber(_ file: Int) -> String {
        givenNumbers[file] = max(givenNumbers[file], images[file].lastNumber) + 1
        return String(givenNumbers[file])
    }

    /// Returns the key that a row has in the attribute for it; nil where that is nil.
    static func keyText(_ field: RecordField, _ row: Row) throws -> String? {
        guard case .attribute(let codec) = field.role else { return nil }
        var text: [UInt8] = []
        if case .null = try codec.write(row, to: &text) { return nil }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Returns what a row has under a column of a property; nil where that is nil.
    static func text(_ field: RecordField, _ part: Int, _ row: Row) throws -> String? {
        guard let relationship = field.relationship else { return try keyText(field, row) }
        guard let id = row.relatedIDs(relationship).first else { return nil }
        return CompositeKey.parts(RecordKey.text(id.reference), count: field.columns.count)?[part]
    }

    /// Returns the key of several columns that a row has; nil where one of them is nil.
    static func composedKey(_ shape: RecordShape, _ row: Row) throws -> String? {
        var parts: [String] = []
        for writers in shape.keyParts {
            guard let found = try writers.lazy.compactMap({ try text($0.field, $0.part, row) }).first else { return nil }
            parts.append(found)
        }
        return CompositeKey.text(parts)
    }

    // MARK: Columns of several properties

    /// Throws where properties of a row that have a column in common say different things of it.
    ///
    /// - Parameter changed: The properties that are written; nil for all.
    /// - Returns: Whether an attribute gets a value that the row does not have.
    func checkSharedColumns(_ row: Row, _ plan: FilePlan, _ shape: Int, changed: PropertySet?) throws -> Bool {
        var isCompleted = false
        for name in plan.sharedNames[shape].sorted() {
            let writers = plan.writers[shape][name].map { (field: plan.shapes[shape].fields[$0.field], part: $0.part) }
            if let changed, !writers.contains(where: { changed.contains($0.field.property.slotIndex) }) { continue }
            var known: (field: RecordField, text: String)?
            var lacksValue = false
            for (field, part) in writers {
                guard let text = try Self.text(field, part, row) else {
                    if field.relationship == nil { lacksValue = true }
                    continue
                }
                if let known, known.text != text {
                    throw CoreDataError.make(
                        NSPersistentStoreSaveError, "\(row.knownObjectID) cannot be written.",
                        reason:
                            "“\(known.field.property)” and “\(field.property)” have the column “\(plan.names[name])”, which would be “\(known.text)” and “\(text)”.",
                        next: "Set both to what belongs together.", info: [NSAffectedObjectsErrorKey: [row.knownObjectID]])
                }
                known = known ?? (field, text)
            }
            if known != nil, lacksValue { isCompleted = true }
        }
        return isCompleted
    }
}
