internal import Predicates

extension PredicateTree {
    /// The attributes that it reads of an object; nil if it reads anything else, or may do so.
    var attributesItReads: Set<String>? {
        switch self {
        case .true, .false: return []
        case .block: return nil
        case .not(let part): return part.attributesItReads
        case .and(let parts), .or(let parts):
            var names: Set<String> = []
            for part in parts {
                guard let own = part.attributesItReads else { return nil }
                names.formUnion(own)
            }
            return names
        case .comparison(let comparison):
            guard comparison.modifier == .direct, case .keyPath(let keys) = comparison.left, keys.count == 1 else { return nil }
            switch comparison.right {
            case .constant, .numberedConstant: return [keys[0]]
            default: return nil
            }
        }
    }
}
