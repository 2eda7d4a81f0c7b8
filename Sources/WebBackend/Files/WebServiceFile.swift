public import Foundation
internal import JSONReading
public import ObjectGraph
internal import Platform
internal import PropertyLists
public import WebTransport

/// A file that describes a web service, and the options of its client.
///
/// A file is JSON, or YAML if the package's trait `WebBackend` (or `YAML` alone) is enabled. It never contains secrets: `authentication` names the
/// environment variables or the files that have them.
///
/// ```swift
/// let file = try WebServiceFile(contentsOf: url)
/// let backend = try WebBackend(file.service, model: model, transport: transport, options: file.options)
/// ```
///
/// Errors have the code 134080. They name the file, the line, the path to the place, and the expected value.
public struct WebServiceFile: Sendable {
    /// The description of the service.
    public var service: WebService
    /// The options of the client: credentials, retries and limits.
    public var options: WebClient.Options
    /// The keys for the client that the file has, if this was read from one.
    var clientKeys: [String] = []

    /// Creates the content of a file.
    public init(service: WebService, options: WebClient.Options = WebClient.Options()) {
        self.service = service
        self.options = options
    }

    /// Reads a file. It is YAML if its name ends with `.yaml` or `.yml`, otherwise JSON.
    ///
    /// - Throws: Code 134080, naming the file and the place, for a mistake in the description; the error of the system for a file that cannot be read.
    ///   A YAML file is an error if neither of the package's traits `WebBackend` and `YAML` is enabled.
    public init(contentsOf url: URL) throws {
        let name = url.lastPathComponent
        let data = try RegularFile.data(url)
        guard ["yaml", "yml"].contains(url.pathExtension.lowercased()) else {
            self = try DescriptionSource(json: data, name: name).file()
            return
        }
        #if YAML
        guard let text = String(data: data, encoding: .utf8) else {
            throw WebBackendError.description(name, "The file is not UTF-8.", next: "Save it as UTF-8.")
        }
        self = try DescriptionSource(yaml: text, name: name).file()
        #else
        throw WebBackendError.description(
            name, "YAML is read only where the package's trait WebBackend is enabled.",
            next: "Enable the trait for the dependency in Package.swift, or write the description as JSON.")
        #endif
    }

    /// Reads JSON.
    ///
    /// - Throws: Code 134080, naming the place, for a mistake in the description.
    public init(json: Data) throws { self = try DescriptionSource(json: json, name: nil).file() }

    /// Writes JSON. Reading it results in the same description, limits and authentication.
    ///
    /// - Throws: Code 134080, naming the place, for a value that a file cannot express: a secret itself, a closure, a number that is not finite.
    public func json() throws -> Data {
        do {
            let value = try FileForms.file.write(self, FileContext(), nil)
            return Data(try value.serialized(.prettyPrinted))
        } catch let problem as FileProblem {
            let place = FileStep.text(problem.path)
            throw WebBackendError.description(place.isEmpty ? "its beginning" : place, problem.reason, next: problem.next)
        }
    }
}

extension WebBackend {
    /// Creates the backend of a service that a file describes.
    ///
    /// - Parameters:
    ///   - file: The JSON or YAML file.
    ///   - model: The model whose entities it describes. It cannot be changed afterwards.
    ///   - transport: The transport that sends requests.
    /// - Throws: Code 134080, naming the place in the file, for a mistake in the description, or naming entity and property, for a description that
    ///   does not fit the model; `TransportError` for an address that cannot be read.
    public init(file: URL, model: NSManagedObjectModel, transport: any Transport) throws {
        let file = try WebServiceFile(contentsOf: file)
        try self.init(file.service, model: model, transport: transport, options: file.options)
    }
}
