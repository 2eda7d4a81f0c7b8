internal import Foundation
internal import Predicates

/// The encoding of an entity's rows: the properties and their order.
// Immutable.
final class RowForm: Sendable {
    /// A persistent property.
    struct Field: Sendable {
        let slot: RowLayout.Slot
        /// The index in ``RowForm/properties``.
        let number: Int
    }

    /// A word of nil bits, and the bits of the fields in it.
    struct NilWord: Sendable {
        let offset: Int
        var mask: UInt64
    }

    /// The number of the entity in its model.
    let number: Int
    let entity: NSEntityDescription
    let layout: RowLayout
    /// All properties by name, including transient ones.
    let properties: [NSPropertyDescription]
    /// The persistent properties.
    let fields: [Field]
    /// The nil bits of the fields, word by word.
    let nilWords: [NilWord]
    /// Whether fields may be unknown in a row that is not marked so.
    let hasRelationships: Bool
    /// The size of the nil bits in bytes.
    let bitmapSize: Int
    /// The maximum size of a row without strings, data and IDs of related objects.
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

    /// A description of everything that the encoding depends on.
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
