internal import Foundation
internal import Predicates

// SQLite compares a column of text with the numbers of a list as texts, so that Apple's stores find "9" by `plate IN %@` with `[9, 10]`. Here all stores do.
extension PredicateTree {
    /// Returns the predicate in which text replaces the numbers of lists that text attributes are compared with.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects that the predicate is about.
    ///   - found: Becomes true if there are such numbers.
    func comparingTexts(of entity: NSEntityDescription, _ found: inout Bool) -> PredicateTree {
        switch self {
        case .comparison(let comparison): comparison.comparingTexts(of: entity, &found).map { .comparison($0) } ?? self
        case .and(let parts): Self.parts(parts, of: entity, &found).map { .and($0) } ?? self
        case .or(let parts): Self.parts(parts, of: entity, &found).map { .or($0) } ?? self
        case .not(let part): Self.parts([part], of: entity, &found).map { .not($0[0]) } ?? self
        default: self
        }
    }

    /// Returns the parts of a compound; nil if none of them has such numbers.
    private static func parts(_ parts: [PredicateTree], of entity: NSEntityDescription, _ found: inout Bool) -> [PredicateTree]? {
        var hasFound = false
        let changed = parts.map { $0.comparingTexts(of: entity, &hasFound) }
        if hasFound { found = true }
        return hasFound ? changed : nil
    }
}

extension PredicateComparison {
    /// Returns the comparison with texts for the numbers of its list; nil if it is not such a comparison.
    fileprivate func comparingTexts(of entity: NSEntityDescription, _ found: inout Bool) -> PredicateComparison? {
        var changed = self
        switch `operator` {
        case .isIn:
            guard let list = right.texts, left.isText(of: entity) else { return nil }
            changed.right = list
        case .contains:
            guard let list = left.texts, right.isText(of: entity) else { return nil }
            changed.left = list
        default: return nil
        }
        found = true
        return changed
    }
}

extension ExpressionTree {
    /// The list with texts for its numbers; nil if it is not a list of constants, and for a list without numbers.
    fileprivate var texts: ExpressionTree? {
        switch self {
        case .constant(.array(let values)):
            return values.contains { $0.textOfNumber != nil } ? .constant(.array(values.map { $0.textOfNumber ?? $0 })) : nil
        case .constant(.set(let values)):
            return values.contains { $0.textOfNumber != nil } ? .constant(.set(Set(values.map { $0.textOfNumber ?? $0 }))) : nil
        case .aggregate(let parts):
            let texts = parts.map { part -> ExpressionTree? in
                guard case .constant(let value) = part, let text = value.textOfNumber else { return nil }
                return .constant(text)
            }
            return texts.contains { $0 != nil } ? .aggregate(zip(parts, texts).map { $1 ?? $0 }) : nil
        default: return nil
        }
    }

    /// Whether the expression is the path of an attribute that holds text.
    fileprivate func isText(of entity: NSEntityDescription) -> Bool {
        guard case .keyPath(let keys) = self, let last = keys.last else { return false }
        var owner = entity
        for key in keys.dropLast() {
            guard let next = owner.relationshipsByName[key]?.destinationEntity else { return false }
            owner = next
        }
        return owner.attributesByName[last]?.attributeType == .stringAttributeType
    }
}

extension PropertyValue {
    /// A number as the text that SQLite makes of it; nil for another value.
    fileprivate var textOfNumber: PropertyValue? {
        switch self {
        case .bool(let value): .string(value ? "1" : "0")
        case .int64(let value): .string(value.description)
        case .double(let value): .string(value.description)
        case .decimal(let value): .string(value.description)
        default: nil
        }
    }
}
