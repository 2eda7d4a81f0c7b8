import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import Testing

@testable import CoreDataMacroPlugin

/// What the macros say about a source whose first declaration has one of them.
struct Examined {
    let source: String
    let diagnostics: [Diagnostic]

    init(_ source: String) throws {
        self.source = source
        let file = Parser.parse(source: source)
        let declaration = try #require(file.statements.first?.item)
        let attributes = try #require(declaration.asProtocol((any WithAttributesSyntax).self)?.attributes)
        let node = try #require(attributes.first?.as(AttributeSyntax.self))
        var examination = DeclarationChecker(node)
        if let structure = declaration.as(StructDeclSyntax.self), node.attributeName.trimmedDescription == "Composite" {
            examination.examineElements(of: structure)
        } else {
            let group = try #require(declaration.asProtocol((any DeclGroupSyntax).self))
            examination.examine(group)
        }
        diagnostics = examination.diagnostics
    }

    var messages: [String] { diagnostics.map(\.message) }
    var fixes: [String] { diagnostics.flatMap(\.fixIts).map(\.message.message) }

    /// What a place that is complained of looks like.
    var places: [String] { diagnostics.map { $0.node.trimmedDescription } }

    /// The source after a fix.
    func fixed(by message: String) throws -> String {
        let fix = try #require(diagnostics.flatMap(\.fixIts).first { $0.message.message == message })
        var bytes = Array(source.utf8)
        let edits = fix.changes.map { change -> (Range<Int>, String) in
            switch change {
            case .replace(let old, let new): (old.position.utf8Offset..<old.endPosition.utf8Offset, new.description)
            case .replaceLeadingTrivia(let token, let trivia):
                (token.position.utf8Offset..<token.positionAfterSkippingLeadingTrivia.utf8Offset, trivia.description)
            case .replaceTrailingTrivia(let token, let trivia):
                (token.endPositionBeforeTrailingTrivia.utf8Offset..<token.endPosition.utf8Offset, trivia.description)
            default: (0..<0, "a change that the test does not know")
            }
        }
        for (range, text) in edits.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
            bytes.replaceSubrange(range, with: Array(text.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
