internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The stored form of a transformable attribute's value in a record: the output of the attribute's transformer.
final class ArchivedValue: NSObject, Sendable {
    let data: Data

    init(_ data: Data) { self.data = data }

    override func isEqual(_ object: Any?) -> Bool { (object as? ArchivedValue)?.data == data }
    override var hash: Int { data.hashValue }

    /// Returns the stored form of a value.
    ///
    /// - Throws: Code 134030 for a value that the transformer does not accept.
    static func archive(_ value: PropertyValue, _ attribute: NSAttributeDescription) throws -> PropertyValue {
        guard value.hasObject, let object = value.any else { return value }
        return .object(ObjectReference(ArchivedValue(try AttributeArchive.data(of: object, attribute))))
    }

    /// Returns the value from its stored form; nil if it cannot be decoded.
    static func open(_ value: PropertyValue, _ attribute: NSAttributeDescription) -> PropertyValue? {
        guard case .object(let reference) = value, let archived = reference.object as? ArchivedValue else { return value }
        return try? AttributeArchive.value(of: archived.data, attribute).flatMap { try PropertyValue(any: $0) }
    }
}

extension PropertyValue {
    /// Whether it is, or contains, an object of another class.
    fileprivate var hasObject: Bool {
        switch self {
        case .object: true
        case .array(let values): values.contains(where: \.hasObject)
        case .set(let values): values.contains(where: \.hasObject)
        default: false
        }
    }
}

extension PendingRecord {
    /// Returns the stored form of the record.
    ///
    /// - Throws: Code 134030 for a value that a transformer does not accept.
    func archived(_ entity: NSEntityDescription?) throws -> PendingRecord {
        try mapped(entity) { value, attribute, _ in .value(try ArchivedValue.archive(value, attribute)) }
    }

    /// Returns the record from its stored form. A confirmed value that can no longer be decoded becomes unknown.
    func opened(_ entity: NSEntityDescription?) -> PendingRecord {
        mapped(entity) { value, attribute, isSent in
            ArchivedValue.open(value, attribute).map { .value($0) } ?? (isSent ? .value(value) : .many([]))
        }
    }

    private func mapped(
        _ entity: NSEntityDescription?, _ map: (PropertyValue, NSAttributeDescription, Bool) throws -> ResourceValue
    ) rethrows -> PendingRecord {
        let attributes = (entity?.frozenParts.properties ?? []).compactMap { property -> NSAttributeDescription? in
            guard let attribute = property as? NSAttributeDescription else { return nil }
            return [.transformableAttributeType, .compositeAttributeType].contains(attribute.attributeType) ? attribute : nil
        }
        if attributes.isEmpty { return self }
        var record = self
        func mapped(_ values: [String: ResourceValue], isSent: Bool) throws -> [String: ResourceValue] {
            var mapped = values
            for attribute in attributes {
                if case .value(let value)? = values[attribute.name] { mapped[attribute.name] = try map(value, attribute, isSent) }
            }
            return mapped
        }
        record.confirmed = try mapped(confirmed, isSent: false)
        try record.rewrite { sent in
            sent.values = try mapped(sent.values, isSent: true)
            sent.change.values = try mapped(sent.change.values, isSent: true)
        } theirs: {
            try mapped($0, isSent: false)
        }
        return record
    }
}
