internal import ObjectGraph

extension InferredMapping {
    /// The entities, attributes and relationships of the older version whose values the newer one does not have, such as “Album” and “Song.title”.
    var dropped: [String] {
        entities.flatMap { entity -> [String] in
            guard let source = entity.source else { return [] }
            let name = source.name ?? "?"
            if entity.destination == nil { return [name] }
            let kept = Set(entity.attributes.compactMap { $0.source.map(ObjectIdentifier.init) })
                .union(entity.relationships.compactMap { $0.source.map(ObjectIdentifier.init) })
            return source.properties.compactMap { property in
                if property.isTransient || property is NSFetchedPropertyDescription || property is NSDerivedAttributeDescription {
                    return nil
                }
                return kept.contains(ObjectIdentifier(property)) ? nil : "\(name).\(property.name)"
            }
        }
    }
}
