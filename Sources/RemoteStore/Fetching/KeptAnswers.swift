internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The complete answers of endpoints with a freshness, until they expire.
// Everything is in a `LockedBox`.
final class KeptAnswers: Sendable {
    /// The rows of an answer.
    final class Answer: Sendable {
        let rows: RowList
        let time: AskTime
        private let places: LockedBox<IDTable<Int>?> = LockedBox(nil)

        init(_ rows: RowList, _ time: AskTime) {
            self.rows = rows
            self.time = time
        }

        /// Returns the row of an object; nil if the answer has none.
        func row(_ id: NSManagedObjectID) -> Row? {
            let place = places.withLock { places -> Int? in
                if let places { return places[id] }
                var made = IDTable<Int>()
                made.reserveCapacity(rows.count)
                for (index, row) in rows.enumerated() { if let id = row.objectID { made[id] = index } }
                places = made
                return made[id]
            }
            return place.map { rows[$0] }
        }
    }

    private struct Entry {
        let answer: Answer
        let epoch: UInt64
        /// The objects whose current values were requested since: until they are read otherwise, the answer is not used.
        var outdated: Set<NSManagedObjectID> = []
        var time: Duration { answer.time.clock }

        func isAbout(_ id: NSManagedObjectID) -> Bool {
            answer.rows.first.map { $0.knownObjectID.owningEntity.top === id.owningEntity.top } ?? false
        }
    }

    private static let limit = 64
    private let entries = LockedBox<[BackendRequest: Entry]>([:])
    private let now: @Sendable () -> Duration

    init(now: @escaping @Sendable () -> Duration) { self.now = now }

    /// Returns a fresh answer to a request.
    ///
    /// - Parameters:
    ///   - age: The age that the endpoint allows.
    ///   - maximumAge: The age that the caller allows, in seconds; negative for any.
    func answer(_ request: BackendRequest, age: Duration?, maximumAge: Double, epoch: UInt64) -> Answer? {
        guard let age else { return nil }
        let time = now()
        return entries.withLock { entries in
            guard let entry = entries[request], entry.epoch == epoch, entry.outdated.isEmpty, time - entry.time < age,
                maximumAge < 0 || time - entry.time < .seconds(maximumAge)
            else { return nil }
            return entry.answer
        }
    }

    /// Notes that the current values of objects are requested.
    func outdate(_ ids: [NSManagedObjectID]) {
        entries.withLock { entries in
            for (request, entry) in entries {
                let own = ids.filter { entry.isAbout($0) }
                if !own.isEmpty { entries[request]?.outdated.formUnion(own) }
            }
        }
    }

    /// Notes that current values of objects were received.
    func didRead(_ rows: RowList) {
        entries.withLock { entries in
            for (request, entry) in entries where !entry.outdated.isEmpty {
                for row in rows { entries[request]?.outdated.remove(row.knownObjectID) }
            }
        }
    }

    /// Keeps a complete answer; the oldest one is evicted if there are too many.
    func keep(_ rows: RowList, _ request: BackendRequest, askedAt time: AskTime, epoch: UInt64) {
        let old = entries.withLock { entries -> Entry? in
            var old = entries.updateValue(Entry(answer: Answer(rows, time), epoch: epoch), forKey: request)
            if entries.count > Self.limit, let oldest = entries.min(by: { $0.value.time < $1.value.time }) {
                old = entries.removeValue(forKey: oldest.key)
            }
            return old
        }
        withExtendedLifetime(old) {}
    }
}
