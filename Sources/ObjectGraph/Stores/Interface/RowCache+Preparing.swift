/// The rows of new objects, with the entries of a cache that were made for them while their store writes.
// Its own thread makes it; the saving thread has it afterwards, and `SideWork` orders the two.
final class PreparedRows: @unchecked Sendable {
    struct Place: Sendable {
        /// The number of the entry.
        let number: Int
        /// The very ID, which the row holds.
        let id: ObjectIdentifier
        /// The row, until it is in the entry.
        var row: Row?
    }
    fileprivate(set) var places: [Place] = []
    /// Whether the entries count a context that has the objects.
    fileprivate let areRetained: Bool

    fileprivate init(capacity: Int, areRetained: Bool) {
        self.areRetained = areRetained
        places.reserveCapacity(capacity)
    }
}

extension RowCache {
    /// Makes entries for objects that are about to be saved for the first time. They are empty: the rows count from ``fill(_:)`` on.
    ///
    /// - Parameter retains: Whether this also counts as a context's use of the objects, like ``retain(_:)``.
    /// - Returns: The rows; nil if some have no permanent ID yet.
    func prepare(_ new: [StoreChange], retaining retains: Bool = false) -> PreparedRows? {
        // A store that assigns IDs only when it saves may have assigned some before.
        let areNamed = new.allSatisfy { change in
            change.rowSlots.map { slots in Row.with(slots) { row in row.withUncountedID { $0?.isTemporary == false } } } ?? false
        }
        guard areNamed else { return nil }
        reserve(new.count)
        let prepared = PreparedRows(capacity: new.count, areRetained: retains)
        changeInParts(new.count) { entries, _, part in
            for index in part {
                guard let slots = new[index].rowSlots else { continue }
                let row = Row(slots)
                let id = row.knownObjectID
                let number = entries.number(id, default: Entry())
                if retains { entries.values[number]!.holders += 1 }
                prepared.places.append(PreparedRows.Place(number: number, id: ObjectIdentifier(id), row: row))
            }
        }
        return prepared
    }

    /// Puts the rows into their entries after the save, once.
    ///
    /// - Returns: The indexes of the objects that have other entries meanwhile, or had some before: they are saved in the usual way.
    func fill(_ prepared: PreparedRows) -> [Int] {
        defer { checkInvariants() }
        var others: [Int] = []
        changeInParts(prepared.places.count) { entries, _, part in
            let now = Self.now
            for index in part {
                let number = prepared.places[index].number
                let isFilled =
                    entries.index.isNumber(number, of: prepared.places[index].id)
                    && entries.values[number]!.fill(with: &prepared.places[index].row, at: now)
                if !isFilled { others.append(index) }
            }
        }
        let used = prepared.places
        prepared.places = []
        SideThreads.shared.release(consume used)
        return others
    }

    /// Removes the entries of objects that were not saved.
    func remove(_ prepared: PreparedRows) {
        if prepared.areRetained { release(prepared.places.compactMap { $0.row?.knownObjectID }) }
        changeInParts(prepared.places.count) { entries, _, part in
            for place in prepared.places[part] {
                guard entries.index.isNumber(place.number, of: place.id), let entry = entries.values[place.number], let row = place.row
                else { continue }
                if entry.holders == 0, entry.content == nil { entries.remove(row.knownObjectID) }
            }
        }
    }
}

extension RowCache.Entry {
    /// Takes the row of a saved object, unless there is other content or a relationship.
    fileprivate mutating func fill(with row: inout Row?, at time: UInt64) -> Bool {
        guard content == nil, related.isEmpty, let row = row.take() else { return false }
        isDeleted = false
        (self.time, saveTime) = (time, time)
        content = .row(row)
        return true
    }
}
