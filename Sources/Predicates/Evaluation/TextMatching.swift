import Foundation

/// The comparison rules of string operators: canonically equivalent strings are equal, and `[c]` and `[d]` fold like Foundation.
enum TextMatching {
    /// Folds case and diacritics according to the options.
    static func folded(_ text: String, _ options: PredicateComparison.Options) -> String {
        let folds = options.intersection([.caseInsensitive, .diacriticInsensitive])
        if folds.isEmpty { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return folds.contains(.caseInsensitive) ? text.lowercased() : text
        }
        var comparing: String.CompareOptions = []
        if folds.contains(.caseInsensitive) { comparing.insert(.caseInsensitive) }
        if folds.contains(.diacriticInsensitive) { comparing.insert(.diacriticInsensitive) }
        return text.folding(options: comparing, locale: options.contains(.localeSensitive) ? .current : nil)
    }

    /// Returns a string in composed form, in which the operators compare it byte by byte.
    static func composed(_ text: String) -> String {
        isComposed(text) ? text : text.precomposedStringWithCanonicalMapping
    }

    /// Returns whether a string is certainly in composed form: every character belongs to a block that composition does not change.
    static func isComposed(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            // Below 0xC0: ASCII and continuation bytes. Then by first byte: Latin, Cyrillic, ideographs, Korean syllables.
            byte < 0xCC || byte == 0xD0 || byte == 0xD1 || (byte >= 0xE4 && byte <= 0xE9) || byte == 0xEB || byte == 0xEC
        }
    }

    /// Returns the order of two strings by the code points of their composed form.
    ///
    /// Swift's `<` is not used if composition matters: it finds a decomposed "e" with an accent neither less than, nor greater than, nor equal to a
    /// composed one followed by a letter.
    static func order(_ left: String, _ right: String) -> ComparisonResult {
        let left = composed(left)
        let right = composed(right)
        return left == right ? .orderedSame : left.utf8.lexicographicallyPrecedes(right.utf8) ? .orderedAscending : .orderedDescending
    }

    /// Returns whether a match that ends here ends with a complete character: the next one is not a combining mark.
    static func isBoundary(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first >= 0xCC else { return true }
        guard let scalar = String(decoding: bytes.prefix(4), as: UTF8.self).unicodeScalars.first else { return true }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return false
        default: return true
        }
    }

    // No text begins or ends with an empty text, or contains it, not even an empty text: Foundation and Core Data agree on this.

    static func hasPrefix(_ text: [UInt8], _ prefix: [UInt8]) -> Bool {
        !prefix.isEmpty && text.starts(with: prefix) && isBoundary(text[prefix.count...])
    }

    static func hasSuffix(_ text: [UInt8], _ suffix: [UInt8]) -> Bool {
        guard !suffix.isEmpty, text.count >= suffix.count else { return false }
        let start = text.count - suffix.count
        return text[start...].elementsEqual(suffix) && isBoundary(suffix[...])
    }

    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return false }
        guard text.count >= part.count else { return false }
        for start in 0...(text.count - part.count)
        where text[start] == first && text[start..<start + part.count].elementsEqual(part) && isBoundary(text[(start + part.count)...]) {
            return true
        }
        return false
    }
}

extension TextMatching {
    /// Returns whether an ASCII string contains ASCII bytes, which are in lower case if case is folded; without allocation. Returns nil
    /// for a string that is not ASCII.
    static func containsWithin(_ text: String, _ part: [UInt8], foldsCase: Bool) -> Bool? {
        let answer = text.utf8.withContiguousStorageIfAvailable { bytes -> Bool? in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            guard let first = part.first else { return false }
            guard bytes.count >= part.count else { return false }
            func folded(_ byte: UInt8) -> UInt8 { foldsCase && byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
            return (0...(bytes.count - part.count)).contains { start in
                guard folded(bytes[start]) == first else { return false }
                return part.indices.allSatisfy { folded(bytes[start + $0]) == part[$0] }
            }
        }
        return answer ?? nil
    }
}

/// One side of a string operator, prepared for comparison.
struct TextOperand {
    let bytes: [UInt8]

    init(_ text: String, _ options: PredicateComparison.Options) {
        bytes = Array(TextMatching.composed(TextMatching.folded(text, options)).utf8)
    }
}

/// A LIKE pattern. Matching backtracks to the last `*` only, so its cost is bounded.
package struct LikePattern {
    /// An element of a pattern.
    package enum Element: Hashable, Sendable {
        case character(Character)
        /// Any character: `?`.
        case any
        /// Any number of characters: `*`.
        case anyNumber
    }

    package let elements: [Element]
    private let options: PredicateComparison.Options

    package init(_ pattern: String, _ options: PredicateComparison.Options = []) {
        self.options = options
        var elements: [Element] = []
        var isEscaped = false
        // No character folds together with the pattern's signs, so the pattern is folded as a whole.
        for character in TextMatching.folded(pattern, options) {
            switch character {
            case _ where isEscaped:
                elements.append(.character(character))
                isEscaped = false
            case "\\": isEscaped = true
            case "?": elements.append(.any)
            case "*": if case .anyNumber = elements.last {} else { elements.append(.anyNumber) }
            default: elements.append(.character(character))
            }
        }
        if isEscaped { elements.append(.character("\\")) }
        self.elements = elements
    }

    func matches(_ text: String) -> Bool {
        let text = Array(TextMatching.folded(text, options))
        var position = 0
        var element = 0
        var retry: (element: Int, position: Int)?
        while position < text.count {
            if element < elements.count {
                switch elements[element] {
                case .anyNumber:
                    element += 1
                    retry = (element, position)
                    continue
                case .any:
                    element += 1
                    position += 1
                    continue
                case .character(let character) where character == text[position]:
                    element += 1
                    position += 1
                    continue
                case .character: break
                }
            }
            guard let last = retry else { return false }
            retry = (last.element, last.position + 1)
            element = last.element
            position = last.position + 1
        }
        return elements[element...].allSatisfy { if case .anyNumber = $0 { true } else { false } }
    }
}
