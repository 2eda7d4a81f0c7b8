#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import TakenNames

/// Examines one property.
enum PropertyExamination {
    static func examine(_ property: PropertySyntax, _ findings: inout DeclarationChecker) {
        let name = property.swiftName
        let place = property.binding.pattern
        if property.attributes.count > 1 { return findings.report(property.attributes[1], .several(name)) }
        if property.isComputed, let attribute = property.attribute {
            return findings.report(
                attribute, .computed(name, property.kind.rawValue),
                [
                    FixIt(
                        message: DeclarationFixIt("remove @\(property.kind.rawValue)"),
                        changes: [remove(attribute, of: property.declaration)])
                ])
        }
        if property.isObserved { return findings.report(property.binding.accessorBlock!, .observed(name)) }
        guard let type = property.type else { return examineMissingType(property, &findings) }
        if TakenNames.membersInSwift.contains(name) { return findings.report(place, .reserved(name)) }
        switch property.kind {
        case .relationship: examineRelationship(property, type, &findings)
        case .fetched:
            if type.arrayElement == nil || property.isOptional { findings.report(type, .fetchedType(name)) }
        case .attribute, .transient, .element: examineAttribute(property, type, &findings)
        }
    }

    // MARK: Attributes

    private static func examineAttribute(_ property: PropertySyntax, _ type: TypeSyntax, _ findings: inout DeclarationChecker) {
        let name = property.swiftName
        if type.setElement != nil {
            if property.attribute != nil { return findings.report(type, .attributeOnRelationship(name), [asRelationship(property)]) }
            return examineToMany(property, &findings)
        }
        if property.access == .slot, let advice = advice(against: type) {
            return findings.report(type, .unsupported(type.trimmedDescription, advice.text), advice.fixes(property))
        }
        if property.option("required") != nil, let other = property.option("optional") {
            return findings.report(other, .contradiction("required", "optional"))
        }
        examineOptions(property, type, &findings)
        if let value = property.defaultValue, changes(value) { return findings.report(value, .changingDefault(name)) }
        examineMissingDefault(property, type, &findings)
    }

    /// Returns whether a default is an object that all instances would share.
    private static func changes(_ value: ExprSyntax) -> Bool {
        let text = value.trimmedDescription
        return ["Date()", "UUID()", "Date.now", ".now", ".init()", "Date.init()", "UUID.init()", "Foundation.Date()", "Foundation.UUID()"]
            .contains(text) || text.contains("random(")
    }

    private static func examineOptions(_ property: PropertySyntax, _ type: TypeSyntax, _ findings: inout DeclarationChecker) {
        guard let name = type.plainName, builtInTypes.contains(name) || literalTypes.values.contains(name) else { return }
        if let option = property.option("externalStorage"), name != "Data", property.access == .slot {
            findings.report(option, .misplaced("externalStorage", "Data and what is kept as such"))
        }
        for (option, types) in [("length", ["String"]), ("matching", ["String"])] where !types.contains(name) {
            if let found = property.option(option) {
                findings.report(found, .misplaced(option, "text; write .range for the bounds of a number"))
            }
        }
        if name == "String", let found = property.option("range") {
            findings.report(found, .misplaced("range", "numbers and dates; write .length or .matching for text"))
        }
    }

    private static func examineMissingDefault(_ property: PropertySyntax, _ type: TypeSyntax, _ findings: inout DeclarationChecker) {
        guard !property.isOptional, property.defaultValue == nil, property.option("required") == nil, property.option("optional") == nil,
            property.option("derived") == nil, let name = type.plainName
        else { return }
        // Another type may be a managed object; the property is then a relationship.
        let zero = zeros[name]
        guard zero != nil || builtInTypes.contains(name) || property.attribute != nil else { return }
        var fixes: [FixIt] = []
        if let zero { fixes.append(replacing(property, initializer: zero, "add the default \(zero)")) }
        fixes.append(
            FixIt(
                message: DeclarationFixIt("make it optional"),
                changes: [
                    .replace(
                        oldNode: Syntax(type),
                        newNode: Syntax(OptionalTypeSyntax(wrappedType: type.trimmed, trailingTrivia: type.trailingTrivia)))
                ]))
        if property.attribute == nil {
            fixes.append(
                FixIt(
                    message: DeclarationFixIt("mark it @Attribute(.required)"),
                    changes: [prefix(property.declaration, with: "@Attribute(.required) ")]))
        }
        findings.report(property.binding.pattern, .noDefault(property.swiftName), fixes)
    }

