internal import Foundation
internal import Predicates

/// Finds the mistakes that would make a model's objects misbehave later, each as a sentence that names entity and property.
enum ModelCheck {
    static func mistakes(of model: NSManagedObjectModel) -> [String] {
        var mistakes: [String] = []
        var names: Set<String> = []
        let entities = Set(model.entities.map(ObjectIdentifier.init))
        // First of all, for everything else walks up and down the inheritance.
        let circular = model.entities.filter(inheritsFromItself)
        if !circular.isEmpty { return circular.map { "“\($0.name ?? "?")” inherits from itself." } }
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else {
                mistakes.append("An entity has no name.")
                continue
            }
            if !names.insert(name).inserted { mistakes.append("Two entities are called “\(name)”.") }
            for sub in entity.subentities where !entities.contains(ObjectIdentifier(sub)) {
                mistakes.append("“\(sub.name ?? "?")” inherits from “\(name)” but is not an entity of the model.")
            }
            if let parent = entity.superentity, !entities.contains(ObjectIdentifier(parent)) {
                mistakes.append("“\(name)” inherits from “\(parent.name ?? "?")”, which is not an entity of the model.")
            }
            mistakes += mistakesOfProperties(of: entity, called: name, entities: entities)
            mistakes += entity.mistakesOfConstraints(called: name)
        }
        return mistakes
    }

    private static func inheritsFromItself(_ entity: NSEntityDescription) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var current: NSEntityDescription? = entity
        while let next = current {
            if !seen.insert(ObjectIdentifier(next)).inserted { return true }
            current = next.superentity
        }
        return false
    }

    private static func mistakesOfProperties(
        of entity: NSEntityDescription, called entityName: String, entities: Set<ObjectIdentifier>
    ) -> [String] {
        var mistakes: [String] = []
        var keys = Set((entity.superentity?.properties ?? []).map(\.name))
        for property in entity.declaredProperties {
            let place = "“\(entityName).\(property.name)”"
            if property.name.isEmpty { mistakes.append("A property of “\(entityName)” has no name.") }
            if !keys.insert(property.name).inserted { mistakes.append("\(place) is declared twice, or above it in the inheritance.") }
            for (predicate, _) in property.validationRules {
                if let error = predicate.parseError { mistakes.append("A validation predicate of \(place) does not parse: \(error)") }
            }
            if let attribute = property as? NSAttributeDescription {
                if attribute.attributeType == .undefinedAttributeType, !attribute.isTransient {
                    mistakes.append("\(place) has no type.")
                }
                if let value = attribute.defaultValue, AttributeCheck.conform(value, to: attribute) == nil {
                    mistakes.append("The default value of \(place) is of \(Swift.type(of: value)), not of the attribute's type.")
                }
            } else if let relationship = property as? NSRelationshipDescription {
                mistakes += mistakesOfRelationship(relationship, at: place, entity: entity, entities: entities)
            } else if let fetched = property as? NSFetchedPropertyDescription {
                if fetched.fetchRequest?.entityName == nil { mistakes.append("\(place) has no fetch request that names an entity.") }
            } else {
                mistakes.append("\(place) is neither an attribute nor a relationship nor a fetched property.")
            }
        }
        return mistakes
    }

    private static func mistakesOfRelationship(
        _ relationship: NSRelationshipDescription, at place: String, entity: NSEntityDescription, entities: Set<ObjectIdentifier>
    ) -> [String] {
        var mistakes: [String] = []
        guard let destination = relationship.destinationEntity, entities.contains(ObjectIdentifier(destination)) else {
            return ["\(place) leads to no entity of the model."]
        }
        if relationship.isOrdered, !relationship.isToMany { mistakes.append("\(place) is to-one and cannot be ordered.") }
        if relationship.maxCount != 0, relationship.minCount > relationship.maxCount {
            mistakes.append("\(place) has a minimum count above its maximum.")
        }
        guard let inverse = relationship.inverseRelationship else { return mistakes }
        if inverse.inverseRelationship !== relationship {
            mistakes.append("The inverse of \(place), “\(inverse)”, does not name it as its own inverse.")
        }
        if let owner = inverse.entity, !destination.isKindOf(entity: owner) {
            mistakes.append("The inverse of \(place) belongs to “\(owner)”, not to its destination “\(destination)”.")
        }
        return mistakes
    }
}
