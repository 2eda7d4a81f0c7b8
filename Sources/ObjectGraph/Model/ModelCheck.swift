internal import Foundation
internal import Predicates

/// An error in a model for which coordinators reject it.
package struct ModelError {
    package let entity: String?
    package var property: String?
    /// A sentence that names the entity and the property.
    package let message: String
    package let advice: String
}

/// Finds the errors for which coordinators reject a model.
package enum ModelCheck {
    package static func errors(of model: NSManagedObjectModel) -> [ModelError] {
        var errors: [ModelError] = []
        func note(_ entity: String?, _ message: String, _ advice: String) {
            errors.append(ModelError(entity: entity, message: message, advice: advice))
        }
        var names: Set<String> = []
        let entities = Set(model.entities.map(ObjectIdentifier.init))
        // First, because the other checks traverse the inheritance.
        let circular = model.entities.filter(inheritsFromItself)
        guard circular.isEmpty else {
            for entity in circular {
                note(entity.name, "“\(entity.name ?? "?")” inherits from itself.", "Give it another parent, or none.")
            }
            return errors
        }
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else {
                note(nil, "An entity has no name.", "Name it.")
                continue
            }
            if !names.insert(name).inserted { note(name, "Two entities are called “\(name)”.", "Rename one.") }
            for sub in entity.subentities where !entities.contains(ObjectIdentifier(sub)) {
                note(
                    name, "“\(sub.name ?? "?")” inherits from “\(name)” but is not an entity of the model.",
                    "Add it to the model's entities.")
            }
            if let parent = entity.superentity, !entities.contains(ObjectIdentifier(parent)) {
                note(
                    name, "“\(name)” inherits from “\(parent.name ?? "?")”, which is not an entity of the model.",
                    "Add that to the model's entities.")
            }
            errors += errorsOfProperties(of: entity, called: name, entities: entities)
            for mistake in entity.errorsOfConstraints(called: name) {
                note(name, mistake, "Name attributes or to-one relationships of the entity.")
            }
        }
        return errors
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

    private static func errorsOfProperties(
        of entity: NSEntityDescription, called entityName: String, entities: Set<ObjectIdentifier>
    ) -> [ModelError] {
        var errors: [ModelError] = []
        var keys = Set((entity.superentity?.properties ?? []).map(\.name))
        for property in entity.declaredProperties {
            let place = "“\(entityName).\(property.name)”"
            func note(_ message: String, _ advice: String) {
                errors.append(ModelError(entity: entityName, property: property.name, message: message, advice: advice))
            }
            if property.name.isEmpty { note("A property of “\(entityName)” has no name.", "Name it.") }
            if !keys.insert(property.name).inserted {
                note("\(place) is declared twice, or above it in the inheritance.", "Take one out, or rename it.")
            }
            for (predicate, _) in property.validationRules {
                if let error = predicate.parseError {
                    note("A validation predicate of \(place) does not parse: \(error)", "Correct the predicate.")
                }
            }
            if let attribute = property as? NSAttributeDescription {
                if attribute.attributeType == .undefinedAttributeType, !attribute.isTransient {
                    note("\(place) has no type.", "Choose a type, or make it transient.")
                }
                if let value = attribute.defaultValue, AttributeCheck.conform(value, to: attribute) == nil {
                    note(
                        "The default value of \(place) is of \(Swift.type(of: value)), not of the attribute's type.",
                        "Give it a default value of its type, or none.")
                }
            } else if let relationship = property as? NSRelationshipDescription {
                for (message, advice) in errorsOfRelationship(relationship, at: place, entities: entities) { note(message, advice) }
            } else if let fetched = property as? NSFetchedPropertyDescription {
                if fetched.fetchRequest?.entityName == nil {
                    note("\(place) has no fetch request that names an entity.", "Choose the entity that it fetches.")
                }
            } else {
                note(
                    "\(place) is neither an attribute nor a relationship nor a fetched property.",
                    "Describe it by one of the subclasses of NSPropertyDescription.")
            }
        }
        return errors
    }

    private static func errorsOfRelationship(
        _ relationship: NSRelationshipDescription, at place: String, entities: Set<ObjectIdentifier>
    ) -> [(message: String, advice: String)] {
        guard let destination = relationship.destinationEntity, entities.contains(ObjectIdentifier(destination)) else {
            let missing = relationship.missingDestination ?? relationship.destinationEntity?.name
            return [
                (
                    "\(place) leads to no entity of the model.",
                    missing.map { "Add the entity “\($0)”, or choose another destination." } ?? "Choose the entity that it leads to."
                )
            ]
        }
        var errors: [(String, String)] = []
        if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
            errors.append(("\(place) has a minimum count above its maximum.", "Exchange the two."))
        }
        guard let inverse = relationship.inverseRelationship else { return errors }
        if let owner = inverse.entity, !destination.isKindOf(entity: owner) {
            errors.append(
                (
                    "The inverse of \(place) belongs to “\(owner)”, not to its destination “\(destination)”.",
                    "Choose a relationship of “\(destination)” as the inverse."
                ))
        }
        return errors
    }
}
