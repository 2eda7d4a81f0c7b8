internal import Foundation
@_spi(Stores) package import ObjectGraph

/// The place of a property in the resources of an entity, looked up once and used for many resources. It is the same in subentities.
public struct ResourceColumn: Hashable, Sendable {
    /// The type of a property, as decoders need to know it before they read a value.
    package enum Kind: UInt8, Sendable {
        /// A string: `set(utf8:_:)`.
        case string
        /// An integer of 64, 32 or 16 bits: `set(_: Int64, _:)`.
        case int64, int32, int16
        /// A floating-point number, of 64 or 32 bits: `set(_: Double, _:)`.
        case double, float
        /// A Boolean: `set(_: Bool, _:)`.
        case boolean
        /// A date: `set(date:_:)`.
        case date
        /// Data: `set(data:_:)`.
        case data
        /// A UUID: `set(_: UUID, _:)`.
        case uuid
        /// Decimal numbers, URLs, and all other types, which only `set(_: ResourceValue, _:)` converts.
        case other
        /// A to-one relationship: `setOne(_:_:)`.
        case one
        /// A to-many relationship: `set(_: ResourceValue, _:)` with all destinations.
        case many
    }

    package let place: RowPlace
    /// The type of the property.
    package let kind: Kind

    var index: Int { Int(place.index) }

    init(_ property: NSPropertyDescription, at place: RowPlace) {
        self.place = place
        if let relationship = property as? NSRelationshipDescription {
            kind = relationship.isToMany ? .many : .one
            return
        }
        switch (property as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType {
        case .stringAttributeType: kind = .string
        case .integer64AttributeType: kind = .int64
        case .integer32AttributeType: kind = .int32
        case .integer16AttributeType: kind = .int16
        case .doubleAttributeType: kind = .double
        case .floatAttributeType: kind = .float
        case .booleanAttributeType: kind = .boolean
        case .dateAttributeType: kind = .date
        case .binaryDataAttributeType: kind = .data
        case .UUIDAttributeType: kind = .uuid
        default: kind = .other
        }
    }
}

extension BackendRequest {
    /// Returns the place of a property in resources of the request's entity, for ``ResourceWriter``.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have.
    public func column(_ name: String) throws -> ResourceColumn { try decoding.entity(entity).column(name) }

    /// Returns the place of a property in resources of another entity, such as an embedded one.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have, and for an entity that the model does not have.
    package func column(_ name: String, of entity: String) throws -> ResourceColumn { try decoding.entity(entity).column(name) }
}
