internal import Foundation

extension NSManagedObject {
    /// Validates the general rules of saved objects: value types, mandatory values, to-many counts.
    func validateProperties() throws {
        if extras == nil, !owningEntity.frozen!.needsValidation { return }
        var errors = rejectedValues.map { refused in refused.keys.sorted().map { refused[$0]! } } ?? []
        let frozen = owningEntity.frozen!
        let isAskedForEach = frozen.overridesValidateValue
        if isAskedForEach { errors += validateEachValue() }
        if let row {
            if !isAskedForEach {
                for (attribute, slot) in frozen.mandatory where row.isNil(at: slot) {
                    // An unknown value is as stored.
                    if !row.isUnknown(at: slot) { errors.append(missing(attribute)) }
                }
            }
            for (attribute, slot) in frozen.rangeChecked where changed.contains(attribute.slotIndex) {
                if !row.isNil(at: slot), !AttributeCheck.holds(row, slot, attribute) { errors.append(invalidValue(attribute)) }
            }
        }
        if !isAskedForEach {
            if !frozen.validated.isEmpty { errors += ruleErrors() }
            for relationship in frozen.countChecked { errors += relationshipErrors(relationship) }
        }
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }

    private func relationshipErrors(_ relationship: NSRelationshipDescription) -> [NSError] {
        let isNew = snapshot == nil
        guard isNew || changed.contains(relationship.slotIndex) else { return [] }
        return countErrors(related(relationship).count, relationship, nil)
    }

    /// Returns the errors of a number of objects.
    ///
    /// - Parameter value: The objects that were given; nil for the current ones.
    func countErrors(_ count: Int, _ relationship: NSRelationshipDescription, _ value: Any?) -> [NSError] {
        if !relationship.isToMany {
            return relationship.isOptional || count > 0 ? [] : [missing(relationship)]
        }
        // With a minimum of 0, an empty relationship is valid even if it is not optional, as on Apple's platforms.
        if count == 0, relationship.isOptional || relationship.minCount == 0 { return [] }
        if count == 0, relationship.minCount == 1 { return [missing(relationship)] }
        if count < relationship.minCount {
            return [
                failure(
                    NSValidationRelationshipLacksMinimumCountError, relationship,
                    "“\(relationship)” has \(count) objects; it needs \(relationship.minCount) at least.",
                    value ?? currentValue(of: relationship))
            ]
        }
        if relationship.maxCount > 0, count > relationship.maxCount {
            return [
                failure(
                    NSValidationRelationshipExceedsMaximumCountError, relationship,
                    "“\(relationship)” has \(count) objects; it may have \(relationship.maxCount) at most.",
                    value ?? currentValue(of: relationship))
            ]
        }
        return []
    }

    func missing(_ property: NSPropertyDescription) -> NSError {
        failure(
            NSValidationMissingMandatoryPropertyError, property, "“\(property)” has no value, and is not optional.", nil)
    }

    /// Returns the error of a value that a property cannot hold.
    func unacceptable(_ value: Any?, for property: NSPropertyDescription, because reason: String) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError, "“\(property)” cannot hold the value that was set.",
            reason: "Unacceptable value \(AttributeCheck.describe(value)): \(reason).", next: "Set a value of the property's type.",
            info: [
                NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: property.name, NSValidationValueErrorKey: value ?? NSNull(),
            ])
    }

    /// Returns the error of a number, stored by a typed accessor, that is out of the attribute's range or NaN.
    private func invalidValue(_ attribute: NSAttributeDescription) -> NSError {
        let value = attribute.attributeType == .dateAttributeType ? nil : anyAttribute(attribute)
        return CoreDataError.make(
            NSManagedObjectValidationError, "“\(attribute)” cannot hold the value that was set.",
            reason: "Unacceptable value \(AttributeCheck.describe(value ?? "without a finite time")): it is out of range.",
            next: "Set a value of the property's type.",
            info: [
                NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: attribute.name, NSValidationValueErrorKey: value ?? NSNull(),
            ])
    }

    private func failure(_ code: Int, _ property: NSPropertyDescription, _ what: String, _ value: Any?) -> NSError {
        CoreDataError.make(
            code, what, next: "Set it before saving \(objectID).",
            info: [
                NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: property.name, NSValidationValueErrorKey: value ?? NSNull(),
            ])
    }

    /// Validates that relationships with the deny rule have no remaining destinations.
    func validateDenyRules() throws {
        guard owningEntity.frozen!.deniesDeletion else { return }
        var errors: [NSError] = []
        for relationship in owningEntity.frozen!.relationships where relationship.deleteRule == .denyDeleteRule {
            let staying = related(relationship).filter { $0.registry != nil && !$0.isDeleted }
            guard !staying.isEmpty else { continue }
            errors.append(
                CoreDataError.make(
                    NSValidationRelationshipDeniedDeleteError, "\(objectID) cannot be deleted.",
                    reason: "“\(relationship)” denies it while it leads to \(staying.count) objects.",
                    next: "Delete or move those first.",
                    info: [
                        NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: relationship.name,
                        NSValidationValueErrorKey: currentValue(of: relationship) ?? NSNull(),
                    ]))
        }
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }
}
