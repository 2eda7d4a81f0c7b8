internal import ExampleSupport
internal import Foundation

/// Palettes as JSON describes them.
// JSON that was read is text, numbers and arrays of them, and never changes: it may cross to another queue.
struct PaletteItems: @unchecked Sendable {
    var dictionaries: [[String: Any]] = []

    /// Makes no items.
    init() {}

    /// Reads an array of objects, each with an identifier.
    ///
    /// - Throws: an error of ``PaletteErrorDomain`` that names where the JSON comes from.
    init(json: Data, from url: URL?) throws {
        let result: Any
        do {
            result = try JSONSerialization.jsonObject(with: json)
        } catch {
            throw NSError.failure(PaletteErrorCode.malformedAnswer, asking: url, "The answer is no JSON.", cause: error)
        }
        guard let objects = result as? [[String: Any]] else {
            throw NSError.failure(PaletteErrorCode.malformedAnswer, asking: url, "The answer is no array of palettes.")
        }
        guard objects.allSatisfy({ Palette.identifier(in: $0) != nil }) else {
            throw NSError.failure(PaletteErrorCode.malformedAnswer, asking: url, "The answer has a palette without a number.")
        }
        dictionaries = objects
    }
}
