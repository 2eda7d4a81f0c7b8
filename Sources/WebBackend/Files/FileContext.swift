internal import JSONReading

/// A step to a value in a file.
enum FileStep: Hashable, Sendable {
    /// A key of an object.
    case key(String)
    /// An element of an array.
    case element(Int)

    /// Returns a path in the form that errors show: `resources[2].calls[0].paging.size`.
    static func text(_ path: [FileStep]) -> String {
        path.reduce("") { text, step in
            switch step {
            case .key(let key): text.isEmpty ? key : text + "." + key
            case .element(let index): text + "[\(index)]"
            }
        }
    }
}

/// The place of a value in a file, and the settings that apply there.
struct FileContext: Sendable {
    /// The steps to the value.
    var path: [FileStep] = []
    /// The style of the service, which resources and calls inherit from; nil outside of a service.
    var style: ServiceStyle?
    /// Whether the value may be a secret, which no error may print.
    var isConfidential = false
    /// The keys of the file that are not strings, by the steps to their values.
    var plainKeys: [[FileStep]: JSONValue] = [:]

    /// Returns the context of a key's value.
    func at(_ key: String) -> FileContext { at(.key(key)) }

    /// Returns the context of an element.
    func at(_ index: Int) -> FileContext { at(.element(index)) }

    /// Returns the context of an unknown key. A confidential key is not named.
    func atUnknown(_ key: String) -> FileContext { isConfidential ? self : at(key) }

    private func at(_ step: FileStep) -> FileContext {
        var context = self
        context.path.append(step)
        return context
    }

    /// Returns an error at this place.
    func problem(_ reason: String, next: String) -> FileProblem { FileProblem(path: path, reason: reason, next: next) }

    /// Returns the error for a value of an unexpected kind.
    func unexpected(_ value: JSONValue, _ expected: String) -> FileProblem {
        problem("Expected \(expected), found \(Self.kind(value)).", next: "Write \(expected).")
    }

    /// Returns the error for a word that is unknown here.
    func unknown(_ word: String, _ what: String, known: [String]) -> FileProblem {
        let list = known.map { "“\($0)”" }.joined(separator: ", ")
        let nearest = Suggestion.nearest(to: word, in: known).map { "Did you mean “\($0)”? " } ?? ""
        // A secret that was written in place of its location must not reach a log.
        let found = isConfidential ? "This is no \(what) that is known here." : "“\(word)” is no \(what) that is known here."
        return problem(found, next: (isConfidential ? "" : nearest) + "Known are \(list).")
    }

    /// Returns the name of a value's kind, without the value.
    private static func kind(_ value: JSONValue) -> String {
        switch value {
        case .object: "an object"
        case .array: "a list"
        case .string: "a string"
        case .integer, .number, .decimal: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}

/// A mistake at a place of a file.
struct FileProblem: Error {
    /// The steps to the place.
    var path: [FileStep]
    /// The mistake.
    var reason: String
    /// The advice on how to correct it.
    var next: String
}

/// Finds the word that was probably meant.
package enum Suggestion {
    /// Returns the known word with the smallest distance to another; nil if all differ too much.
    package static func nearest(to word: String, in known: [String]) -> String? {
        // No key is as long as this; the time for the distance grows with the product of the lengths.
        guard word.utf8.count <= 64 else { return nil }
        let plain = simplified(word)
        let candidates = known.map { (word: $0, distance: distance(plain, simplified($0))) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        if best.distance <= max(1, plain.count / 3) { return best.word }
        return plain.count < 3 ? nil : known.first { simplified($0).starts(with: plain) || plain.starts(with: simplified($0)) }
    }

    /// The letters and digits of a word, in lower case.
    private static func simplified(_ word: String) -> [Character] {
        word.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }.map { $0 }
    }

    /// The number of letters to insert, remove, replace or exchange with their neighbours.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var (before, previous) = ([Int](), Array(0...right.count))
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                var least = min(previous[column + 1], current[column]) + 1
                least = min(least, previous[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