    private static func examineMissingType(_ property: PropertySyntax, _ findings: inout DeclarationChecker) {
        var fixes: [FixIt] = []
        if let value = property.defaultValue, let name = literalTypes[value.kind] {
            let annotated = property.binding.with(
                \.pattern, property.binding.pattern.with(\.trailingTrivia, [])
            ).with(\.typeAnnotation, TypeAnnotationSyntax(colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("\(raw: name) ")))
            fixes = [
                FixIt(
                    message: DeclarationFixIt("write “: \(name)”"),
                    changes: [.replace(oldNode: Syntax(property.binding), newNode: Syntax(annotated))])
            ]
        }
        findings.report(property.binding.pattern, .noType(property.swiftName), fixes)
    }

    /// Returns the advice for a type that attributes do not support.
    private static func advice(against type: TypeSyntax) -> (text: String, fixes: (PropertySyntax) -> [FixIt])? {
        func replaced(_ name: String) -> (PropertySyntax) -> [FixIt] {
            { _ in
                [
                    FixIt(
                        message: DeclarationFixIt("write \(name)"),
                        changes: [
                            .replace(
                                oldNode: Syntax(type),
                                newNode: Syntax(TypeSyntax("\(raw: name)").with(\.trailingTrivia, type.trailingTrivia)))
                        ])
                ]
            }
        }
        let coded: (PropertySyntax) -> [FixIt] = { property in
            guard property.attribute == nil else { return [] }
            return [
                FixIt(
                    message: DeclarationFixIt("mark it @Attribute(.codable)"),
                    changes: [prefix(property.declaration, with: "@Attribute(.codable) ")]),
                FixIt(
                    message: DeclarationFixIt("mark it @Attribute(.transformable(by: …))"),
                    changes: [prefix(property.declaration, with: "@Attribute(.transformable(by: <#name of a transformer#>)) ")]),
            ]
        }
        if type.arrayElement != nil || type.isDictionary {
            return (
                "say @Relationship if it holds managed objects, @Attribute(.codable) or @Attribute(.transformable(by: …)) if values.", coded
            )
        }
        if type.is(FunctionTypeSyntax.self) || type.is(TupleTypeSyntax.self) {
            return ("mark it @Ignored to keep it out of the model, or make it a structure.", { _ in [] })
        }
        if let name = type.plainName, let better = replacements[name] { return ("write \(better).", replaced(better)) }
        if let name = type.plainName, ["Any", "AnyObject", "AnyHashable", "NSObject", "NSNumber"].contains(name) {
            return ("say @Attribute(.transformable(by: …)), or @Transient(.type(.undefined)) for what no store keeps.", { _ in [] })
        }
        if type.is(SomeOrAnyTypeSyntax.self) { return ("say @Transient(.type(.undefined)) for what no store keeps.", { _ in [] }) }
        if type.plainName == "NSOrderedSet" || type.plainName == "NSSet" {
            return ("write [Track] for an ordered relationship, Set<Track> for one without order.", { _ in [] })
        }
        return nil
    }

    // MARK: Relationships

    private static func examineToMany(_ property: PropertySyntax, _ findings: inout DeclarationChecker) {
        let name = property.swiftName
        if property.isOptional, let annotation = property.binding.typeAnnotation, let type = property.type {
            return findings.report(
                annotation.type, .optionalToMany(name),
                [
                    FixIt(
                        message: DeclarationFixIt("write \(type.trimmedDescription)"),
                        changes: [
                            .replace(
                                oldNode: Syntax(annotation.type),
                                newNode: Syntax(type.trimmed.with(\.trailingTrivia, annotation.type.trailingTrivia)))
                        ])
                ])
        }
        if let value = property.defaultValue, value.trimmedDescription != "[]" { findings.report(value, .toManyDefault(name)) }
    }

