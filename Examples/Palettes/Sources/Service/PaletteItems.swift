internal import ExampleSupport
internal import Foundation

/// Palettes as JSON objects.
// JSON values are immutable strings, numbers and arrays: they may cross to another queue.
struct PaletteItems: @unchecked Sendable {
    var dictionaries: [[String: Any]] = []

    /// Creates an empty list.
    init() {}

    /// Parses an array of objects, each with an identifier.
    ///
    /// - Throws: An error of ``PaletteErrorDomain`` that names the source of the JSON.
    init(json: Data, from url: URL?) throws {
        let result: Any
        do {
            result = try JSONSerialization.jsonObject(with: json)
        } catch {
            throw NSError.failure(PaletteErrorCode.malformedAnswer, asking: url, "The answer is not JSON.", cause: error)
        }
        guard let objects = result as? [[String: Any]] else {
            throw NSError.failure(PaletteErrorCode.malformedAnswer, asking: url, "The answer is not an array of palettes.")
        }
        guard objects.allSatisfy({ Palette.identifier(in: $0) != nil }) else {
            throw NSError.failure(PaletteErrorCode.malformedAnswer, asking: url, "The answer has a palette without a number.")
        }
        dictionaries = objects
    }
}
