internal import Foundation
internal import Predicates

/// What a parameter of a statement stands for.
///
/// A statement serves every request of its shape: a binding says where in the request the value is and in which form it is bound.
enum SQLBinding: Sendable {
    /// A number that belongs to the statement, such as that of an entity.
    case integer(Int64)
    /// Text that belongs to the statement, such as the name of a function.
    case text(String)
    /// A constant of the request, by its number.
    case constant(Int, SQLConstantForm)
    /// The moment at which the request is executed.
    case now
    /// The most rows to answer with; -1 for all.
    case limit
    /// How many rows to leave out.
    case offset
}

/// In which form a constant is bound.
enum SQLConstantForm: Sendable {
    /// As columns hold such values.
    case stored
    /// As the functions take numbers, where text is a decimal number.
    case number
    /// The key of an object of a table; a key that no row has for anything else.
    case key(root: ObjectIdentifier)
    /// The number of an entity; one that no row has for anything else.
    case entityNumber
    /// The numbers of entities by their names, or as descriptions, in a list.
    case entityNumbers
    /// The n-th spelling of a text; the last one again where there are fewer.
    case spelling(Int)
    /// The beginning that every spelling of the text shares.
    case prefix
    /// The least text after all that begin with ``prefix``.
    case afterPrefix
    /// The text with the least mark after it, which would belong to its last character.
    case withMark
    /// The beginning of every text that a pattern finds.
    case patternPrefix
    /// The least text after all that begin with ``patternPrefix``.
    case afterPatternPrefix
    /// Text with case and marks folded.
    case folded(PredicateComparison.Options)
    /// A regular expression, which must be valid.
    case regularExpression(PredicateComparison.Options)
    /// As many nils as a collection has elements.
    case size
    /// A collection: those of its elements that can equal values of a kind.
    case list(SQLListForm)
}

/// Which elements of a collection are bound, and how.
enum SQLListForm: Sendable {
    /// Numbers as columns hold them.
    case numbers
    /// Numbers as the functions take them.
    case anyNumbers
    /// Text in all its spellings.
    case texts
    /// Text as it is.
    case plainTexts
    /// Text with case and marks folded.
    case foldedTexts(PredicateComparison.Options)
    case dates, data, uuids, urls
    /// Keys of objects of one table.
    case keys(root: ObjectIdentifier)
}

/// A value in one of the forms that SQLite binds.
enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
    case list([SQLValue])
}
