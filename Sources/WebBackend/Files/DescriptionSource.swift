internal import Foundation
internal import JSONReading

/// The text of a description: its values, and where they are.
struct DescriptionSource {
    /// The name of the file; nil for none.
    let name: String?
    /// What the text has.
    let value: JSONValue
    /// Returns the line and column of a value, or of the key before it.
    let locate: ([FileStep]) -> (line: Int, column: Int)?
    /// The keys that are no text, by the steps to their values: in YAML, keys may be numbers or truths.
    var plainKeys: [[FileStep]: JSONValue] = [:]

    /// Creates a source of values that were read.
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

    /// How many objects and lists may stand in one another.
    static let maximumDepth = 100

    /// Returns the error of a text that is not what its format says.
    static func syntaxError(_ name: String?, _ place: (line: Int, column: Int)?, _ reason: String) -> NSError {
        let place = place.map { "line \($0.line), column \($0.column)" }
        let text = [name, place].compactMap { $0 }.joined(separator: ", ")
        return WebBackendError.description(
            text.isEmpty ? "its beginning" : text, reason.hasSuffix(".") ? reason : reason + ".", next: "Correct the text there.")
    }

    /// Reads what the description says.
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

    /// Looks for a value in JSON, which was read before.
    private static func place(of path: [FileStep], in bytes: [UInt8]) -> (line: Int, column: Int)? {
        bytes.withUnsafeBytes { bytes in
            guard var scanner = try? JSONScanner(bytes) else { return nil }
            _ = scanner.token()
            var offset = scanner.position
            // What the path does not have is named by what should have it.
            for step in path {
                guard (try? enter(step, &scanner, &offset)) == true else { break }
            }
            let error = scanner.error("", at: scanner.start + offset)
            return (error.line, error.column)
        }
    }

    /// Goes to a value within the one that is next; returns whether there is such a value.
    private static func enter(_ step: FileStep, _ scanner: inout JSONScanner, _ offset: inout Int) throws -> Bool {
        switch (step, try scanner.peek()) {
        case (.key(let key), .object):
            var found: (offset: Int, place: JSONScanner.Place)?
            try scanner.beginObject()
            while let next = try scanner.nextKey() {
                // The last one of those with the same key counts.
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
