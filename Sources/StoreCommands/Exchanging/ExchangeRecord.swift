internal import Foundation
internal import JSONReading

/// A record of an imported file.
struct ExchangeRecord {
    /// The place of a record.
    struct Place: Sendable, CustomStringConvertible {
        let file: String
        let line: Int
        /// The column in characters, counted from 1, of a record that begins on the line of the previous one; nil for any other.
        var column: Int?

        var description: String { "\(file), line \(line)" + (column.map { ", column \($0)" } ?? "") }
    }

    /// A value in a file.
    enum Value {
        case json(JSONReading.JSONValue)
        /// A field of CSV; nil for an empty one without quotes.
        case text(String?)
    }

    let place: Place
    /// The name of the entity.
    let entity: String
    /// The identity in the file; nil if there is none.
    let id: String?
    let values: [(name: String, value: Value)]
}

/// A mistake in an imported file.
struct ExchangeMistake: Error, CustomStringConvertible {
    let place: ExchangeRecord.Place
    /// The entity and the property; nil if the mistake is in the file itself.
    var property: String?
    let message: String

    var description: String { "\(place)\(property.map { ", \($0)" } ?? ""): \(message)" }
}
