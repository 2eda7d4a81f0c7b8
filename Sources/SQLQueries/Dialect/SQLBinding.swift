package import Foundation
package import Predicates

/// The source of a statement's parameter.
///
/// A statement serves every request of its shape: a binding defines where the value is in the request, and in which form it is bound.
package enum SQLBinding: Sendable {
    /// A number of the statement, such as that of an entity.
    case integer(Int64)
    /// A string of the statement, such as the name of a function.
    case text(String)
    /// A constant of the request, by number.
    case constant(Int, SQLConstantForm)
    /// The time of execution.
    case now
    /// The maximum number of rows, or ``SQLValue/unlimited``.
    case limit
    /// The number of rows to skip.
    case offset
}

/// The forms in which a constant is bound.
package enum SQLConstantForm: Sendable {
    /// The form of columns.
    case stored
    /// The form of functions: a decimal number is not taken for another number.
    case number
    /// The key of an object of a table; for other values, a key that no row has.
    case key(root: ObjectIdentifier)
    /// The number of an entity; for other values, a number that no row has.
    case entityNumber
    /// The numbers of a list of entities, given by name or as descriptions.
    case entityNumbers
    /// The n-th spelling of a string, or the last one if there are fewer.
    case spelling(Int)
    /// The common prefix of all spellings of a string.
    case prefix
    /// The smallest string after all strings with ``prefix``.
    case afterPrefix
    /// The string followed by the smallest combining mark, which would belong to its last character.
    case withMark
    /// The common prefix of all strings that match a pattern.
    case patternPrefix
    /// The smallest string after all strings with ``patternPrefix``.
    case afterPatternPrefix
    /// A string as a pattern of SQL's LIKE in which the backslash escapes. The pattern matches texts that begin with the string, end with it, contain
    /// it, or match it as a pattern of the predicate language.
    case likePattern(TextOperator)
    /// A string with case and diacritics folded.
    case folded(PredicateComparison.Options)
    /// A regular expression, which must be valid.
    case regularExpression(PredicateComparison.Options)
    /// A list of nils with the size of a collection.
    case size
    /// A collection, limited to elements that can equal values of a kind.
    case list(SQLListForm)
}

/// The selection and form of a collection's elements.
package enum SQLListForm: Sendable {
    /// Numbers in the form of columns.
    case numbers
    /// Numbers in the form of the functions.
    case anyNumbers
    /// Strings in all their spellings.
    case texts
    /// Strings, unchanged.
    case plainTexts
    /// Strings with case and diacritics folded.
    case foldedTexts(PredicateComparison.Options)
    case dates, data, uuids, urls
    /// Keys of objects of one table.
    case keys(root: ObjectIdentifier)
}

/// A value that a statement is given. Each database has its own form of it.
package enum SQLValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    /// A decimal number in the form of columns.
    case decimal(Decimal)
    /// A decimal number in the form of functions, which is never taken for another number.
    case exactDecimal(Decimal)
    case text(String)
    case date(Date)
    case blob(Data)
    case uuid(UUID)
    case list([SQLValue])
    /// No limit on the number of rows.
    case unlimited
}
