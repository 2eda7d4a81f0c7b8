internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The complete answers of endpoints with a freshness, until that has passed.
// Everything is in a `LockedBox`.
final class KeptAnswers: Sendable {
    /// The rows of an answer.
    final class Answer: Sendable {
        let rows: RowList
        private let places: LockedBox<[NSManagedObjectID: Int]?> = LockedBox(nil)

        init(_ rows: RowList) { self.rows = rows }

        /// Returns the row of an object; nil where the answer has none.
        func row(_ id: NSManagedObjectID) -> Row? {
            let place = places.withLock { places -> Int? in
                if let places { return places[id] }
                var made: [NSManagedObjectID: Int] = [:]
                for (index, row) in rows.enumerated() { if let id = row.objectID { made[id] = index } }
                places = made
                return made[id]
            }
            return place.map { rows[$0] }
        }
    }

    private struct Entry {
        let answer: Answer
        let time: Duration
        let epoch: UInt64
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
            guard let entry = entries[request], entry.epoch == epoch, time - entry.time < age,
                maximumAge < 0 || time - entry.time < .seconds(maximumAge)
            else { return nil }
            return entry.answer
        }
    }

    /// Keeps a complete answer; the oldest one goes where there are too many.
    func keep(_ rows: RowList, _ request: BackendRequest, askedAt time: Duration, epoch: UInt64) {
        let old = entries.withLock { entries -> Entry? in
            var old = entries.updateValue(Entry(answer: Answer(rows), time: time, epoch: epoch), forKey: request)
            if entries.count > Self.limit, let oldest = entries.min(by: { $0.value.time < $1.value.time }) {
                old = entries.removeValue(forKey: oldest.key)
            }
            return old
        }
        withExtendedLifetime(old) {}
    }
}
