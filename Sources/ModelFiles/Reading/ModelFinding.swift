internal import Foundation
public import ObjectGraph
internal import TakenNames

/// An error or warning about a model: its place, a message, and a remedy.
public struct ModelFinding: Hashable, Sendable, CustomStringConvertible {
    /// The severity of a finding.
    public enum Severity: Int, Comparable, Sendable {
        /// The model works, but probably not as intended.
        case warning
        /// Coordinators reject the model.
        case error

        /// Returns whether one severity is lower than another.
        public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
    }

    /// The severity of the finding.
    public let severity: Severity
    /// The name of the entity; nil for a finding about the whole model.
    public let entity: String?
    /// The name of the property; nil for a finding about the whole entity.
    public let property: String?
    /// The message, one sentence.
    public let message: String
    /// The recommended action.
    public let advice: String

    /// The finding in one line: “warning: Album.band: It has no inverse. …”
    public var description: String {
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        let names = place.isEmpty || message.contains("“\(place)") ? "" : "\(place): "
        return "\(severity): \(names)\(message) \(advice)"
    }
}

extension NSManagedObjectModel {
    /// Checks the model: errors for which coordinators reject it, and settings that are probably unintended.
    ///
    /// - Parameter namesOfClasses: Whether to report entities whose class does not exist in the program.
    /// - Returns: The findings, errors first; an empty array for a model without any.
    public func check(namesOfClasses: Bool = true) -> [ModelFinding] { check(namesOfClasses: namesOfClasses, isStrict: false) }

    /// Checks the model like ``check(namesOfClasses:)``.
    ///
    /// - Parameter isStrict: Whether values in a model file that do not fit their attribute's type are errors. Otherwise they are warnings: such
    ///   models are in use, and read leniently.
    package func check(namesOfClasses: Bool, isStrict: Bool) -> [ModelFinding] {
        let errors = ModelCheck.errors(of: self)
        var findings = errors.map { mistake in
            ModelFinding(
                severity: .error, entity: mistake.entity, property: mistake.property, message: mistake.message, advice: mistake.advice)
        }
        // The other checks traverse the inheritance.
        if errors.contains(where: { $0.message.hasSuffix("inherits from itself.") }) { return findings }
        for attribute in entities.flatMap(\.declaredProperties).compactMap({ $0 as? NSAttributeDescription }) {
            findings += ModelWarnings.mistypedValues(of: attribute, isStrict: isStrict)
        }
        for entity in entities { findings += ModelWarnings.of(entity, namesOfClasses: namesOfClasses) }
        return findings
    }
}

/// Finds settings that are valid and probably unintended.
enum ModelWarnings {
    static func of(_ entity: NSEntityDescription, namesOfClasses: Bool) -> [ModelFinding] {
        var findings: [ModelFinding] = []
        func warn(_ property: NSPropertyDescription?, _ message: String, _ advice: String) {
            findings.append(
                ModelFinding(severity: .warning, entity: entity.name, property: property?.name, message: message, advice: advice))
        }
        if namesOfClasses, entity.boundClass == nil, let (message, advice) = entity.remarkOnClass { warn(nil, message, advice) }
        if entity.isAbstract, entity.subentities.isEmpty {
            warn(
                nil, "It is abstract and no entity inherits from it: there are no objects of it.",
                "Make it an entity with objects, or take it out.")
        }
        for name in entity.indexes.flatMap(\.elements).compactMap(\.propertyName)
            + entity.compoundIndexes.flatMap({ NSEntityDescription.names(in: $0) }).compactMap({ $0 })
        where !name.isEmpty && entity.propertiesByName[name] == nil {
            warn(nil, "An index is over “\(name)”, which is not a property of it.", "Name a property, or take the element out.")
        }
        for name in entity.uniquenessConstraints.flatMap({ NSEntityDescription.names(in: $0) })
        where name.flatMap({ entity.propertiesByName[$0] }) == nil {
            warn(
                nil, "A uniqueness constraint names “\(name ?? "?")”, which is not a property of it.",
                "Name a property, or take the constraint out.")
        }
        for property in entity.declaredProperties {
            if TakenNames.members.contains(property.name) {
                warn(
                    property, "The name is that of a member of every managed object.",
                    "Choose another, and keep the old as renaming identifier.")
            }
            switch property {
            case let relationship as NSRelationshipDescription: findings += self.of(relationship, in: entity)
            case let attribute as NSAttributeDescription: findings += self.of(attribute, in: entity)
            default: break
            }
        }
        return findings
    }

