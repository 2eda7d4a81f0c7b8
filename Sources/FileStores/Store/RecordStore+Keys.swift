internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension RecordStore {
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        try requestLock.withLock {
            var given = GivenKeys()
            var ids = [NSManagedObjectID?](repeating: nil, count: new.count)
            var waiting = Array(new.indices)
            // An object whose key contains that of another new object comes after it.
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

    /// The IDs that new objects have received.
    private struct GivenKeys {
        var ids: Set<NSManagedObjectID> = []
        /// The new IDs by the temporary ones, if keys contain those of other objects.
        var byFormer: [NSManagedObjectID: NSManagedObjectID] = [:]
    }

    /// Returns the ID of a new object; nil if its key contains that of a new object without an ID.
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

    /// Returns the key of a new object: the value of the attribute with the key, the values of the properties in a composite key, or a generated key.
    /// Nil if it contains the key of another new object without an ID.
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

    /// Returns the composite key of a new object; nil if a part is the key of another new object without an ID.
    private func composedKey(
        of object: NewObject, _ shape: RecordShape, _ related: (NSRelationshipDescription) -> NSManagedObjectID?
    ) throws -> String? {
        var parts: [String] = []
        for (column, writers) in zip(shape.keyColumns, shape.keyParts) {
            var found: String?
            for (field, part) in writers where found == nil {
                if let relationship = field.relationship {
                    guard let id = related(relationship) else { continue }
                    // An object of another store is copied from there, and receives another ID here.
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

    /// Returns the key in a row's attribute for it; nil if the attribute is nil.
    static func keyText(_ field: RecordField, _ row: Row) throws -> String? {
        guard case .attribute(let codec) = field.role else { return nil }
        var text: [UInt8] = []
        if case .null = try codec.write(row, to: &text) { return nil }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Returns the text of a row for a column of a property; nil if the property is nil.
    static func text(_ field: RecordField, _ part: Int, _ row: Row) throws -> String? {
        guard let relationship = field.relationship else { return try keyText(field, row) }
        guard let id = row.relatedIDs(relationship).first else { return nil }
        return CompositeKey.parts(RecordKey.text(id.reference), count: field.columns.count)?[part]
    }

    /// Returns the composite key of a row; nil if a part is nil.
    static func composedKey(_ shape: RecordShape, _ row: Row) throws -> String? {
        var parts: [String] = []
        for writers in shape.keyParts {
            guard let found = try writers.lazy.compactMap({ try text($0.field, $0.part, row) }).first else { return nil }
            parts.append(found)
        }
        return CompositeKey.text(parts)
    }

    // MARK: Columns of several properties

    /// Checks that properties of a row with a common column have equal texts for it.
    ///
    /// - Parameter changed: The properties that are written; nil for all.
    /// - Returns: Whether an attribute receives a value that the row lacks.
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
