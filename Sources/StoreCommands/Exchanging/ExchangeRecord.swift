internal import Foundation
internal import JSONReading

/// A record of a file that is imported.
struct ExchangeRecord {
    /// Where a record stands.
    struct Place: Sendable, CustomStringConvertible {
        let file: String
        let line: Int
        /// The column in characters, counted from 1, of a record that shares its line with the one before it; nil for any other.
        var column: Int?

        var description: String { "\(file), line \(line)" + (column.map { ", column \($0)" } ?? "") }
    }

    /// A value as the file has it.
    enum Value {
        case json(JSONReading.JSONValue)
        /// A field of CSV; nil for an empty one without quotes.
        case text(String?)
    }

    let place: Place
    /// The name of the entity.
    let entity: String
    /// The identity in the file; nil where it has none.
    let id: String?
    let values: [(name: String, value: Value)]
}

/// What is wrong with files that are imported.
struct ExchangeMistake: Error, CustomStringConvertible {
    let place: ExchangeRecord.Place
    /// The entity and the property; nil where the file itself is wrong.
    var property: String?
    let message: String

    var description: String { "\(place)\(property.map { ", \($0)" } ?? ""): \(message)" }
}
