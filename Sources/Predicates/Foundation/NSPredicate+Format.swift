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

    /// Creates a predicate without a condition, as the abstract class of Apple's framework: it can be held and compared, but not evaluated.
    ///
    /// Functions that throw, such as a fetch with it, throw an ``InvalidPredicateError``; `evaluate(with:)` stops the program, where Apple's
    /// class raises an exception.
    public init() {
        let error = InvalidPredicateError(
            kind: .unsupported, message: "NSPredicate() has no condition; NSPredicate(value: true) matches everything")
        self = Self.made(from: .failure(error))
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
        // A subclass of another module has initializers of its own only.
        switch ObjectIdentifier(Self.self) {
        case ObjectIdentifier(FormatCompoundPredicate.self):
            if case .success(let tree) = result { return FormatCompoundPredicate(predicateTree: tree) as! Self }
        case ObjectIdentifier(NSComparisonPredicate.self):
            let error = InvalidPredicateError(kind: .unsupported, message: "\(predicate.formatString) is not a comparison")
            return NSComparisonPredicate(PredicateEvaluator(.failure((try? result.get()) == nil ? predicate.parseError ?? error : error)))
                as! Self
        case ObjectIdentifier(FormatPredicate.self): return FormatPredicate(PredicateEvaluator(result)) as! Self
        case ObjectIdentifier(NSCompoundPredicate.self): return NSCompoundPredicate(andPredicateWithSubpredicates: [predicate]) as! Self
        default: break
        }
        stopProgram("\(Self.self) cannot be made from a format: use NSPredicate(format:)")
    }
}
