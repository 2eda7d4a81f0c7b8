internal import Foundation

/// How the rows of an entity are written as bytes: which properties, in which order.
// Immutable.
final class RowForm: Sendable {
    /// A property that stores keep.
    struct Field: Sendable {
        let slot: RowLayout.Slot
        /// The place among ``RowForm/properties``.
        let number: Int
    }

    /// A word of nil bits, and which of them are those of fields.
    struct NilWord: Sendable {
        let offset: Int
        var mask: UInt64
    }

    /// The number of the entity in its model.
    let number: Int
    let entity: NSEntityDescription
    let layout: RowLayout
    /// All properties by name, those that no store keeps too.
    let properties: [NSPropertyDescription]
    /// Those that stores keep.
    let fields: [Field]
    /// Where the nil bits of the fields lie, word by word.
    let nilWords: [NilWord]
    /// Whether values of some field may be unknown without the row's saying so.
    let hasRelationships: Bool
    /// The bytes that nil bits take.
    let bitmapSize: Int
    /// The most bytes that a row takes besides texts, bytes and the IDs of others.
    let fixedSize: Int

    init(_ entity: NSEntityDescription, number: Int) {
        let frozen = entity.frozenParts
        self.number = number
        self.entity = entity
        layout = frozen.layout
        properties = frozen.properties.sorted { $0.name < $1.name }
        fields = properties.enumerated().compactMap { index, property in
            property.isTransient ? nil : Field(slot: frozen.layout.slots[property.slotIndex], number: index)
        }
        var words: [NilWord] = []
        for field in fields {
            let location = field.slot.location
            if let known = words.firstIndex(where: { $0.offset == location.nullOffset }) {
                words[known].mask |= location.nullMask
            } else {
                words.append(NilWord(offset: location.nullOffset, mask: location.nullMask))
            }
        }
        nilWords = words
        hasRelationships = fields.contains { $0.slot.kind == .objectID || $0.slot.kind == .objectIDs }
        bitmapSize = (fields.count + 7) / 8
        fixedSize = 64 + 2 * bitmapSize + 16 * fields.count
    }

    /// What the bytes depend on, in words.
    var description: String {
        let fields = fields.map { field -> String in
            let property = properties[field.number]
            let type =
                switch property {
                case let relationship as NSRelationshipDescription:
                    "\(relationship.isToMany ? "many" : "one") \(relationship.destinationEntity?.name ?? "")"
                case let attribute as NSAttributeDescription: "\(attribute.attributeType.rawValue) \(attribute.valueTransformerName ?? "")"
                default: "?"
                }
            return "\(property.name):\(type)"
        }
        return "\(entity.name ?? "")(\(entity.superentity?.name ?? ""))[\(fields.joined(separator: ","))]/\(properties.count)"
    }
}
