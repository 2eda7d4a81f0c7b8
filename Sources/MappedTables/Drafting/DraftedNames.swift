internal import TakenNames

/// The names of a drafted model, made of those of tables and columns.
struct DraftedNames {
    private var taken: Set<String> = []

    /// Claims the name of an entity: `line_items` becomes `LineItems`.
    mutating func entity(_ table: String) -> String { claim(Self.joined(Self.words(table), isUpper: true, instead: "Table")) }

    /// Claims the name of a property: `first_name` becomes `firstName`.
    mutating func property(_ words: [String]) -> String {
        let name = Self.joined(words, isUpper: false, instead: "column")
        return claim(TakenNames.impossible.contains(name) ? name + "Value" : name)
    }

    private mutating func claim(_ name: String) -> String {
        var numbered = name
        var number = 2
        while !taken.insert(numbered).inserted {
            numbered = "\(name)\(number)"
            number += 1
        }
        return numbered
    }

    private static func joined(_ words: [String], isUpper: Bool, instead: String) -> String {
        let name = words.enumerated().map { index, word in
            let isSmall = index == 0 && !isUpper
            // A word in capitals keeps them, unless it is the first one.
            return (isSmall ? word.prefix(1).lowercased() : word.prefix(1).uppercased()) + word.dropFirst()
        }.joined()
        guard let first = name.first, first.isLetter || first == "_" else { return instead + name }
        return name
    }

    /// Returns the words of a name in the database.
    static func words(_ name: String) -> [String] {
        name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map { word in
            word.allSatisfy { $0.isUppercase || $0.isNumber } ? word.lowercased() : String(word)
        }
    }

    /// Returns the words of a column that refers to a row, without a last word that says only that.
    static func reference(_ column: String) -> [String] {
        var words = words(column)
        if words.count > 1, let last = words.last?.lowercased(), ["id", "uuid", "key", "code", "fk"].contains(last) { words.removeLast() }
        if words.count == 1, words[0].count > 2, words[0].hasSuffix("Id") { words[0].removeLast(2) }
        return words
    }

    /// Returns the plural of words.
    static func plural(_ words: [String]) -> [String] {
        guard let last = words.last else { return words }
        let plural: String =
            if last.hasSuffix("ss") || last.hasSuffix("x") || last.hasSuffix("ch") || last.hasSuffix("sh") {
                last + "es"
            } else if last.hasSuffix("s") {
                last
            } else if last.hasSuffix("y"), let before = last.dropLast().last, !"aeiou".contains(before) {
                last.dropLast() + "ies"
            } else { last + "s" }
        return words.dropLast() + [plural]
    }

    /// Returns the singular of words.
    static func singular(_ words: [String]) -> [String] {
        guard let last = words.last else { return words }
        let singular: String =
            if last.hasSuffix("ies"), last.count > 4 {
                last.dropLast(3) + "y"
            } else if last.hasSuffix("xes") || last.hasSuffix("ches") || last.hasSuffix("shes") || last.hasSuffix("sses") {
                String(last.dropLast(2))
            } else if last.hasSuffix("s"), !last.hasSuffix("ss"), !last.hasSuffix("us"), !last.hasSuffix("is") {
                String(last.dropLast())
            } else { last }
        return words.dropLast() + [singular]
    }
}
