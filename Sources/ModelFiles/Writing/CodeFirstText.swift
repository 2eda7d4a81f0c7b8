internal import Foundation
internal import ObjectGraph
internal import Predicates
internal import TakenNames

/// Writes the declarations of attributes and requests, and the arguments common to all properties.
enum CodeFirstText {
    /// Returns the arguments common to entities and all properties.
    static func common(
        _ originalName: String?, _ hashModifier: String?, _ info: [AnyHashable: Any]?, at place: String
    ) throws -> [String] {
        var parts: [String] = []
        if let originalName { parts.append("originalName: \(SwiftSourceWriter.literal(originalName))") }
        if let hashModifier { parts.append("hashModifier: \(SwiftSourceWriter.literal(hashModifier))") }
        var texts: [String: String] = [:]
        for (key, value) in info ?? [:] {
            guard let key = key.base as? String, let value = value as? String else {
                throw ModelFileError.unwritable(place, "The user info “\(key)” is not a text.")
            }
            texts[key] = value
        }
        if !texts.isEmpty { parts.append("userInfo: \(SwiftSourceWriter.literal(texts))") }
        return parts
    }

    static func format(_ predicate: NSPredicate, at place: String) throws -> String {
        do { return SwiftSourceWriter.literal(try predicate.tree().description) } catch {
            throw ModelFileError.unwritable(place, "Its predicate has no form as text: \(error)")
        }
    }

    /// Returns the closure that configures a request; nil if it has only default settings.
    static func configuration(of request: NSFetchRequest<any NSFetchRequestResult>, at place: String) throws -> String? {
        guard request.sortDescriptors?.isEmpty ?? true, request.propertiesToFetch == nil, request.propertiesToGroupBy == nil,
            request.havingPredicate == nil
        else { throw ModelFileError.unwritable(place, "Sort descriptors, properties to fetch and groups are not written.") }
        var lines: [String] = []
        if request.fetchLimit != 0 { lines.append("$0.fetchLimit = \(request.fetchLimit)") }
        if request.fetchOffset != 0 { lines.append("$0.fetchOffset = \(request.fetchOffset)") }
        if request.fetchBatchSize != 0 { lines.append("$0.fetchBatchSize = \(request.fetchBatchSize)") }
        if request.resultType.rawValue != 0 {
            lines.append("$0.resultType = NSFetchRequestResultType(rawValue: \(request.resultType.rawValue))")
        }
        if !request.includesSubentities { lines.append("$0.includesSubentities = false") }
        if !request.includesPropertyValues { lines.append("$0.includesPropertyValues = false") }
        if !request.includesPendingChanges { lines.append("$0.includesPendingChanges = false") }
        if !request.returnsObjectsAsFaults { lines.append("$0.returnsObjectsAsFaults = false") }
        if request.returnsDistinctResults { lines.append("$0.returnsDistinctResults = true") }
        return lines.isEmpty ? nil : "{ \(lines.joined(separator: "; ")) }"
    }

    // MARK: Attributes

    /// Returns the declaration of an attribute.
    static func attribute(
        _ attribute: NSAttributeDescription, _ name: String, _ common: [String], isUnique: Bool = false, at place: String,
        composites: inout CodeFirstComposites
    ) throws -> String {
        var options = isUnique ? [".unique"] : []
        let type = try swiftType(of: attribute, &options, at: place, composites: &composites)
        // An element of a structure has no zero for nil.
        let isElement = attribute.entity == nil
        let readsZero = zeroTypes.contains(attribute.attributeType) && !isElement
        let hasScalarAccessor = attribute.modelFileAttributes["usesScalarValueType"] == "YES" && readsZero
        var isOptionalType = attribute.isOptional
        if attribute.isOptional {
            if hasScalarAccessor, scalarTypes.contains(attribute.attributeType) {
                // A derived attribute may be nil anyway.
                if !(attribute is NSDerivedAttributeDescription) { options.insert(".optional", at: 0) }
                isOptionalType = false
            }
        } else if attribute.defaultValue == nil || attribute is NSDerivedAttributeDescription {
            options.insert(".required", at: 0)
            isOptionalType = !readsZero && attribute.defaultValue == nil
        }
        flags(of: attribute, &options)
        if let expression = (attribute as? NSDerivedAttributeDescription)?.derivationExpression {
            options.append(".derived(from: \(SwiftSourceWriter.literal(expression.description)))")
        } else if attribute is NSDerivedAttributeDescription {
            throw ModelFileError.unwritable(place, "It is derived and has no expression.")
        }
        options += try rules(of: attribute, at: place)
        let standard = try attribute.defaultValue.map { " = \(try literal($0, type: attribute.attributeType, at: place))" } ?? ""
        let macro = isElement ? "Element" : attribute.isTransient ? "Transient" : "Attribute"
        let arguments = options + common
        let mark = arguments.isEmpty ? (attribute.isTransient ? "@\(macro) " : "") : "@\(macro)(\(arguments.joined(separator: ", "))) "
        return "\(mark)var \(name): \(type)\(isOptionalType ? "?" : "")\(standard)"
    }