    private static func of(_ relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> [ModelFinding] {
        var findings: [ModelFinding] = []
        func warn(_ message: String, _ advice: String) {
            findings.append(
                ModelFinding(severity: .warning, entity: entity.name, property: relationship.name, message: message, advice: advice))
        }
        if let missing = relationship.missingDestination {
            warn("Its destination “\(missing)” is not in the model.", "Merge the model with the one that has it, or name another entity.")
        } else if let missing = relationship.missingInverse {
            warn("“\(relationship.destinationEntity?.name ?? "?")” has no relationship “\(missing)”.", "Name the relationship back.")
        } else if relationship.inverseRelationship == nil, relationship.destinationEntity != nil {
            warn(
                "It has no inverse: the other end does not learn of changes, and objects may be left that refer to deleted ones.",
                "Add a relationship from “\(relationship.destinationEntity?.name ?? "?")” back, and make the two each other's inverse.")
        } else if let inverse = relationship.inverseRelationship, relationship.mutualInverse == nil {
            warn(
                "Its inverse “\(inverse)” names \(inverse.inverseRelationship.map { "“\($0)”" } ?? "none") as its own: it is taken for one without"
                    + " inverse, and the other end does not learn of changes.",
                "Make the two each other's inverse.")
        }
        if relationship.isOrdered, !relationship.isToMany {
            warn("It is to-one: that it is ordered has no effect.", "Make it to-many, or take the order away.")
        }
        if relationship.isOptional, relationship.isToMany, relationship.minCount > 0 {
            warn("It is optional and has a minimum count of \(relationship.minCount).", "Make it not optional, or the minimum 0.")
        }
        if relationship.deleteRule == .noActionDeleteRule {
            warn(
                "Its delete rule is No Action: objects that it leads to keep referring to a deleted object.",
                "Choose Nullify, Cascade or Deny, unless the program keeps the other end itself.")
        }
        guard !relationship.isOptional, let inverse = relationship.mutualInverse, inverse.deleteRule == .nullifyDeleteRule else {
            return findings
        }
        if inverse.isOptional, !relationship.isToMany {
            let owner = relationship.destinationEntity?.name ?? "?"
            warn(
                "It is not optional, and “\(owner).\(inverse.name)” nullifies it: after “\(owner)” is deleted, what it led to cannot be saved.",
                "Make it optional, or let the delete rule of “\(owner).\(inverse.name)” cascade or deny.")
        }
        if !inverse.isOptional, relationship.deleteRule == .nullifyDeleteRule {
            warn(
                "Neither it nor its inverse is optional and both nullify: deleting either object leaves one that cannot be saved.",
                "Make one optional, or let one delete rule cascade or deny.")
        }
        return findings
    }

    /// Finds values in the model file that do not fit an attribute's type.
    static func mistypedValues(of attribute: NSAttributeDescription, isStrict: Bool) -> [ModelFinding] {
        func note(_ message: String, _ advice: String) -> ModelFinding {
            ModelFinding(
                severity: isStrict ? .error : .warning, entity: attribute.entity?.name, property: attribute.name, message: message,
                advice: advice)
        }
        let type = attribute.attributeType
        var findings: [ModelFinding] = []
        if let mistyped = attribute.mistypedDefault {
            let value = attribute.defaultValue.flatMap { AttributeText.text($0, type: type) }
            findings.append(
                note(
                    "Its default value, \(mistyped), is none of type \(AttributeText.name(of: type)): \(value.map { "it is taken for \($0)" } ?? "there is none").",
                    "Give it a default value of its type, or none."))
        }
        for name in ValidationText.bounds {
            guard let bound = attribute.modelFileAttributes[name] else { continue }
            findings.append(
                note(
                    "Its bound “\(bound)” (\(name)) is none of type \(AttributeText.name(of: type)), and has no effect.",
                    "Give it a bound of its type, or none."))
        }
        return findings
    }

    private static func of(_ attribute: NSAttributeDescription, in entity: NSEntityDescription) -> [ModelFinding] {
        var findings: [ModelFinding] = []
        func warn(_ message: String, _ advice: String) {
            findings.append(
                ModelFinding(severity: .warning, entity: entity.name, property: attribute.name, message: message, advice: advice))
        }
        if let derived = attribute as? NSDerivedAttributeDescription, derived.derivationExpression == nil {
            warn("It is derived and has no expression.", "Set derivationExpression.")
        }
        if let composite = attribute as? NSCompositeAttributeDescription, composite.elements.isEmpty {
            warn("It is composite and has no elements.", "Set elements.")
        }
        if attribute.attributeType == .transformableAttributeType, attribute.valueTransformerName == nil {
            warn("It names no value transformer: stores that write bytes cannot keep it.", "Set valueTransformerName.")
        }
        if !attribute.isOptional, !attribute.isTransient, attribute.defaultValue == nil,
            attribute.modelFileAttributes["usesScalarValueType"] == "YES"
        {
            warn(
                "It is not optional and has no default, and its accessor is a number that cannot be nil: a new object reads 0 and is not saved.",
                "Give it a default value, or make it optional.")
        }
        return findings
    }
}
