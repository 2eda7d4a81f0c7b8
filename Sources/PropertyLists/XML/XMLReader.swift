package import Foundation

/// Reads a model's XML into elements.
///
/// A document type is an error, so that no entity can be declared.
package struct XMLReader {
    /// The limits of a document; a model of a thousand entities needs a hundredth of them.
    enum Limit {
        static let depth = 64
        static let elements = 2_000_000
    }

    package struct FormatError: Error {
        package let line: Int
        /// The element that contains the place.
        package let element: String?
        package let reason: String
    }

    private var scanner: XMLScanner
    private var open: [XMLElement] = []
    private var root: XMLElement?

    /// Parses a document.
    ///
    /// - Returns: The root element.
    /// - Throws: ``FormatError``.
    package static func read(_ data: Data) throws -> XMLElement {
        do {
            var reader = XMLReader(scanner: try XMLScanner(data))
            return try reader.document()
        } catch let mistake as XMLScanner.FormatError {
            throw FormatError(line: mistake.line, element: nil, reason: mistake.reason)
        }
    }

    private init(scanner: XMLScanner) { self.scanner = scanner }

    private func formatError(_ reason: String) -> FormatError { FormatError(line: scanner.line, element: open.last?.name, reason: reason) }

    private mutating func document() throws -> XMLElement {
        var count = 0
        while let piece = try next() {
            switch piece {
            case .text(let text): try append(text)
            case .documentType: throw formatError("A document type is not allowed in a model.")
            case .start(let name, let attributes, let isEmpty, let line):
                guard root == nil else { throw formatError("There is a second root element.") }
                count += 1
                guard count <= Limit.elements else { throw formatError("There are more than \(Limit.elements) elements.") }
                let element = XMLElement(name: name, attributes: attributes, line: line)
                if isEmpty {
                    add(element)
                } else {
                    guard open.count < Limit.depth else { throw formatError("Elements nest deeper than \(Limit.depth) levels.") }
                    open.append(element)
                }
            case .end(let name):
                guard let element = open.popLast() else { throw formatError("</\(name)> closes nothing.") }
                guard element.name == name else {
                    throw FormatError(
                        line: scanner.line, element: element.name,
                        reason: "</\(name)> appears where <\(element.name)> of line \(element.line) ends.")
                }
                add(element)
            }
        }
        if let unclosed = open.last { throw formatError("The file ends within <\(unclosed.name)> of line \(unclosed.line).") }
        guard let root else { throw formatError("The file has no element.") }
        return root
    }

    /// The next part of the document, or an error with the element around it.
    private mutating func next() throws -> XMLScanner.Piece? {
        do { return try scanner.next() } catch let mistake as XMLScanner.FormatError {
            throw FormatError(line: mistake.line, element: open.last?.name, reason: mistake.reason)
        }
    }

    /// Adds a complete element to its parent.
    private mutating func add(_ element: XMLElement) {
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    private mutating func append(_ text: String) throws {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty { return }
        guard !open.isEmpty else { throw formatError("There is text outside of the root element.") }
        open[open.count - 1].text += trimmed
    }
}