    private static let zeroTypes: Set<NSAttributeType> = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType, .doubleAttributeType,
        .floatAttributeType, .stringAttributeType, .booleanAttributeType, .dateAttributeType, .binaryDataAttributeType, .UUIDAttributeType,
    ]

    /// The types for which Xcode generates scalar accessors.
    private static let scalarTypes: Set<NSAttributeType> = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
        .booleanAttributeType, .dateAttributeType,
    ]

    private static func swiftType(
        of attribute: NSAttributeDescription, _ options: inout [String], at place: String, composites: inout CodeFirstComposites
    ) throws -> String {
        let valueClass = attribute.customValueClassName
        if let valueClass, attribute.attributeType != .transformableAttributeType {
            options.append(".valueClass(\(SwiftSourceWriter.literal(valueClass)))")
        }
        switch attribute.attributeType {
        case .integer16AttributeType: return "Int16"
        case .integer32AttributeType: return "Int32"
        case .integer64AttributeType: return "Int64"
        case .decimalAttributeType: return "Decimal"
        case .doubleAttributeType: return "Double"
        case .floatAttributeType: return "Float"
        case .stringAttributeType: return "String"
        case .booleanAttributeType: return "Bool"
        case .dateAttributeType: return "Date"
        case .binaryDataAttributeType: return "Data"
        case .UUIDAttributeType: return "UUID"
        case .URIAttributeType: return "URL"
        case .compositeAttributeType:
            guard let composite = attribute as? NSCompositeAttributeDescription, !composite.elements.isEmpty else {
                throw ModelFileError.unwritable(place, "It is a composite without elements.")
            }
            return try composites.structure(of: composite, at: place)
        case .transformableAttributeType:
            options.append(".transformable(by: \(attribute.valueTransformerName.map(SwiftSourceWriter.literal) ?? "nil"))")
            guard let valueClass, valueClass != "NSObject" else {
                if valueClass != nil { options.append(".valueClass(\"NSObject\")") }
                return "NSObject"
            }
            if isTypeName(valueClass) { return valueClass }
            options.append(".valueClass(\(SwiftSourceWriter.literal(valueClass)))")
            return "NSObject"
        case .undefinedAttributeType:
            options.append(".type(.undefined)")
            return "Any"
        case .objectIDAttributeType:
            options.append(".type(.objectID)")
            return "NSManagedObjectID"
        }
    }

    /// Returns whether a class name is also the name of a Swift type: `Mood`, `Module.Mood`, `[String]`, `[String: Int]`.
    private static func isTypeName(_ name: String) -> Bool {
        name.first.map { $0.isLetter || $0 == "[" } == true && name.allSatisfy { $0.isLetter || $0.isNumber || "._[]: ".contains($0) }
            && name.count { $0 == "[" } == name.count { $0 == "]" } && !name.hasSuffix(".") && !TakenNames.keywords.contains(name)
    }

    private static func flags(of attribute: NSAttributeDescription, _ options: inout [String]) {
        if attribute.valueTransformerName != nil, attribute.attributeType != .transformableAttributeType {
            options.append(".transformerName(\(SwiftSourceWriter.literal(attribute.valueTransformerName ?? "")))")
        }
        if attribute.isTransient, attribute.entity == nil { options.append(".transient") }
        if attribute.allowsExternalBinaryDataStorage { options.append(".externalStorage") }
        if attribute.preservesValueInHistoryOnDeletion { options.append(".preserveValueOnDeletion") }
        if attribute.allowsCloudEncryption { options.append(".allowsCloudEncryption") }
        if attribute.isIndexedBySpotlight { options.append(".spotlight") }
        if attribute.isIndexed { options.append(".indexed") }
    }

    private static func literal(_ value: Any, type: NSAttributeType, at place: String) throws -> String {
        let text = try SwiftSourceWriter.literal(value, type: type, at: place)
        switch type {
        case .floatAttributeType: return AttributeText.text(value, type: type) ?? text
        case .decimalAttributeType where isWhole(AttributeText.text(value, type: type)):
            return AttributeText.text(value, type: type) ?? text
        case .decimalAttributeType, .UUIDAttributeType, .URIAttributeType, .binaryDataAttributeType: return text + "!"
        default: return text
        }
    }

    private static func isWhole(_ text: String?) -> Bool { text.flatMap { Int32($0) } != nil }

    // MARK: Validation

    private static func rules(of attribute: NSAttributeDescription, at place: String) throws -> [String] {
        var options: [String] = []
        let rules = attribute.validationRules
        var index = 0
        while index < rules.count {
            let (predicate, warning) = rules[index]
            index += 1
            guard warning == nil, let known = ValidationText.attribute(for: predicate, type: attribute.attributeType) else {
                options.append(try validated(predicate, warning, at: place))
                continue
            }
            if known.name == "regularExpressionString" {
                options.append(".matching(\(SwiftSourceWriter.literal(known.value)))")
                continue
            }
            let isText = attribute.attributeType == .stringAttributeType
            func bound(_ value: String) throws -> String {
                try Self.bound(value, type: isText ? .integer64AttributeType : attribute.attributeType, at: place)
            }
            let kind = isText ? "length" : "range"
            if known.name.hasPrefix("max") {
                options.append(".\(kind)(...\(try bound(known.value)))")
            } else if index < rules.count, rules[index].warning == nil,
                let upper = ValidationText.attribute(for: rules[index].predicate, type: attribute.attributeType),
                upper.name.hasPrefix("max"),
                isOrdered(known.value, upper.value, attribute.attributeType)
            {
                index += 1
                options.append(".\(kind)(\(try bound(known.value))...\(try bound(upper.value)))")
            } else {
                options.append(".\(kind)(\(try bound(known.value))...)")
            }
        }
        return options
    }

    private static func isOrdered(_ lower: String, _ upper: String, _ type: NSAttributeType) -> Bool {
        guard let lower = Decimal(string: lower), let upper = Decimal(string: upper) else { return false }
        return lower <= upper
    }

    private static func bound(_ value: String, type: NSAttributeType, at place: String) throws -> String {
        guard let bound = AttributeText.value(value, type: type) else {
            throw ModelFileError.unwritable(place, "A bound is none of its type.")
        }
        switch type {
        case .decimalAttributeType where isWhole(value) && !value.hasPrefix("-"): return value
        case .decimalAttributeType: return "Decimal(string: \(SwiftSourceWriter.literal(value)))!"
        case .floatAttributeType: return "Float(\(bound))"
        default:
            let text = try literal(bound, type: type, at: place)
            return text.hasPrefix("-") ? "(\(text))" : text
        }
    }

    private static func validated(_ predicate: NSPredicate, _ warning: Any?, at place: String) throws -> String {
        let format = try format(predicate, at: place)
        switch warning {
        case nil: return ".validated(\(format))"
        case let text as String: return ".validated(\(format), \(SwiftSourceWriter.literal(text)))"
        case let code as Int: return ".validated(\(format), code: \(code))"
        default: throw ModelFileError.unwritable(place, "A validation warning is neither a text nor a number.")
        }
    }
}

