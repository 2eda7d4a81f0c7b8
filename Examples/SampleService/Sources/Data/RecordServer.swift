internal import Foundation

/// The records of a server like Kinto, of each user: collections of JSON objects, each with the time of its last change, deleted ones too.
struct RecordServer: Sendable {
    struct Record: Sendable {
        var fields: [String: JSON]
        let id: String
        var lastModified: Int
        var isDeleted = false

        /// The record as the server answers it.
        var json: JSON {
            var members = fields
            (members["id"], members["last_modified"]) = (.string(id), .integer(lastModified))
            if isDeleted { members["deleted"] = true }
            return .object(members)
        }
    }

    private struct Place: Hashable {
        let user: String
        let collection: String
    }

    private var records: [Place: [String: Record]] = [:]
    /// Versions are times in milliseconds; here they only count.
    private(set) var time = 1_700_000_000_000

    /// The records of a collection, deleted ones too, the last change first.
    func all(of user: String, _ collection: String) -> [Record] {
        (records[Place(user: user, collection: collection)] ?? [:]).values.sorted { $0.lastModified > $1.lastModified }
    }

    /// A record that is not deleted.
    func record(_ id: String, of user: String, _ collection: String) -> Record? {
        records[Place(user: user, collection: collection)]?[id].flatMap { $0.isDeleted ? nil : $0 }
    }

    /// The time of the last change of a collection.
    func time(of user: String, _ collection: String) -> Int { all(of: user, collection).first?.lastModified ?? 0 }

    /// Makes a record, or replaces its fields.
    mutating func put(_ id: String, _ fields: [String: JSON], of user: String, _ collection: String) -> Record {
        time += 1
        let record = Record(fields: fields.filter { !["id", "last_modified"].contains($0.key) }, id: id, lastModified: time)
        records[Place(user: user, collection: collection), default: [:]][id] = record
        return record
    }

    /// Deletes a record; what is left says that it was there.
    mutating func remove(_ id: String, of user: String, _ collection: String) -> Record {
        time += 1
        let record = Record(fields: [:], id: id, lastModified: time, isDeleted: true)
        records[Place(user: user, collection: collection), default: [:]][id] = record
        return record
    }
}
