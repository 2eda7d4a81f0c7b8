internal import Foundation
@_spi(Stores) package import ObjectGraph

/// The values of columns that are read and written as JSON.
package enum JSONColumn {
    /// Returns the value of a JSON text: a dictionary, an array, a string, a number, or `NSNull`.
    ///
    /// - Throws: Code 134060 for a text that is not JSON.
    package static func value(_ bytes: UnsafeRawBufferPointer, _ attribute: NSAttributeDescription) throws -> Any {
        do { return try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) } catch {
            throw CoreDataError.make(
                NSCoreDataError, "A value of “\(attribute)” cannot be read from the database.",
                reason: "Its row is damaged: its column holds JSON that cannot be read: \(error).",
                next: "Fix the row, or give the attribute another type.")
        }
    }

    /// Whether a string in a JSON text contains U+0000, whose escape sequence follows an even number of backslashes.
    package static func hasZeroCharacter(_ json: String) -> Bool {
        var isEscaped = false
        var rest = json.utf8[...]
        while let byte = rest.popFirst() {
            if isEscaped, byte == UInt8(ascii: "u"), rest.starts(with: "0000".utf8) { return true }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return false
    }

    /// Returns a value as a JSON text.
    ///
    /// - Throws: Code 134030 for a value that JSON does not have.
    package static func text(_ value: Any, _ attribute: NSAttributeDescription) throws -> String {
        // The serialization stops the program if it gets an object that it does not support.
        guard JSONSerialization.isValidJSONObject([value]) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A value of “\(attribute)” cannot be saved.",
                reason: "Its column holds JSON, which has no \(type(of: value)), and no number that is not finite.",
                next: "Set dictionaries with strings as keys, arrays, strings, finite numbers, Booleans and NSNull only.")
        }
        return String(
            decoding: try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys]), as: UTF8.self)
    }
}
