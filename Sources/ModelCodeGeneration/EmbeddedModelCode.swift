internal import ObjectGraph
internal import Predicates

/// Writes the class by which the program finds the model by name, with the text of the model.
struct EmbeddedModelCode {
    let name: String
    let modelFile: String
    /// The name and the XML of each version.
    let versions: [(name: String, contents: String)]
    let currentVersion: String

    /// The name of the class, with the prefix that CoreData looks for.
    private var className: String {
        "EmbeddedModel_"
            + name.unicodeScalars.map { $0.properties.isAlphabetic || ("0"..."9").contains($0) ? String($0) : "_\($0.value)_" }.joined()
    }

    var file: GeneratedFile {
        let fileName = "\(name)+CoreDataModel.swift"
        let list = versions.map { version in
            "        EmbeddedModel.Version(name: \(Self.literal(version.name)), contents: \(Self.textLiteral(version.contents))),"
        }
        return GeneratedFile(
            name: fileName,
            contents: """
                \(GeneratedFile.header(fileName, from: modelFile))
                public import CoreData

                /// CoreData finds the model by this class: NSPersistentContainer(name: \(Self.literal(name))).
                public final class \(className): EmbeddedModel {
                    public override class var name: String { \(Self.literal(name)) }
                    public override class var currentVersion: String { \(Self.literal(currentVersion)) }
                    public override class var versions: [EmbeddedModel.Version] { [
                \(list.joined(separator: "\n"))
                    ] }
                }

                """)
    }

    /// A text as a literal in one line.
    static func literal(_ text: String) -> String { text.quoted(escapesInvisible: true) }

    /// Returns a string as a multiline literal.
    static func textLiteral(_ text: String) -> String {
        // The literal has one more number sign than the longest sequence of them in the string.
        var longest = 0
        var current = 0
        for character in text.unicodeScalars {
            current = character == "#" ? current + 1 : 0
            longest = max(longest, current)
        }
        // A multiline literal would turn a carriage return into a line feed.
        guard !text.unicodeScalars.contains("\r"), !text.unicodeScalars.contains("\0") else { return literal(text) }
        let signs = String(repeating: "#", count: longest + 1)
        return "\(signs)\"\"\"\n\(text)\n\"\"\"\(signs)"
    }
}
