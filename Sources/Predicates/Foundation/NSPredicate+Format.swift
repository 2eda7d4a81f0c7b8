public import Foundation

/// Lets initializers in an extension create an instance of a subclass. Every `NSPredicate` conforms; no other type should.
///
/// Foundation on Linux marks `NSPredicate(format:)` as unavailable. An initializer of a protocol extension may assign `self`, so a plain
/// `NSPredicate(format:)` can create a ``FormatPredicate``.
public protocol PredicateFactory {}

extension NSPredicate: PredicateFactory {}

extension PredicateFactory where Self: NSPredicate {
    /// Creates a predicate from a format string.
    ///
    /// A format that does not parse creates a predicate that holds the error: see ``FormatPredicate``. To catch the error at once, use
    /// ``init(parsing:_:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format, as documented in Apple's Predicate Programming Guide.
    ///   - arguments: The arguments of `%@`, `%K`, `%d` and other placeholders: numbers, strings, dates, collections, objects, nil.
    public init(format predicateFormat: String, _ arguments: Any?...) {
        self = Self.made(from: PredicateEvaluator(parsing: predicateFormat, arguments: arguments).result)
    }

    /// Creates a predicate from a format string with its arguments in an array.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format.
    ///   - arguments: The arguments of the placeholders, in order; `NSNull` stands for nil.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self = Self.made(from: PredicateEvaluator(parsing: predicateFormat, arguments: arguments ?? []).result)
    }

    /// Creates a predicate from a format string, or throws.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format.
    ///   - arguments: The arguments of the placeholders, in order.
    /// - Throws: ``InvalidPredicateError`` when the format is invalid, nests too deeply, or has too few or too many arguments.
    public init(parsing predicateFormat: String, _ arguments: Any?...) throws {
        self = Self.made(from: .success(try FormatParser.predicate(predicateFormat, arguments: arguments)))
    }

    /// Creates a predicate from a tree.
    ///
    /// - Parameter tree: The tree.
    public init(tree: PredicateTree) {
        self = Self.made(from: .success(tree))
    }

    /// Returns the predicate with its variables, `$name`, replaced by values.
    ///
    /// - Parameter variables: The values by variable name, without the dollar sign. Variables without a value are kept.
    /// - Returns: A new predicate. A predicate with an error, or a value without a counterpart in predicates, produces one that holds the
    ///   error.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        NSPredicate.made(
            from: InvalidPredicateError.catching { try tree().substituting(try NSPredicate.expressions(variables)) })
    }

    /// Returns a predicate of the requested class: a plain predicate is of the class that the tree requires, a compound predicate wraps
    /// other trees, and a comparison whose format is not one holds an error.
    private static func made(from result: Result<PredicateTree, InvalidPredicateError>) -> Self {
        let predicate = NSPredicate.made(from: result)
        if let predicate = predicate as? Self { return predicate }
        switch Self.self {
        case is FormatCompoundPredicate.Type:
            if case .success(let tree) = result { return FormatCompoundPredicate(predicateTree: tree) as! Self }
        case is NSComparisonPredicate.Type:
            let error = InvalidPredicateError(kind: .unsupported, message: "\(predicate.formatString) is no comparison")
            return NSComparisonPredicate(PredicateEvaluator(.failure((try? result.get()) == nil ? predicate.parseError ?? error : error)))
                as! Self
        case is FormatPredicate.Type: return FormatPredicate(PredicateEvaluator(result)) as! Self
        case is NSCompoundPredicate.Type: return NSCompoundPredicate(andPredicateWithSubpredicates: [predicate]) as! Self
        default: break
        }
        preconditionFailure("\(Self.self) cannot be made from a format: use NSPredicate(format:)")
    }
}

/// A custom kind of predicate that can be converted to a tree.
///
/// Conform a subclass of `NSPredicate` to it, and ``Foundation/NSPredicate/tree()`` converts it, alone or within a compound predicate.
public protocol PredicateConvertible {
    /// Returns the tree.
    ///
    /// - Throws: An error when there is none.
    func predicateTree() throws -> PredicateTree
}

extension NSPredicate {
    /// Converts a predicate of any kind to a tree.
    ///
    /// Compound predicates are converted part by part. A block, and a subclass that is not ``PredicateConvertible``, becomes an opaque
    /// ``PredicateTree/block(_:)``.
    ///
    /// - Returns: The tree.
    /// - Throws: The ``InvalidPredicateError`` of a format that could not be parsed, in this predicate or a part.
    public func tree() throws -> PredicateTree {
        try tree(depth: 0)
    }

    /// The format string of a predicate of any kind: `predicateFormat` of a compound predicate is wrong in Foundation on Linux.
    ///
    /// For a predicate whose format could not be parsed, the error's message.
    public var formatString: String {
        do {
            return try tree().description
        } catch {
            return "\(error)"
        }
    }

    /// The error of a predicate, or a part, that could not be parsed; or nil.
    public var parseError: InvalidPredicateError? {
        do {
            _ = try tree()
            return nil
        } catch {
            return error as? InvalidPredicateError
        }
    }

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

    private func tree(depth: Int) throws -> PredicateTree {
        guard depth <= PredicateLimits.nesting else {
            throw InvalidPredicateError(kind: .tooDeep, message: "The predicate nests deeper than \(PredicateLimits.nesting) levels")
        }
        switch self {
        case let predicate as any PredicateConvertible:
            return try predicate.predicateTree()
        case let compound as NSCompoundPredicate:
            let parts = try compound.subpredicates.map { try $0.tree(depth: depth + 1) }
            switch compound.compoundPredicateType {
            case .not:
                guard parts.count == 1 else {
                    throw InvalidPredicateError(kind: .unsupported, message: "A NOT predicate has \(parts.count) parts instead of one")
                }
                return .not(parts[0])
            case .and: return parts.count == 1 ? parts[0] : parts.isEmpty ? .true : .and(parts)
            case .or: return parts.count == 1 ? parts[0] : parts.isEmpty ? .false : .or(parts)
            @unknown default: throw InvalidPredicateError(kind: .unsupported, message: "A compound predicate is of an unknown type")
            }
        case _ where type(of: self) != NSPredicate.self: return .block(PredicateBlock(self))
        case _ where isEqual(NSPredicate(value: true)): return .true
        case _ where isEqual(NSPredicate(value: false)): return .false
        default: return .block(PredicateBlock(self))
        }
    }

    /// Converts variables to expressions.
    static func expressions(_ variables: [String: Any]) throws -> [String: ExpressionTree] {
        try variables.mapValues { value in
            if let expression = value as? ExpressionTree { return expression }
            if let convertible = value as? any ExpressionConvertible { return convertible.expressionTree }
            return .constant(try PropertyValue(plain: value))
        }
    }
}
