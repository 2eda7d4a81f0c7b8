public import CoreData
import Foundation
public import RemoteStore
internal import WebBackend
public import WebTransport

extension NSPersistentStoreCoordinator {
    /// Adds the palettes of a service with a cache in front of them: what ``CachingIncrementalStore`` does by hand, by one call over the
    /// description of the service.
    ///
    /// - Parameters:
    ///   - address: The base URL of the service.
    ///   - file: The place of the cache; nil for one in memory, as the article's store has it.
    ///   - transport: What sends requests.
    /// - Returns: The store.
    /// - Throws: Code 134080 for an address that is none; the errors of opening the file.
    @discardableResult
    public func addCachedPalettes(at address: URL, cachedAt file: URL? = nil, transport: some Transport) throws -> CachedStore {
        let backend = try WebBackend(.palettes(at: address), model: managedObjectModel, transport: transport)
        return try addCachedStore(backend, at: file)
    }
}
