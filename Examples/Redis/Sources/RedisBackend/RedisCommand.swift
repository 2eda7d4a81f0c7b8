internal import Foundation

/// A command with its arguments.
struct RedisCommand: Sendable {
    var words: [Data]

    init(_ words: String...) { self.words = words.map { Data($0.utf8) } }
    init(_ words: [String]) { self.words = words.map { Data($0.utf8) } }

    /// Appends fields with their values.
    func adding(_ fields: [(String, Data)]) -> RedisCommand {
        var command = self
        for (field, value) in fields { command.words += [Data(field.utf8), value] }
        return command
    }

    /// The name and the first argument, for errors.
    var title: String { words.prefix(2).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }
}
