internal import Foundation
internal import JSONReading
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import PropertyLists
internal import RemoteStore
internal import WebBackend
internal import WebTransport

/// Opens web services by their descriptions.
struct RemoteStoreReference {
    /// The description file.
    let file: URL
    /// The address, if it differs from that in the description.
    let address: String?
    /// The transport that sends requests; nil for the network.
    let transport: (any Transport)?

    /// Returns whether a file describes a web service: by its name, or, for JSON, by its content.
    static func isDescription(_ url: URL) -> Bool {
        switch url.pathExtension.lowercased() {
        case "yaml", "yml": return true
        case "json":
            guard let data = try? RegularFile.data(url), data.count < 1 << 20,
                let value = try? JSONReading.JSONValue(parsing: [UInt8](data))
            else { return false }
            return value["address"]?.string != nil && value["resources"] != nil
        default: return false
        }
    }

    /// Opens the store, without sending a request to the service yet.
    ///
    /// - Throws: The mistake in the description or the model, and the correction, without secrets.
    func open(_ model: NSManagedObjectModel, _ modelPath: String) throws -> OpenStore {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw CommandError.make("There is no description at \(PlaceText.shown(file.path)).", next: "Check the path.")
        }
        var description = try WebServiceFile(contentsOf: file)
        if let address { description.service.address = address }
        let backend = try WebBackend(description.service, model: model, transport: try sender(), options: description.options)
        let coordinator = try NSPersistentStoreCoordinator(checking: model)
        let store = try coordinator.addRemoteStore(backend)
        let opened = OpenStore(.init(url: backend.location, kind: .service), .file(modelPath), coordinator, store, nil, nil)
        opened.service = backend
        return opened
    }

    private func sender() throws -> any Transport {
        if let transport { return transport }
        #if WebBackend
        return AsyncHTTPClientTransport()
        #else
        throw CommandError.make(
            "The web service cannot be asked.", reason: "The command was built without the trait WebBackend.",
            next: "Build it with “--traits Command”, which enables both.")
        #endif
    }
}
