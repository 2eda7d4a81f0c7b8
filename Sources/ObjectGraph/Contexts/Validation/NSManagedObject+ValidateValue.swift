internal import Foundation
internal import Predicates

extension NSManagedObject {
    /// Implements ``validateValue(_:forKey:)`` by default: checks type, presence, and the model's predicates and counts.
    func checkValue(_ value: Any?, forKey key: String) throws {
        guard let property = owningEntity.frozen!.byName[key] else { return }
        var errors: [NSError] = []
        if let relationship = property as? NSRelationshipDescription {
            if let objects = Self.objects(in: value, for: relationship) {
                errors += countErrors(objects.count, relationship, value)
            } else {
                errors.append(unacceptable(value, for: relationship, because: Self.mismatchReason(value, relationship)))
            }
        } else if let attribute = property as? NSAttributeDescription {
            switch AttributeCheck.conform(value, to: attribute) {
            case nil:
                errors.append(unacceptable(value, for: attribute, because: AttributeCheck.misfit(value, attribute.attributeType)))
            case .null?: if !attribute.isOptional, !attribute.isTransient { errors.append(missing(attribute)) }
            default: break
            }
        }
        if errors.isEmpty, let value = AttributeCheck.unwrapped(value) { errors += ruleErrors(value, of: property) }
        if !errors.isEmpty { throw CoreDataError.combined(errors) }
    }

    private func ruleErrors(_ value: Any, of property: NSPropertyDescription) -> [NSError] {
        guard let validated = owningEntity.frozen!.validated.first(where: { $0.property === property }) else { return [] }
        return validated.rules.compactMap { rule in violation(of: rule, property, value) { try rule.allows(value) } }
    }

    /// Returns the errors of properties with predicates: all of a new object, the changed ones of another.
    func ruleErrors() -> [NSError] {
        let isNew = snapshot == nil
        var errors: [NSError] = []
        for validated in owningEntity.frozen!.validated where isNew || changed.contains(validated.property.slotIndex) {
            if let attribute = validated.property as? NSAttributeDescription {
                let slot = slot(of: attribute)
                guard let row, !row.isNil(at: slot) else { continue }
                for rule in validated.rules {
                    if let error = violation(of: rule, attribute, nil, { try rule.allows(row, slot, attribute) }) { errors.append(error) }
                }
            } else if let value = currentValue(of: validated.property) {
                errors += ruleErrors(value, of: validated.property)
            }
        }
        return errors
    }

    /// Returns the error of a value that a rule does not allow.
    ///
    /// - Parameter value: The value that was given; nil for the current one.
    private func violation(
        of rule: ValidationRule, _ property: NSPropertyDescription, _ value: Any?, _ allows: () throws -> Bool
    ) -> NSError? {
        var cause: (any Error)?
        do { if try allows() { return nil } } catch { cause = error }
        let value = value ?? currentValue(of: property)
        return CoreDataError.make(
            rule.code, rule.warning ?? "The value of “\(property)” is not valid.",
            reason: "\(AttributeCheck.describe(value)) does not satisfy \(rule.predicate.formatString).", cause: cause,
            info: [
                NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: property.name, NSValidationValueErrorKey: value ?? NSNull(),
                NSValidationPredicateErrorKey: rule.predicate,
            ])
    }

    /// Calls an overridden ``validateValue(_:forKey:)`` for every property and stores the values it replaces.
    func validateEachValue() -> [NSError] {
        let isNew = snapshot == nil
        var errors: [NSError] = []
        for property in owningEntity.frozen!.properties where !property.isTransient {
            // An unchanged relationship that is a fault is not fired for validation.
            if property is NSRelationshipDescription, !isNew, !changed.contains(property.slotIndex) { continue }
            let before = currentValue(of: property)
            var value = before
            CoreDataError.collect(&errors) {
                try validateValue(&value, forKey: property.name)
                if !Self.isSame(before, value) { setCurrentValue(value, of: property) }
            }
        }
        return errors
    }

    private static func isSame(_ before: Any?, _ after: Any?) -> Bool {
        switch (before, after) {
        case (nil, nil): true
        case (let before as AnyHashable, let after as AnyHashable): before == after
        case (let before?, let after?): (before as AnyObject) === (after as AnyObject) || !(before is AnyHashable)
        default: false
        }
    }
}
