public import Foundation

/// Lets initializers in an extension make an instance of a subclass. Every `NSPredicate` conforms; nothing else should.
///
/// Foundation on Linux marks `NSPredicate(format:)` unavailable. An initializer of a protocol extension may assign `self`, so with this a
/// plain `NSPredicate(format:)` makes a ``FormatPredicate``.
public protocol PredicateFactory {}

extension NSPredicate: PredicateFactory {}

extension PredicateFactory where Self: NSPredicate {
    /// Makes a predicate from a format string.
    ///
    /// A format that does not parse makes a predicate that holds the error: see ``FormatPredicate``. Where an error should be caught at
    /// once, use ``init(parsing:_:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format, as documented in Apple's Predicate Programming Guide.
    ///   - arguments: What `%@`, `%K`, `%d` and the other placeholders stand for: numbers, strings, dates, collections, objects, nil.
    public init(format predicateFormat: String, _ arguments: Any?...) {
        self = Self.made(from: PredicateEvaluator(parsing: predicateFormat, arguments: arguments).result)
    }

    /// Makes a predicate from a format string with its arguments in an array.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format.
    ///   - arguments: What the placeholders stand for, in order; `NSNull` stands for nil.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self = Self.made(from: PredicateEvaluator(parsing: predicateFormat, arguments: arguments ?? []).result)
    }

    /// Makes a predicate from a format string, or throws.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format.
    ///   - arguments: What the placeholders stand for, in order.
    /// - Throws: ``InvalidPredicateError`` when the format is not in the language, nests too deeply, or uses more or fewer arguments than there are.
    public init(parsing predicateFormat: String, _ arguments: Any?...) throws {
        self = Self.made(from: .success(try FormatParser.predicate(predicateFormat, arguments: arguments)))
    }

    /// Makes a predicate from a tree.
    ///
    /// - Parameter tree: The tree.
    public init(tree: PredicateTree) {
        self = Self.made(from: .success(tree))
    }

    /// Replaces variables, `$name`, by values.
    ///
    /// - Parameter variables: The values, by the names of the variables without their dollar signs. Variables without a value stay.
    /// - Returns: A new predicate. A predicate with an error, or a value that has no counterpart in predicates, gives one that holds the error.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> NSPredicate {
        NSPredicate.made(
            from: InvalidPredicateError.catching { try tree().substituting(try NSPredicate.expressions(variables)) })
    }

    /// The predicate as the class that was asked for: a plain predicate is whatever the tree makes it, a compound predicate wraps what it is
    /// not, and a comparison that was read as something else holds an error.
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

/// A kind of predicate of the host's own that can say what tree it stands for.
///
/// Conform a subclass of `NSPredicate` to it and ``Foundation/NSPredicate/tree()`` reads it, alone or within a compound predicate.
public protocol PredicateConvertible {
    /// The tree.
    ///
    /// - Throws: An error when there is none.
    func predicateTree() throws -> PredicateTree
}

extension NSPredicate {
    /// Reads a predicate of any kind as a tree.
    ///
    /// Compound predicates are read through their parts. A block, and a subclass that is no ``PredicateConvertible``, becomes an opaque
    /// ``PredicateTree/block(_:)``.
    ///
    /// - Returns: The tree.
    /// - Throws: The ``InvalidPredicateError`` of a format that could not be read, in this predicate or any of its parts.
    public func tree() throws -> PredicateTree {
        try tree(depth: 0)
    }

    /// The predicate as a format string, whatever its kind: `predicateFormat` of a compound predicate is wrong in Foundation on Linux.
    ///
    /// For a predicate whose format could not be read, the error's message.
    public var formatString: String {
        do {
            return try tree().description
        } catch {
            return "\(error)"
        }
    }

    /// Why the predicate, or a part of it, could not be read, or nil.
    public var parseError: InvalidPredicateError? {
        do {
            _ = try tree()
            return nil
        } catch {
            return error as? InvalidPredicateError
        }
    }

    /// The predicate object of a tree: a comparison, a compound predicate, or what remains.
    static func made(from result: Result<PredicateTree, InvalidPredicateError>) -> NSPredicate {
        switch result {
        case .success(.comparison): return NSComparisonPredicate(PredicateEvaluator(result))
        case .success(.true): return TruePredicate(PredicateEvaluator(result))
        case .success(.false): return FalsePredicate(PredicateEvaluator(result))
        case .success(let tree):
            switch tree {
            case .and, .or, .not: return FormatCompoundPredicate(predicateTree: tree)
            // A block is the predicate it was.
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

    /// Variables as expressions.
    static func expressions(_ variables: [String: Any]) throws -> [String: ExpressionTree] {
        try variables.mapValues { value in
            if let expression = value as? ExpressionTree { return expression }
            if let convertible = value as? any ExpressionConvertible { return convertible.expressionTree }
            return .constant(try PropertyValue(plain: value))
        }
    }
}
