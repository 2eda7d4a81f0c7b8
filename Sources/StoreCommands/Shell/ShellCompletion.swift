package import ObjectGraph

/// Completes the last word of a line of the shell.
package struct ShellCompletion {
    /// The commands with their options.
    package static let options: [String: [String]] = {
        let report = ["--format"]
        let query = ["--where", "--sort", "--columns", "--limit", "--offset", "--exclude-subentities"]
        return [
            "inspect": report, "query": query + ["--count"] + report, "explain": query + report, "get": report,
            "history": ["--since", "--entity", "--limit"] + report, "check": report, "diff": ["--key", "--entity"] + report,
            "export": ["--entity"] + report, "model": ["show", "lint", "draw", "convert"], "help": [], "exit": [],
        ]
    }()
    private static let operators = [
        "==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "BEGINSWITH[c]",
        "CONTAINS[c]", "ENDSWITH[c]", "LIKE[c]",
    ]
    private static let words = ["AND", "OR", "NOT", "ANY", "ALL", "NONE", "nil", "TRUE", "FALSE", "SUBQUERY("]
    /// The maximum number of relationships in a path.
    private static let longestPath = 8

    private let model: NSManagedObjectModel

    package init(_ model: NSManagedObjectModel) { self.model = model }

    private var entities: [String] { model.entities.compactMap(\.name).sorted() }

    /// Returns the possible complete words; empty if a file is expected, or nothing is known.
    ///
    /// - Parameters:
    ///   - line: The text before the word.
    ///   - word: The beginning of the word.
    package func candidates(after line: String, _ word: String) -> [String] {
        all(after: line, word).filter { $0.lowercased().hasPrefix(word.lowercased()) && $0 != word }.sorted()
    }

    private func all(after line: String, _ word: String) -> [String] {
        // Words within an open quote belong to a predicate.
        let (outside, inside) = Self.parts(of: line)
        guard let command = outside.first else { return Self.options.keys.sorted() }
        let takesEntity = command == "query" || command == "explain"
        let entity = takesEntity ? outside.dropFirst().first.flatMap { model.entitiesByName[$0] } : nil
        switch outside.last {
        case "--where": return entity.map { predicate($0, after: inside, word) } ?? []
        case "--sort", "--columns": return entity.map { paths($0, word) } ?? []
        case "--format":
            return command == "export" ? ["csv", "json"] : command == "query" ? ["table", "json", "csv"] : ["table", "json"]
        case "--entity": return entities
        case "--limit", "--offset", "--since", "--key": return []
        default: break
        }
        if word.hasPrefix("-") { return (Self.options[command] ?? []).filter { $0.hasPrefix("-") } }
        if takesEntity, outside.count == 1 { return entities }
        if command == "get", outside.count == 1 { return entities.map { "\($0)/p" } }
        if command == "model", outside.count == 1 { return Self.options["model"] ?? [] }
        if command == "help", outside.count == 1 { return Self.options.keys.sorted() }
        return takesEntity || word.isEmpty ? Self.options[command] ?? [] : []
    }

    /// Returns the words before an open quote, and the text within it.
    private static func parts(of line: String) -> (outside: [String], inside: String) {
        var quote: Character?
        var inside = ""
        var outside = ""
        for character in line {
            if let open = quote {
                if character == open {
                    outside += "\(open)\(inside)\(open)"
                    (quote, inside) = (nil, "")
                } else {
                    inside.append(character)
                }
            } else if character == "\"" || character == "'" {
                quote = character
            } else {
                outside.append(character)
            }
        }
        if case .words(let words) = ShellWords.split(outside) { return (words, inside) }
        return ([], inside)
    }

    private func predicate(_ entity: NSEntityDescription, after text: String, _ word: String) -> [String] {
        let last = text.split(whereSeparator: { $0.isWhitespace || $0 == "(" }).last.map(String.init) ?? ""
        // An operator follows a key path.
        if text.last?.isWhitespace == true, ends(in: last, entity) { return Self.operators }
        return paths(entity, word) + (word.isEmpty ? [] : Self.words)
    }

    private func ends(in path: String, _ entity: NSEntityDescription) -> Bool {
        var current: NSEntityDescription? = entity
        for key in path.split(separator: ".") {
            if key == "@count" { return true }
            guard let property = current?.propertiesByName[String(key)] else { return false }
            current = (property as? NSRelationshipDescription)?.destinationEntity
        }
        return !path.isEmpty
    }

    /// Returns the key paths that begin with the relationships of a word.
    private func paths(_ entity: NSEntityDescription, _ word: String) -> [String] {
        // In a list, the last key is completed; a minus sign reverses a key.
        let start = word.lastIndex { $0 == "," || $0 == "-" }.map { word.index(after: $0) } ?? word.startIndex
        let before = String(word[..<start])
        let keys = word[start...].split(separator: ".", omittingEmptySubsequences: false).dropLast()
        var current = entity
        if keys.count > Self.longestPath { return [] }
        var isMany = false
        for key in keys {
            guard let relationship = current.relationshipsByName[String(key)], let next = relationship.destinationEntity else { return [] }
            (current, isMany) = (next, relationship.isToMany)
        }
        let prefix = before + keys.map { "\($0)." }.joined()
        return current.properties.filter { !$0.isTransient }.map { prefix + $0.name } + (isMany ? [prefix + "@count"] : [])
    }
}
