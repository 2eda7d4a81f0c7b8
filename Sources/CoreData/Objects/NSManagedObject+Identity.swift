// An object that a store with counted rows has fetched knows its number and where it comes from. Its ID is made when somebody asks for it:
// most objects of a long list are never asked.

extension NSManagedObject {
    /// The ID; nil for a new object that nobody has asked for one.
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

    /// Whether the object has been saved under an ID of its own.
    final var hasPermanentID: Bool { origin != nil || madeID.map { !$0.isTemporary } ?? false }

    /// The key under which identity maps file the object; nil where it has no ID. May be asked on any queue.
    final var identityKey: Int64? {
        if let origin { return origin.key(number) }
        return madeID?.key
    }

    /// Whether the object has an ID. May be asked on any queue, under the lock of the registry.
    final func isIdentified(by id: NSManagedObjectID) -> Bool {
        if let origin { return origin.isSame(number, as: id) }
        return madeID.map { $0 === id || $0.isSame(as: id) } ?? false
    }

    /// Whether the object is that of a row. May be asked on any queue, under the lock of the registry.
    final func isIdentified(by rowNumber: Int64, of rowOrigin: RowOrigin) -> Bool {
        if let origin { return number == rowNumber && origin.sharesNumbers(with: rowOrigin) }
        return madeID.map { rowOrigin.isSame(rowNumber, as: $0) } ?? false
    }
}
