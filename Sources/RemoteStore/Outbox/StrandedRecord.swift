internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A pending change of an entity that the model no longer has. It cannot be sent, and is kept until the application has decided.
struct StrandedRecord: Hashable, Sendable {
    var entity: String
    var kind: Resource.Saving.Kind
    var resource: ResourceID?
    var values: [String: ResourceValue] = [:]

    private static let key = "stranded"

    /// Writes the record to the file.
    func add(to file: CacheFile, in transaction: CacheTransaction) throws {
        guard let settings = file.entity(named: file.names.setting) else { return }
        RequestRunner.log.warning("A pending change of “\(entity)” is set aside: the model does not have the entity any more.")
        let row = try transaction.insert(settings)
        try row.set(.string(Self.key), "key")
        let data = try RecordCoder.seal { bytes in
            bytes.append(entity)
            bytes.append(kind == .insert ? 0 : kind == .update ? 1 : 2)
            bytes.append(resource == nil ? 0 : 1)
            if let resource { RecordCoder.write(resource, &bytes) }
            try RecordCoder.write(values, &bytes)
        }
        try row.set(.data(data), "data")
    }

    private init(_ data: Data) throws {
        self = try RecordCoder.open(data) { bytes, _ in
            var record = StrandedRecord(entity: try bytes.text(), kind: .delete)
            switch try bytes.byte() {
            case 0: record.kind = .insert
            case 1: record.kind = .update
            default: record.kind = .delete
            }
            if try RecordCoder.readFlag(&bytes) { record.resource = try RecordCoder.readID(&bytes) }
            record.values = try RecordCoder.readValues(&bytes)
            return record
        }
    }

    init(entity: String, kind: Resource.Saving.Kind, resource: ResourceID? = nil, values: [String: ResourceValue] = [:]) {
        (self.entity, self.kind, self.resource, self.values) = (entity, kind, resource, values)
    }

    /// Creates a record of a change without its values; nil if nothing was to be sent.
    init?(_ record: PendingRecord) {
        guard let kind = record.kind else { return nil }
        self.init(entity: record.entity, kind: kind, resource: record.resource)
    }

    private static func query(_ settings: CacheEntity) -> StoreQuery {
        let isStranded = PredicateTree.compare(.keyPath(["key"]), .equal, .constant(.string(key)))
        return StoreQuery(settings.inner).with(predicate: NSPredicate(tree: isStranded))
    }

    /// Returns the stranded records of a file, with the keys of their rows.
    static func all(of file: CacheFile) throws -> [(key: Int64, record: StrandedRecord)] {
        guard let settings = file.entity(named: file.names.setting), case .rows(let rows) = try file.read(query(settings)) else {
            return []
        }
        return try rows.compactMap { row in
            guard let attribute = settings.inner.frozenParts.byName["data"] as? NSAttributeDescription,
                case .data(let data) = row.value(of: attribute)
            else { return nil }
            return (file.key(of: row).number, try StrandedRecord(data))
        }.sorted { $0.key < $1.key }
    }
}

extension CarriedChanges {
    /// Returns the stranded record of a change of an entity that the model no longer has; nil if nothing was to be sent.
    func stranded(_ change: Change) -> StrandedRecord? {
        let record = change.record
        guard let kind = record.kind ?? record.sent?.change.kind else { return nil }
        var stranded = StrandedRecord(entity: record.entity, kind: kind, resource: record.resource)
        if kind == .delete { return stranded }
        for (name, value) in change.values where kind == .insert || record.confirmed[name] != nil {
            // The values omit properties that the cache has added, large values, and values that cannot be encoded.
            if name.hasPrefix("cache") || record.uploads[name] != nil { continue }
            switch value {
            case .value(.object): continue
            case .value(let value): if !value.isNull || kind == .update { stranded.values[name] = .value(value) }
            case .one(let reference):
                let place = reference?.localKey.flatMap { key in places.first { $0.key.key == key && $0.key.root != record.key.root }?.value
                }
                let id = place?.resource.flatMap(ResourceID.init(encoded:))
                if id != nil || kind == .update { stranded.values[name] = .one(id.map { ResourceReference($0) }) }
            case .many: continue
            }
        }
        return stranded
    }
}
