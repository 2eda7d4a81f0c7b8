internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Embedded rows that are kept until they are requested.
// Everything is in a `LockedBox`.
final class ParkedRows: Sendable {
    private struct Parked {
        let row: Row
        let time: AskTime
        let turn: UInt64
    }
    private struct State {
        // This is not a table of values by ID, because the compiler does not specialize it here, and hundreds of thousands of rows may be embedded.
        var index = IDIndex()
        /// The rows by the numbers of their objects; nil for unused numbers.
        var rows: [Parked?] = []
        /// The order of arrival, for the limit. Entries of rows that were taken are skipped.
        var order: [(number: Int, turn: UInt64)] = []
        var start = 0
        var turn: UInt64 = 0
        /// The time at which rows were forgotten: a row that was requested before may be stale.
        var forgottenAt: UInt64 = 0

        func parked(_ id: NSManagedObjectID) -> Parked? { index.number(of: id).flatMap { rows[$0] } }

        mutating func remove(_ id: NSManagedObjectID) {
            guard let number = index.remove(id) else { return }
            rows[number] = nil
            // The memory of a large table is released. All entries of the order are obsolete now.
            if index.count == 0, rows.capacity > 1024 { (index, rows, order, start) = (IDIndex(), [], [], 0) }
        }
    }

    private let limit: Int
    private let state = LockedBox(State())

    init(limit: Int) { self.limit = limit }

    var count: Int { state.withLock { $0.index.count } }

    /// Keeps rows, the latest ones if there are too many. Rows that were requested before others were forgotten, and arrive only now, are not kept.
    func park(_ rows: some Sequence<Row>, at time: AskTime) {
        if limit == 0 { return }
        state.withLock { state in
            if time.uptime < state.forgottenAt { return }
            for row in rows {
                guard let id = row.objectID else { continue }
                state.turn &+= 1
                let number = state.index.numberMaking(id).number
                let parked = Parked(row: row, time: time, turn: state.turn)
                if number == state.rows.count { state.rows.append(parked) } else { state.rows[number] = parked }
                state.order.append((number, state.turn))
            }
            while state.index.count > limit, state.start < state.order.count {
                let (number, turn) = state.order[state.start]
                state.start += 1
                if let parked = state.rows[number], parked.turn == turn { state.remove(parked.row.knownObjectID) }
            }
            if state.start > 1024, state.start * 2 > state.order.count || state.order.count > 4 * limit {
                state.order.removeFirst(state.start)
                state.start = 0
            }
            if state.order.count > 4 * max(limit, 1024) {
                let rows = state.rows
                state.order = state.order[state.start...].filter { rows[$0.number]?.turn == $0.turn }
                state.start = 0
            }
        }
    }

    /// Removes and returns the rows of objects, unless they are too old.
    ///
    /// - Parameters:
    ///   - ids: The objects; those without a row remain.
    ///   - oldest: The time before which rows are ignored; nil for any.
    func take(_ ids: inout [NSManagedObjectID], since oldest: Duration?) -> [(row: Row, time: AskTime)] {
        state.withLock { state in
            if state.index.count == 0 { return [] }
            var taken: [(row: Row, time: AskTime)] = []
            ids.removeAll { id in
                guard let known = state.parked(id) else { return false }
                state.remove(id)
                if let oldest, known.time.clock < oldest { return false }
                taken.append((known.row, known.time))
                return true
            }
            return taken
        }
    }

    /// Returns the members of a to-many relationship in the row of an object, if both are known.
    func list(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) -> [NSManagedObjectID]? {
        state.withLock { state in
            guard let row = state.parked(id)?.row, !row.isUnknown(relationship) else { return nil }
            return row.relatedIDs(relationship)
        }
    }

    /// Forgets the rows of objects.
    func forget(_ ids: some Sequence<NSManagedObjectID>) {
        state.withLock { state in for id in ids { state.remove(id) } }
    }

    /// Forgets all rows, including rows that were requested before a time and are still to arrive.
    func forgetAll(before time: AskTime) {
        // The rows are released without the lock.
        let old = state.withLock { state in
            let old = state
            state = State()
            state.forgottenAt = max(old.forgottenAt, time.uptime)
            return old
        }
        withExtendedLifetime(old) {}
    }
}