/// The structures for a model's composites.
struct CodeFirstComposites {
    private var bodies: [String: String] = [:]
    private let taken: Set<String>
    private(set) var sources: [String] = []

    /// - Parameter classNames: The names of the classes, which structures must not have.
    init(besides classNames: Set<String>) { taken = classNames }

    /// Returns the name of the structure for a composite; equal composites have the same structure.
    mutating func structure(of composite: NSCompositeAttributeDescription, at place: String) throws -> String {
        var body = ""
        for element in composite.elements {
            let place = "\(place).\(element.name)"
            let name = CodeFirstNames.swiftName(of: element.name)
            var common = name.model.map { ["name: \(SwiftSourceWriter.literal($0))"] } ?? []
            common += try CodeFirstText.common(element.renamingIdentifier, element.versionHashModifier, element.userInfo, at: place)
            body += "    \(try CodeFirstText.attribute(element, name.swift, common, at: place, composites: &self))\n"
        }
        let wish = CodeFirstNames.freeTypeName(
            composite.modelFileAttributes["composite"] ?? composite.name.prefix(1).uppercased() + composite.name.dropFirst())
        var candidate = wish
        var number = 2
        while taken.contains(candidate) || bodies[candidate].map({ $0 != body }) == true {
            candidate = "\(wish)\(number)"
            number += 1
        }
        if bodies.updateValue(body, forKey: candidate) == nil { sources.append("@Composite struct \(candidate) {\n\(body)}\n") }
        return candidate
    }
}
