#if Macros
internal import SwiftSyntax

/// A stored property in a class, parsed for the macros.
struct PropertySyntax {
    /// The kinds of property by their attribute.
    enum Kind: String, CaseIterable {
        case attribute = "Attribute"
        case transient = "Transient"
        case relationship = "Relationship"
        case fetched = "FetchedProperty"
        /// An element of a composite.
        case element = "Element"
    }

    let declaration: VariableDeclSyntax
    let binding: PatternBindingSyntax
    /// The name in Swift, without backticks.
    let swiftName: String
    /// The attribute that determines the kind; nil for a plain property.
    let attribute: AttributeSyntax?
    let kind: Kind
    /// The attributes of this module on the property; more than one is an error.
    let attributes: [AttributeSyntax]
    /// The type without the optional.
    let type: TypeSyntax?
    let isOptional: Bool
    /// The default, nil where there is none or it is `nil`.
    let defaultValue: ExprSyntax?

    init?(_ declaration: VariableDeclSyntax) {
        guard let binding = declaration.bindings.first, let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else { return nil }
        self.declaration = declaration
        self.binding = binding
        swiftName = pattern.identifier.text.trimmingBackticks
        attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
            Kind(rawValue: $0.attributeName.trimmedDescription) != nil
        }
        attribute = attributes.first
        kind = attribute.flatMap { Kind(rawValue: $0.attributeName.trimmedDescription) } ?? .attribute
        (type, isOptional) = Self.unwrapped(binding.typeAnnotation?.type)
        let value = binding.initializer?.value
        defaultValue = value?.is(NilLiteralExprSyntax.self) == true ? nil : value
    }

    static func unwrapped(_ type: TypeSyntax?) -> (TypeSyntax?, Bool) {
        if let optional = type?.as(OptionalTypeSyntax.self) { return (optional.wrappedType.withoutParentheses, true) }
        if let optional = type?.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return (optional.wrappedType.withoutParentheses, true) }
        if let named = type?.as(IdentifierTypeSyntax.self), named.name.text == "Optional", let argument = named.typeArguments?.first {
            return (argument, true)
        }
        return (type, false)
    }

    // MARK: Kind

    /// Whether the property has an attribute of this module, or is included in the entity by default.
    var isCandidate: Bool { attribute != nil || isPlainStored }

    /// Whether the property is a stored `var` of instances and not excluded.
    var isPlainStored: Bool {
        !isStatic && !isLazy && !isIgnored && !isComputed && declaration.bindingSpecifier.tokenKind == .keyword(.var)
    }

    var isStatic: Bool { hasModifier(.static) || hasModifier(.class) }
    var isLazy: Bool { hasModifier(.lazy) }
    var isIgnored: Bool { hasAttribute("Ignored") }
    var isManagedByHand: Bool { hasAttribute("NSManaged") }

    /// Whether the property has a getter.
    var isComputed: Bool {
        switch binding.accessorBlock?.accessors {
        case .getter: true
        case .accessors(let list): list.contains { ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
        case nil: false
        }
    }

    /// Whether the property has `willSet` or `didSet`.
    var isObserved: Bool { binding.accessorBlock != nil && !isComputed }

    func hasAttribute(_ name: String) -> Bool {
        declaration.attributes.contains { $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == name }
    }

    private func hasModifier(_ keyword: Keyword) -> Bool { declaration.modifiers.contains { $0.name.tokenKind == .keyword(keyword) } }

    // MARK: Arguments

    private var arguments: [LabeledExprSyntax] {
        if case .argumentList(let list) = attribute?.arguments { Array(list) } else { [] }
    }

    func argument(_ label: String) -> ExprSyntax? { arguments.first { $0.label?.text == label }?.expression }

    /// The leading arguments without labels, unchanged.
    var options: [ExprSyntax] { Array(arguments.prefix { $0.label == nil }.map(\.expression.trimmed)) }

    /// Returns the option with a name, `.unique` or `.transformable(by: …)`.
    func option(_ name: String) -> ExprSyntax? {
        options.first { option in
            let callee = option.as(FunctionCallExprSyntax.self)?.calledExpression ?? option
            return callee.as(MemberAccessExprSyntax.self)?.declName.baseName.text == name
        }
    }

    /// The arguments of every kind in source form: `, originalName: …`.
    var commonArguments: String {
        ["originalName", "hashModifier", "userInfo"].compactMap { label in argument(label).map { ", \(label): \($0.trimmedDescription)" } }
            .joined()
    }

    /// The name in the model, as a literal.
    var nameLiteral: String { argument("name")?.trimmedDescription ?? "\"\(swiftName)\"" }

    /// The ways to store and access the value.
    enum Access {
        case slot
        case codable
        case object
        case ordered
        case fetched
    }

    var access: Access {
        switch kind {
        case .fetched: return .fetched
        case .relationship: return type?.arrayElement == nil ? .slot : .ordered
        case .attribute, .transient, .element:
            if option("codable") != nil { return .codable }
            if option("transformable") != nil { return .object }
            let asked = option("type")?.as(FunctionCallExprSyntax.self)?.arguments.first?.expression.trimmedDescription ?? ""
            return asked.hasSuffix("undefined") || asked.hasSuffix("objectID") || asked.hasSuffix("transformable") ? .object : .slot
        }
    }

    /// The kind of to-many relationship of the type; nil for anything else. A plain array is not one, because it may contain values.
    var toMany: (element: TypeSyntax, isOrdered: Bool)? {
        guard kind == .relationship || attribute == nil else { return nil }
        if let element = type?.setElement { return (element, false) }
        if kind == .relationship, let element = type?.arrayElement { return (element, true) }
        return nil
    }
}

extension TypeSyntax {
    /// The type without redundant parentheses.
    var withoutParentheses: TypeSyntax {
        guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first else { return self }
        return only.type
    }

    /// The name of a type without a module and generic arguments.
    var plainName: String? { self.as(IdentifierTypeSyntax.self).flatMap { $0.genericArgumentClause == nil ? $0.name.text : nil } }

    var setElement: TypeSyntax? {
        self.as(IdentifierTypeSyntax.self).flatMap { $0.name.text == "Set" ? $0.typeArguments?.first?.trimmed : nil }
    }

    var arrayElement: TypeSyntax? {
        if let array = self.as(ArrayTypeSyntax.self) { return array.element.trimmed }
        return self.as(IdentifierTypeSyntax.self).flatMap { $0.name.text == "Array" ? $0.typeArguments?.first : nil }
    }

    var isDictionary: Bool { self.is(DictionaryTypeSyntax.self) || self.as(IdentifierTypeSyntax.self)?.name.text == "Dictionary" }
}

extension IdentifierTypeSyntax {
    /// The generic arguments.
    var typeArguments: [TypeSyntax]? { genericArgumentClause?.arguments.compactMap { TypeSyntax($0.argument) } }
}

extension String {
    var trimmingBackticks: String { hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self }
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension StringLiteralExprSyntax {
    /// The text of a literal without interpolations and escapes.
    var plainText: String? {
        guard segments.count == 1, let text = segments.first?.as(StringSegmentSyntax.self)?.content.text, !text.contains("\\") else {
            return nil
        }
        return text
    }
}
#endif
