#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import SQLQueries
internal import Synchronization

/// Whether a store keeps a history, and the tombstones that it keeps of deleted objects.
// `kept` is an atomic; the texts are in a `LockedBox`.
final class StoreHistory: Sendable {
    private let kept: Atomic<Bool>
    /// The texts of statements with the mark of their transaction, by their texts without it: a program mostly saves the same properties.
    private let markedTexts = LockedBox<[String: String]>([:])
    private static let markedTextLimit = 200

    init(isKept: Bool) { kept = Atomic(isKept) }

    /// Whether transactions are recorded. The history may begin while the store is open, by another program; it does not end.
    var isKept: Bool { kept.load(ordering: .acquiring) }

    func begin() { kept.store(true, ordering: .releasing) }

    /// Returns the text of a statement with the mark of its transaction, which `make` returns the first time.
    func markedText(of sql: String, _ make: () -> String) -> String { markedTexts.kept(sql, limit: Self.markedTextLimit, make) }

    /// Returns the tombstone of a deleted object of an entity, as an SQL expression; nil if there is none.
    ///
    /// - Parameter alias: The alias of the entity's table.
    static func tombstone(of entity: SQLEntity, _ alias: String) -> String? {
        var parts: [String] = []
        for (index, property) in entity.entity.frozenParts.properties.enumerated() {
            guard let attribute = property as? NSAttributeDescription, attribute.preservesValueInHistoryOnDeletion,
                case .attribute(let place) = entity.properties[index]
            else { continue }
            // The bytes are those of a result in the binary format.
            parts.append("\(sqlLiteral(attribute.name)), encode(\(place.storage.sendFunction)(\(alias).\(place.column)), 'base64')")
        }
        if parts.isEmpty { return nil }
        // Functions take a hundred arguments at most.
        let objects = stride(from: 0, to: parts.count, by: 50).map { start in
            "jsonb_build_object(\(parts[start..<min(start + 50, parts.count)].joined(separator: ", ")))"
        }
        return "jsonb_strip_nulls(\(objects.joined(separator: " || ")))"
    }

    /// Returns the values of a tombstone.
    ///
    /// - Throws: Code 134060 for a value that cannot be read.
    static func values(_ json: String, of entity: SQLEntity) throws -> [AnyHashable: Any]? {
        guard let encoded = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String] else { return nil }
        let layout = entity.entity.frozenParts.layout
        let row = Row.blank(layout)
        var values: [AnyHashable: Any] = [:]
        for (name, text) in encoded {
            // The model may have lost the attribute since.
            guard let attribute = entity.entity.frozenParts.byName[name] as? NSAttributeDescription,
                case .attribute(let place) = entity[attribute], let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
            else { continue }
            let slot = layout.slots[attribute.slotIndex]
            row.store(try data.withUnsafeBytes { try ColumnValues.value($0, place.storage, attribute) }, in: slot)
            if let value = row.any(at: slot, of: attribute) { values[name] = value }
        }
        return values.isEmpty ? nil : values
    }
}

extension SQLStorage {
    /// The function of the server that makes the binary format.
    fileprivate var sendFunction: String {
        switch self {
        case .integer: "int8send"
        case .boolean: "boolsend"
        case .double: "float8send"
        case .date: "timestamptz_send"
        case .text, .uri: "textsend"
        case .data, .externalData, .transformable, .composite: "byteasend"
        case .uuid: "uuid_send"
        case .decimal: "numeric_send"
        }
    }
}
#endif
