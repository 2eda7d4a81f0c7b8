internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The values that a request binds to the statement of its shape.
package struct SQLRequestValues {
    /// The constants by number.
    var constants: [PropertyValue]
    var limit: Int
    var offset: Int
    var now: Date
    /// The token of the store whose objects have keys.
    let token: StoreToken
    /// The schema, whose entities have numbers.
    let schema: SQLSchema
    /// The number of no entity.
    static let noEntity: Int64 = -1

    /// Returns the value of a binding.
    ///
    /// - Throws: ``InvalidPredicateError`` for an invalid regular expression.
    package func value(of binding: SQLBinding) throws -> SQLValue {
        switch binding {
        case .integer(let number): .integer(number)
        case .text(let text): .text(text)
        case .constant(let number, let form): try value(of: constants[number], as: form)
        case .now: .date(now)
        case .limit: limit > 0 ? .integer(Int64(limit)) : .unlimited
        case .offset: .integer(Int64(offset))
        }
    }

    private func value(of constant: PropertyValue, as form: SQLConstantForm) throws -> SQLValue {
        switch form {
        case .stored: return stored(constant)
        case .number: return number(constant)
        case .key(let root): return key(constant, root)
        case .entityNumber: return .integer(entityNumber(constant))
        case .entityNumbers:
            return .list(constant.listed.compactMap { $0.isNull ? .null : isEntity($0) ? .integer(entityNumber($0)) : nil })
        case .spelling(let index):
            guard case .string(let text) = constant, let all = TextSpellings.all(of: text) else { return stored(constant) }
            return .text(all[min(index, all.count - 1)])
        case .prefix: return .text(text(constant) { TextSpellings.prefix(of: $0) ?? "" })
        case .afterPrefix: return .text(text(constant) { TextSpellings.after(TextSpellings.prefix(of: $0) ?? "") })
        case .withMark: return .text(text(constant) { $0 + "\u{300}" })
        case .patternPrefix: return .text(text(constant) { TextSpellings.prefix(ofPattern: $0) ?? "" })
        case .afterPatternPrefix: return .text(text(constant) { TextSpellings.after(TextSpellings.prefix(ofPattern: $0) ?? "") })
        case .likePattern(let operation): return .text(text(constant) { SQLPattern.like(operation, $0) })
        case .folded(let options): return .text(text(constant) { TextPattern.folded($0, options) })
        case .regularExpression(let options):
            guard case .string(let pattern) = constant else { return stored(constant) }
            _ = try TextPattern(.matches, pattern, options, clause: "MATCHES \"\(pattern)\"")
            return .text(pattern)
        case .size: return .list(constant.listed.map { _ in .null })
        case .list(let form): return .list(constant.listed.flatMap { elements($0, form) })
        }
    }

    private func text(_ constant: PropertyValue, _ change: (String) -> String) -> String {
        if case .string(let text) = constant { change(text) } else { "" }
    }

    /// Returns a constant in the form of columns.
    private func stored(_ constant: PropertyValue) -> SQLValue {
        switch constant {
        case .null, .array, .set: .null
        case .bool(let flag): .boolean(flag)
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        case .decimal(let number): .decimal(number)
        case .string(let text): .text(text)
        case .date(let date): .date(date)
        case .data(let data): .blob(data)
        case .uuid(let uuid): .uuid(uuid)
        case .url(let url): .text(url.absoluteString)
        case .object(let reference): .text((reference.object as? NSEntityDescription)?.name ?? "")
        }
    }

    /// Returns a number in the form of the functions.
    private func number(_ constant: PropertyValue) -> SQLValue {
        if case .decimal(let number) = constant { .exactDecimal(number) } else { stored(constant) }
    }

    private func key(_ constant: PropertyValue, _ root: ObjectIdentifier) -> SQLValue {
        let kind = schema.keyKind(root: root)
        guard case .object(let reference) = constant, case .object(let identity)? = EntitySchema.identifier(of: reference.object),
            let id = identity.object as? NSManagedObjectID, id.token === token, ObjectIdentifier(id.owningEntity.rootEntity) == root
        else { return kind.none }
        return switch (kind, id.reference) {
        case (.integer, .integer(let number)): .integer(number)
        case (.text, .string(let text)): .text(text)
        case (.uuid, .uuid(let uuid)): .uuid(uuid)
        default: kind.none
        }
    }

    private func isEntity(_ constant: PropertyValue) -> Bool {
        if case .object(let reference) = constant { reference.object is NSEntityDescription } else { false }
    }

    private func entityNumber(_ constant: PropertyValue) -> Int64 {
        guard case .object(let reference) = constant, let entity = reference.object as? NSEntityDescription else { return Self.noEntity }
        // An entity of another copy of the model is equivalent to the one with the same name here.
        let own = schema.entity(entity) ?? schema.model.entitiesByName[entity.name ?? ""].flatMap(schema.entity)
        return own?.number ?? Self.noEntity
    }

    // MARK: Elements of collections

    /// Returns an element in the form of a list; empty if it cannot equal any value that the list is compared with.
    private func elements(_ element: PropertyValue, _ form: SQLListForm) -> [SQLValue] {
        if element.isNull { return [.null] }
        switch (form, element) {
        case (.numbers, .bool), (.numbers, .int64): return [stored(element)]
        case (.numbers, .double(let number)): return number.isNaN ? [] : [.real(number)]
        case (.numbers, .decimal(let number)): return number.isNaN ? [] : [stored(element)]
        case (.anyNumbers, .bool), (.anyNumbers, .int64), (.anyNumbers, .double), (.anyNumbers, .decimal): return [number(element)]
        case (.texts, .string(let text)): return TextSpellings.all(of: text)?.map(SQLValue.text) ?? [.text(text)]
        case (.plainTexts, .string(let text)): return [.text(text)]
        case (.foldedTexts(let options), .string(let text)): return [.text(TextPattern.folded(text, options))]
        case (.dates, .date), (.data, .data), (.uuids, .uuid), (.urls, .url): return [stored(element)]
        case (.keys(let root), .object): return [key(element, root)]
        default: return []
        }
    }
}

extension SQLKeyKind {
    /// A key that no row has.
    fileprivate var none: SQLValue {
        switch self {
        case .integer: .integer(-1)
        case .text: .text("\u{FFFF}")
        case .uuid: .uuid(UUID(uuid: (0x6E, 0x6F, 0x20, 0x73, 0x75, 0x63, 0x48, 0x20, 0xAB, 0x6B, 0x65, 0x79, 0, 0, 0, 0)))
        }
    }
}

extension PropertyValue {
    /// The elements of a collection.
    fileprivate var listed: [PropertyValue] {
        switch self {
        case .array(let values): values
        case .set(let values): Array(values)
        default: []
        }
    }
}

/// Patterns of SQL's LIKE.
enum SQLPattern {
    /// Returns the pattern of a string operator; for ``TextOperator/matches``, that of an equal string.
    static func like(_ operation: TextOperator, _ text: String) -> String {
        switch operation {
        case .beginsWith: return escaped(text) + "%"
        case .endsWith: return "%" + escaped(text)
        case .contains: return "%" + escaped(text) + "%"
        case .matches: return escaped(text)
        case .like: break
        }
        var pattern = ""
        var isEscaped = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: pattern += "%"
            case "?" where !isEscaped: pattern += "_"
            default: pattern += escaped(String(scalar))
            }
            isEscaped = false
        }
        return isEscaped ? pattern + "\\\\" : pattern
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
    }
}
