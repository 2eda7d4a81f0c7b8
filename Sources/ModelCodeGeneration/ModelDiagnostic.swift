package import Foundation
internal import ModelFiles
internal import ObjectGraph

/// A message about a model, in the format of compilers.
package struct ModelDiagnostic: Hashable, Sendable, CustomStringConvertible, Error {
    /// Whether the message is an error, which fails the build.
    package let isError: Bool
    /// The file and the line.
    package let file: String
    package let line: Int?
    /// The problem, and a remedy.
    package let message: String

    /// `file:line: error: message`, the format that build tools and editors recognize.
    package var description: String {
        "\(file):\(line.map { "\($0):" } ?? "") \(isError ? "error" : "warning"): \(message.replacing("\n", with: " "))"
    }

    init(isError: Bool, file: String, line: Int?, message: String) {
        self.isError = isError
        self.file = file
        self.line = line
        self.message = message
    }

    /// Creates the diagnostic of an error of reading the model at `url`.
    package init(_ error: any Error, reading url: URL) {
        let place = ModelFileError.place(of: error)
        self.init(isError: true, file: place.file ?? url.path, line: place.line, message: place.remark)
    }

    init(_ finding: ModelFinding, in locations: SourceLocations) {
        let name = [finding.entity, finding.property].compactMap { $0 }.joined(separator: ".")
        let prefix = name.isEmpty || finding.message.contains("“\(name)") ? "" : "\(name): "
        self.init(
            isError: finding.severity == .error, file: locations.file,
            line: locations.line(entity: finding.entity, property: finding.property),
            message: "\(prefix)\(finding.message) \(finding.advice)")
    }
}

/// The lines of entities and properties in the XML of a model.
struct SourceLocations {
    let file: String
    private var lines: [String: Int] = [:]

    /// Finds the lines in the text of the file; an archive has none.
    init(file: String, contents: String) {
        self.file = file
        var entity: String?
        for (index, line) in contents.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let tag = line.firstMatch(of: /<(entity|attribute|relationship|fetchedProperty)\s(?:.*\s)?name="([^"]*)"/) else {
                continue
            }
            if tag.1 == "entity" { entity = String(tag.2) }
            let key = tag.1 == "entity" ? String(tag.2) : "\(entity ?? "").\(tag.2)"
            if lines[key] == nil { lines[key] = index + 1 }
        }
    }

    func line(entity: String?, property: String?) -> Int? {
        guard let entity else { return nil }
        return property.flatMap { lines["\(entity).\($0)"] } ?? lines[entity]
    }
}
