internal import ObjectGraph

/// The properties of an entity in exported files.
enum ExchangeProperties {
    /// Returns the stored attributes and relationships; of each relationship and its inverse, only the side that determines both.
    ///
    /// A to-many relationship follows from its inverse, unless it is ordered, or the inverse is to-many, too. Of two equivalent sides, the first by
    /// name is exported.
    static func exported(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        func place(_ property: NSPropertyDescription) -> Int {
            (property as? NSRelationshipDescription).map { $0.isToMany ? 2 : 1 } ?? 0
        }
        return imported(entity).filter { property in (property as? NSRelationshipDescription).map(saysAll) ?? true }
            .sorted { (place($0), $0.name) < (place($1), $1.name) }
    }

    /// Returns the properties that files may have: the stored ones, except derived attributes.
    static func imported(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.properties.filter { property in
            !property.isTransient && !(property is NSFetchedPropertyDescription) && !(property is NSDerivedAttributeDescription)
        }
    }

    private static func saysAll(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship else { return true }
        if relationship.isOrdered { return true }
        if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
        if inverse.isOrdered { return false }
        if relationship.name != inverse.name { return relationship.name < inverse.name }
        // If both have the same name, the one of the first entity is exported, and so is a relationship that is its own inverse.
        let own = inverse.destinationEntity?.rootEntity.name ?? ""
        let other = relationship.destinationEntity?.rootEntity.name ?? ""
        return own <= other
    }
}
