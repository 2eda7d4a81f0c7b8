internal import Foundation

extension NSPredicate {
    /// Returns the predicate object for a tree: a comparison, a compound predicate, or another kind.
    static func made(from result: Result<PredicateTree, InvalidPredicateError>) -> NSPredicate {
        switch result {
        case .success(.comparison): return NSComparisonPredicate(PredicateEvaluator(result))
        case .success(.true): return TruePredicate(PredicateEvaluator(result))
        case .success(.false): return FalsePredicate(PredicateEvaluator(result))
        case .success(let tree):
            switch tree {
            case .and, .or, .not: return FormatCompoundPredicate(predicateTree: tree)
            // A block becomes its original predicate.
            case .block(let block): return block.predicate
            default: return FormatPredicate(PredicateEvaluator(result))
            }
        case .failure: return FormatPredicate(PredicateEvaluator(result))
        }
    }
}
