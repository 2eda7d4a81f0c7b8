public import Foundation
internal import JSONReading

extension WebService {
    /// Reads a file. It is YAML if its name ends with `.yaml` or `.yml`, otherwise JSON.
    ///
    /// - Throws: Code 134080, naming the file and the place, for a mistake in the description, and for authentication and limits, which
    ///   ``WebServiceFile`` reads; the error of the system for a file that cannot be read. A YAML file is an error if the package's trait `WebBackend`
    ///   is not enabled.
    public init(contentsOf url: URL) throws {
        let file = try WebServiceFile(contentsOf: url)
        self = try file.serviceAlone(url.lastPathComponent)
    }

    /// Reads JSON.
    ///
    /// - Throws: Code 134080, naming the place, for a mistake in the description, and for authentication and limits, which ``WebServiceFile`` reads.
    public init(json: Data) throws { self = try WebServiceFile(json: json).serviceAlone("its beginning") }

    /// Writes the description as JSON. Reading it results in the same description.
    ///
    /// - Throws: Code 134080, naming the place, for a value that a file cannot express: a header that is a secret in most services, a number that is
    ///   not finite.
    public func json() throws -> Data { try WebServiceFile(service: self).json() }

    /// The JSON Schema (draft 2020-12) of files that describe a service, as text.
    ///
    /// Editors use it to check files and to complete keys. It is generated from the tables by which files are read.
    public static let schema: String = {
        var schema = FileSchema()
        let root = FileForms.file.schema(&schema)
        let definitions = schema.definitions.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: $0.value) }
        let value: JSONValue = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The description of a web service",
            "allOf": [root], "$defs": .object(JSONObject(definitions)),
        ]
        // All numbers of the schema have a text in JSON.
        return ((try? value.serialized(.prettyPrinted)).map { String(decoding: $0, as: UTF8.self) } ?? "") + "\n"
    }()
}

extension WebServiceFile {
    /// Returns the service of a file that describes nothing else.
    func serviceAlone(_ place: String) throws -> WebService {
        guard clientKeys.isEmpty else {
            throw WebBackendError.description(
                place, "It has \(clientKeys.joined(separator: ", ")), which are not of the service but of its client.",
                next: "Read it as WebServiceFile, or make the backend by WebBackend(file:model:transport:).")
        }
        return service
    }
}
