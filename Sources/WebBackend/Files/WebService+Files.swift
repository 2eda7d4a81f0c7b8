public import Foundation
internal import JSONReading

extension WebService {
    /// Reads a file: YAML where its name ends with `.yaml` or `.yml`, JSON otherwise.
    ///
    /// - Throws: Code 134080, naming the file and the place, for what a description does not have, and for authentication and limits, which
    ///   ``WebServiceFile`` reads; the error of the system for a file that cannot be read. A YAML file is an error where the package's trait
    ///   `WebBackend` is not enabled.
    public init(contentsOf url: URL) throws {
        let file = try WebServiceFile(contentsOf: url)
        self = try file.serviceAlone(url.lastPathComponent)
    }

    /// Reads JSON.
    ///
    /// - Throws: Code 134080, naming the place, for what a description does not have, and for authentication and limits, which
    ///   ``WebServiceFile`` reads.
    public init(json: Data) throws { self = try WebServiceFile(json: json).serviceAlone("its beginning") }

    /// Writes the description as JSON; reading it gives the same description.
    ///
    /// - Throws: Code 134080, naming the place, for what a file has no form for: a header that has a secret in most services, a number that is
    ///   none.
    public func json() throws -> Data { try WebServiceFile(service: self).json() }

    /// The JSON Schema (draft 2020-12) of files that describe a service, as text.
    ///
    /// Editors check files by it and complete their keys. It is made of the tables by which files are read.
    public static let schema: String = {
        var schema = FileSchema()
        let root = FileForms.file.schema(&schema)
        let definitions = schema.definitions.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: $0.value) }
        let value: JSONValue = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The description of a web service",
            "allOf": [root], "$defs": .object(JSONObject(definitions)),
        ]
        // The schema has no number for which JSON has no text.
        return ((try? value.serialized(.prettyPrinted)).map { String(decoding: $0, as: UTF8.self) } ?? "") + "\n"
    }()
}

extension WebServiceFile {
    /// Returns the service of a file that has nothing else.
    func serviceAlone(_ place: String) throws -> WebService {
        guard clientKeys.isEmpty else {
            throw WebBackendError.description(
                place, "It has \(clientKeys.joined(separator: ", ")), which are not of the service but of its client.",
                next: "Read it as WebServiceFile, or make the backend by WebBackend(file:model:transport:).")
        }
        return service
    }
}