    private static func examineRelationship(_ property: PropertySyntax, _ type: TypeSyntax, _ findings: inout DeclarationChecker) {
        let name = property.swiftName
        if ["NSOrderedSet", "NSSet", "NSMutableSet", "NSMutableOrderedSet"].contains(type.plainName ?? "") {
            return findings.report(type, .unorderedClass(name))
        }
        if let plain = type.plainName, builtInTypes.contains(plain) || zeros[plain] != nil || replacements[plain] != nil {
            return findings.report(type, .notARelationship(name, plain))
        }
        if let element = (type.arrayElement ?? type.setElement)?.plainName, builtInTypes.contains(element) || zeros[element] != nil {
            return findings.report(type, .notARelationship(name, type.trimmedDescription))
        }
        if type.isDictionary { return findings.report(type, .notARelationship(name, type.trimmedDescription)) }
        let destination = type.arrayElement ?? type.setElement ?? type
        if type.arrayElement != nil || type.setElement != nil {
            examineToMany(property, &findings)
        } else if let value = property.defaultValue {
            findings.report(value, .toOneDefault(name))
        }
        if let rule = property.argument("deleteRule")?.as(MemberAccessExprSyntax.self), !rules.contains(rule.declName.baseName.text) {
            findings.report(
                rule, .deleteRule(rule.declName.baseName.text),
                rules.prefix(4).map { name in
                    FixIt(
                        message: DeclarationFixIt("write .\(name)"),
                        changes: [.replace(oldNode: Syntax(rule), newNode: Syntax(ExprSyntax(".\(raw: name)")))])
                })
        }
        if let inverse = property.argument("inverse"), !inverse.is(NilLiteralExprSyntax.self) {
            guard let keyPath = inverse.as(KeyPathExprSyntax.self), keyPath.lastName != nil, let root = keyPath.root else {
                return findings.report(inverse, .inverse())
            }
            // Only plain spellings can be compared; the model is checked again when it is created.
            if let written = root.plainName, let expected = destination.plainName, written != expected {
                findings.report(root, .inverseRoot(written, expected))
            }
        }
    }

    // MARK: Edits

    private static func asRelationship(_ property: PropertySyntax) -> FixIt {
        guard let name = property.attribute?.attributeName else {
            return FixIt(message: DeclarationFixIt("write @Relationship"), changes: [])
        }
        return FixIt(
            message: DeclarationFixIt("write @Relationship"),
            changes: [
                .replace(oldNode: Syntax(name), newNode: Syntax(TypeSyntax("Relationship").with(\.trailingTrivia, name.trailingTrivia)))
            ])
    }

    private static func replacing(_ property: PropertySyntax, initializer: String, _ message: String) -> FixIt {
        let changed = property.binding.with(\.typeAnnotation, property.binding.typeAnnotation?.with(\.trailingTrivia, [])).with(
            \.initializer,
            InitializerClauseSyntax(
                equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space), value: ExprSyntax("\(raw: initializer)"),
                trailingTrivia: property.binding.trailingTrivia))
        return FixIt(message: DeclarationFixIt(message), changes: [.replace(oldNode: Syntax(property.binding), newNode: Syntax(changed))])
    }

    private static func prefix(_ declaration: VariableDeclSyntax, with text: String) -> FixIt.Change {
        let token = declaration.firstToken(viewMode: .sourceAccurate) ?? declaration.bindingSpecifier
        return .replaceLeadingTrivia(token: token, newTrivia: token.leadingTrivia + [.unexpectedText(text)])
    }

    private static func remove(_ attribute: AttributeSyntax, of declaration: VariableDeclSyntax) -> FixIt.Change {
        let attributes = declaration.attributes.filter { $0.as(AttributeSyntax.self)?.id != attribute.id }
        let rest = declaration.with(\.attributes, attributes).with(\.leadingTrivia, declaration.leadingTrivia)
        return .replace(oldNode: Syntax(declaration), newNode: Syntax(rest))
    }

    // MARK: Names

    private static let rules = [
        "nullify", "cascade", "deny", "noAction", "nullifyDeleteRule", "cascadeDeleteRule", "denyDeleteRule", "noActionDeleteRule",
    ]

    private static let builtInTypes: Set<String> = [
        "Int", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "String", "Date", "Data", "UUID", "URL", "Decimal",
    ]

    /// The initial values that may be omitted.
    private static let zeros: [String: String] = [
        "Int": "0", "Int16": "0", "Int32": "0", "Int64": "0", "Double": "0", "Float": "0", "Decimal": "0", "Bool": "false",
        "String": "\"\"", "Data": "Data()",
    ]

    private static let literalTypes: [SyntaxKind: String] = [
        .stringLiteralExpr: "String", .integerLiteralExpr: "Int", .floatLiteralExpr: "Double", .booleanLiteralExpr: "Bool",
    ]

    /// Unsupported types and their replacements.
    private static let replacements: [String: String] = [
        "Int8": "Int16", "UInt8": "Int16", "UInt16": "Int32", "UInt32": "Int64", "UInt": "Int64", "UInt64": "Decimal", "CGFloat": "Double",
        "Float16": "Float", "Float80": "Double", "NSString": "String", "NSDate": "Date", "NSData": "Data", "NSDecimalNumber": "Decimal",
        "NSUUID": "UUID", "NSURL": "URL", "Character": "String", "Substring": "String", "TimeInterval": "Double", "NSInteger": "Int",
    ]
}
#endif
