public import CoreData
internal import RemoteStore
public import WebBackend
public import WebTransport

/// Recorded answers of an organization that does not exist, in the form that GitHub documents: the example needs no network.
public enum HarbourWorks {
    /// The file with the requests and the answers to them.
    public static var cassette: URL? {
        Bundle.module.url(forResource: "harbour-works", withExtension: "json", subdirectory: "Resources")
    }

    /// Returns what answers requests out of the file.
    public static func transport() throws -> ReplayingTransport { try ReplayingTransport(Cassette(contentsOfFile: cassette?.path ?? "")) }
}

extension NSManagedObjectContext {
    /// Creates a context with a store over GitHub.
    ///
    /// - Parameters:
    ///   - service: The description.
    ///   - transport: What sends the requests.
    ///   - options: Credentials, such as `.bearer(.environment("GITHUB_TOKEN"))`, retries and limits.
    /// - Throws: What is wrong with the description.
    public convenience init(
        gitHub service: WebService = .gitHub(), transport: any Transport, options: WebClient.Options = WebClient.Options()
    ) throws {
        let model = GitHubModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(WebBackend(service, model: model, transport: transport, options: options))
        self.init(.privateQueue)
        persistentStoreCoordinator = coordinator
    }
}
