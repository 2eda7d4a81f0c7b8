internal import Foundation
internal import Predicates
internal import RemoteStore

/// A comparison whose result follows from a sample.
struct FilterTrial {
    let parameter: Parameter
    let comparison: Parameter.Operator
    let values: [PropertyValue]
    let ids: [ResourceID]
    let tree: PredicateTree
    let text: String
    private let keyPath: String
    private let predicate: NSPredicate?

    /// Returns the most informative comparison: one with a value of the sample that some resources match and others do not.
    ///
    /// - Returns: Nil if the sample has no value for one.
    static func best(_ parameter: Parameter, _ comparison: Parameter.Operator, _ sample: [TrialResource]) -> FilterTrial? {
        guard let keyPath = parameter.keyPaths.first, !keyPath.contains("."), !keyPath.hasPrefix("ANY ") else { return nil }
        if keyPath == "SELF" { return identifiers(sample.map(\.id), parameter, comparison) }
        let known = sample.compactMap { $0.values[keyPath] }
        let present = known.filter { !$0.isNull }
        guard !known.isEmpty else { return nil }
        if present.contains(where: { $0.id != nil }) {
            var seen: Set<ResourceID> = []
            return identifiers(present.compactMap(\.id).filter { seen.insert($0).inserted }, parameter, comparison)
        }
        if comparison == .isNil || comparison == .isNotNil { return FilterTrial(keyPath, parameter, comparison, []) }
        let sorted = Set(present.map(\.value)).sorted { (TrialOrder.compare($0, $1) ?? 0) < 0 }
        let candidates = constants(comparison, sorted).map { FilterTrial(keyPath, parameter, comparison, $0) }
        return candidates.max { $0.weight(in: sample, keyPath) < $1.weight(in: sample, keyPath) }
    }

    /// Returns the comparison of text with a value that differs from one of the sample in case only.
    static func otherCase(_ parameter: Parameter, _ sample: [TrialResource]) -> FilterTrial? {
        guard let keyPath = parameter.keyPaths.first, parameter.isExact, parameter.text.isEmpty, parameter.operators.contains(.equal) else {
            return nil
        }
        let texts = Set(sample.compactMap { $0.values[keyPath]?.string })
        let flipped = texts.sorted().map { text in
            String(text.map { $0.isUppercase ? Character($0.lowercased().first.map(String.init) ?? "") : $0.uppercased().first ?? $0 })
        }
        return flipped.first { !texts.contains($0) }.map { FilterTrial(keyPath, parameter, .equal, [.string($0)]) }
    }

    private static func identifiers(
        _ all: [ResourceID], _ parameter: Parameter, _ comparison: Parameter.Operator
    ) -> FilterTrial? {
        guard [.equal, .notEqual, .isIn].contains(comparison), let keyPath = parameter.keyPaths.first, !all.isEmpty else { return nil }
        // Every second one, so that the result differs from all and from none.
        let several = all.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element).prefix(
            min(max(1, parameter.maximumValues), 20))
        return FilterTrial(keyPath, parameter, comparison, ids: comparison == .isIn ? Array(several) : [all[all.count / 2]])
    }

    /// Returns the candidate constants of a comparison; of many, the middle ones come first.
    private static func constants(_ comparison: Parameter.Operator, _ sorted: [PropertyValue]) -> [[PropertyValue]] {
        let middle = sorted.count / 2
        // Bounded: places in a list.
        let nearest = sorted.indices.sorted { (abs($0 - middle), $0) < (abs($1 - middle), $1) }.prefix(24).map { sorted[$0] }
        switch comparison {
        case .isIn: return zip(nearest, nearest.dropFirst()).map { [$0, $1] } + (nearest.count == 1 ? [nearest] : [])
        case .beginsWith, .endsWith, .contains, .like:
            return nearest.compactMap { value -> [PropertyValue]? in
                guard case .string(let text) = value, text.count >= 2 else { return nil }
                let part =
                    switch comparison {
                    case .beginsWith: String(text.prefix(2))
                    case .endsWith: String(text.suffix(2))
                    case .contains: String(text.dropFirst().prefix(2))
                    default: "\(text.prefix(1))*"
                    }
                let isPlain = !part.contains { "?*\\".contains($0) } || comparison == .like
                return isPlain ? [.string(part)] : nil
            }
        default: return nearest.map { [$0] }
        }
    }

    /// Returns how informative the result is: it should be neither everything nor nothing, and, for a comparison of a part of text, others should have
    /// that part elsewhere.
    private func weight(in sample: [TrialResource], _ keyPath: String) -> Int {
        let count = sample.count(where: matches)
        var weight = count > 0 && count < sample.count ? 2 : 0
        if case .string(let part)? = values.first, [.beginsWith, .endsWith].contains(comparison) {
            let hasOthers = sample.contains { !matches($0) && $0.values[keyPath]?.string?.contains(part) ?? false }
            if hasOthers { weight += 1 }
        }
        return weight
    }

    private init(_ keyPath: String, _ parameter: Parameter, _ comparison: Parameter.Operator, ids: [ResourceID]) {
        (self.keyPath, self.parameter, self.comparison, self.ids) = (keyPath, parameter, comparison, ids)
        values = []
        predicate = nil
        text = "\(keyPath) \(comparison.rawValue) \(ids.prefix(4).map(\.description).joined(separator: ", "))\(ids.count > 4 ? ", …" : "")"
        let constants = ids.map { id -> PropertyValue in
            switch id {
            case .integer(let number): .int64(number)
            case .uuid(let uuid): .uuid(uuid)
            default: .string(id.description)
            }
        }
        tree = .compare(
            keyPath == "SELF" ? .evaluatedObject : .keyPath([keyPath]),
            comparison == .isIn ? .isIn : comparison == .equal ? .equal : .notEqual,
            .constant(comparison == .isIn ? .array(constants) : constants.first ?? .null))
    }

    private init(_ keyPath: String, _ parameter: Parameter, _ comparison: Parameter.Operator, _ values: [PropertyValue]) {
        (self.keyPath, self.parameter, self.comparison, self.values) = (keyPath, parameter, comparison, values)
        ids = []
        let kind: PredicateComparison.Operator =
            switch comparison {
            case .equal, .isNil: .equal
            case .notEqual, .isNotNil: .notEqual
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqual
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqual
            case .isIn: .isIn
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .contains: .contains
            case .like: .like
            }
        let tree = PredicateTree.compare(
            .keyPath([keyPath]), kind, .constant(comparison == .isIn ? .array(values) : values.first ?? .null), options: parameter.text)
        self.tree = tree
        text = "\(tree)"
        predicate = NSPredicate(tree: tree)
    }

    /// Returns whether a resource should be found.
    func matches(_ resource: TrialResource) -> Bool {
        guard let predicate else {
            let id = keyPath == "SELF" ? resource.id : resource.values[keyPath]?.id
            guard let id else { return false }
            return ids.contains(id) != (comparison == .notEqual)
        }
        guard let value = resource.values[keyPath]?.value else { return false }
        // Neither services nor stores find nil by a comparison with a value. In memory, nil differs from each value.
        if value.isNull, comparison != .isNil, comparison != .isNotNil { return false }
        return predicate.evaluate(with: [keyPath: value.any ?? NSNull()])
    }

    /// Returns whether a resource has the compared value.
    func knows(_ resource: TrialResource) -> Bool { keyPath == "SELF" || resource.values[keyPath] != nil }
}
