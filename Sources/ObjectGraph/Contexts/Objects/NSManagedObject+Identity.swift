// An object from a store with numbered rows knows its row number and its origin. Its ID is created on demand: most objects of a long list
// never need one.

extension NSManagedObject {
    /// The ID; nil for a new object whose ID was never requested.
    final var identifier: NSManagedObjectID? {
        get {
            if let madeID { return madeID }
            guard let origin else { return nil }
            let made = origin.id(number)
            madeID = made
            return made
        }
        set {
            origin = nil
            madeID = newValue
        }
    }

    /// Whether the object was saved under a permanent ID.
    final var hasPermanentID: Bool { origin != nil || madeID.map { !$0.isTemporary } ?? false }

    /// The key of the object in identity maps; nil if it has no ID. Use it on any queue.
    final var identityKey: Int64? {
        if let origin { return origin.key(number) }
        return madeID?.key
    }

    /// Returns whether the object has an ID. Call it on any queue, under the lock of the registry.
    final func isIdentified(by id: NSManagedObjectID) -> Bool {
        if let origin { return origin.isSame(number, as: id) }
        guard let madeID else { return false }
        return madeID === id || madeID.isSame(as: id)
    }

    /// Returns whether the object belongs to a row. Call it on any queue, under the lock of the registry.
    final func isIdentified(by rowNumber: Int64, of rowOrigin: RowOrigin) -> Bool {
        if let origin { return number == rowNumber && origin.sharesNumbers(with: rowOrigin) }
        return madeID.map { rowOrigin.isSame(rowNumber, as: $0) } ?? false
    }
}
