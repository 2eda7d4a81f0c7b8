internal import CoreData
package import Foundation

/// Something to tell about a model while it is compiled, in the form in which compilers tell it.
package struct ModelDiagnostic: Hashable, Sendable, CustomStringConvertible, Error {
    /// Whether the build ends.
    package let isError: Bool
    /// The file, and the line in it.
    package let file: String
    package let line: Int?
    /// What is wrong, and what to do.
    package let message: String

    /// `file:line: error: message`, the form that build tools and editors know.
    package var description: String {
        "\(file):\(line.map { "\($0):" } ?? "") \(isError ? "error" : "warning"): \(message.replacing("\n", with: " "))"
    }

    init(isError: Bool, file: String, line: Int?, message: String) {
        self.isError = isError
        self.file = file
        self.line = line
        self.message = message
    }

    /// An error of reading the model at `url`.
    package init(_ error: any Error, reading url: URL) {
        let place = ModelFileError.place(of: error)
        self.init(isError: true, file: place.file ?? url.path, line: place.line, message: place.remark)
    }

    init(_ finding: ModelFinding, in places: ModelPlaces) {
        let name = [finding.entity, finding.property].compactMap { $0 }.joined(separator: ".")
        let prefix = name.isEmpty || finding.message.contains("“\(name)") ? "" : "\(name): "
        self.init(
            isError: finding.severity == .error, file: places.file, line: places.line(entity: finding.entity, property: finding.property),
            message: "\(prefix)\(finding.message) \(finding.advice)")
    }
}

/// Where entities and properties stand in the XML of a model.
struct ModelPlaces {
    let file: String
    private var lines: [String: Int] = [:]

    /// Looks for them in the text of the file; there are none in an archive.
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
