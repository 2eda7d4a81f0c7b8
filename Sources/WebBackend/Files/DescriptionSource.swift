internal import Foundation
internal import JSONReading

/// The text of a description: its values, and their places.
struct DescriptionSource {
    /// The name of the file; nil for none.
    let name: String?
    /// The values of the text.
    let value: JSONValue
    /// Returns the line and column of a value, or of the key before it.
    let locate: ([FileStep]) -> (line: Int, column: Int)?
    /// The keys that are not strings, by the steps to their values: in YAML, keys may be numbers or Booleans.
    var plainKeys: [[FileStep]: JSONValue] = [:]

    /// Creates a source from values that were read.
    init(name: String?, value: JSONValue, locate: @escaping ([FileStep]) -> (line: Int, column: Int)?) {
        self.name = name
        self.value = value
        self.locate = locate
    }

    /// Reads JSON.
    ///
    /// - Throws: Code 134080 for text that is not JSON.
    init(json: Data, name: String?) throws {
        let bytes = Array(json)
        do {
            let value = try JSONValue(parsing: bytes, limits: JSONLimits(depth: Self.maximumDepth))
            self.init(name: name, value: value) { Self.place(of: $0, in: bytes) }
        } catch {
            throw Self.syntaxError(name, (error.line, error.column), error.reason)
        }
    }

    /// The maximum depth of nested objects and lists.
    static let maximumDepth = 100

    /// Returns the error for text that violates its format.
    static func syntaxError(_ name: String?, _ place: (line: Int, column: Int)?, _ reason: String) -> NSError {
        let place = place.map { "line \($0.line), column \($0.column)" }
        let text = [name, place].compactMap { $0 }.joined(separator: ", ")
        return WebBackendError.description(
            text.isEmpty ? "its beginning" : text, reason.hasSuffix(".") ? reason : reason + ".", next: "Correct the text there.")
    }

    /// Reads the description.
    ///
    /// - Throws: Code 134080, naming the place.
    func file() throws -> WebServiceFile {
        do {
            var file = try FileForms.file.read(value, FileContext(plainKeys: plainKeys), nil)
            file.clientKeys = FileForms.clientKeys.filter { value[$0] != nil }
            return file
        } catch let problem as FileProblem {
            let place = locate(problem.path).map { "line \($0.line), column \($0.column)" }
            let path = FileStep.text(problem.path)
            var text = [name, place].compactMap { $0 }.joined(separator: ", ")
            if !path.isEmpty { text += text.isEmpty ? path : " (\(path))" }
            throw WebBackendError.description(text.isEmpty ? "its beginning" : text, problem.reason, next: problem.next)
        }
    }

    /// Finds the place of a value in JSON that was read before.
    private static func place(of path: [FileStep], in bytes: [UInt8]) -> (line: Int, column: Int)? {
        bytes.withUnsafeBytes { bytes in
            guard var scanner = try? JSONScanner(bytes) else { return nil }
            _ = scanner.token()
            var offset = scanner.position
            // A step that the text lacks is reported at its parent's place.
            for step in path {
                guard (try? enter(step, &scanner, &offset)) == true else { break }
            }
            let error = scanner.error("", at: scanner.start + offset)
            return (error.line, error.column)
        }
    }

    /// Moves to a value within the next one. Returns whether there is such a value.
    private static func enter(_ step: FileStep, _ scanner: inout JSONScanner, _ offset: inout Int) throws -> Bool {
        switch (step, try scanner.peek()) {
        case (.key(let key), .object):
            var found: (offset: Int, place: JSONScanner.Place)?
            try scanner.beginObject()
            while let next = try scanner.nextKey() {
                // The last one of several members with the same key counts.
                if next.string == key { found = (scanner.keyStart - scanner.start, scanner.place) }
                _ = try scanner.skipValue()
            }
            guard let found else { return false }
            offset = found.offset
            scanner.seek(to: found.place)
            return true
        case (.element(let index), .array):
            try scanner.beginArray()
            for _ in 0..<index {
                guard try scanner.nextElement() else { return false }
                _ = try scanner.skipValue()
            }
            guard try scanner.nextElement() else { return false }
            _ = scanner.token()
            offset = scanner.position
            return true
        default: return false
        }
    }
}
