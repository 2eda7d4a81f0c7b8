import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import StoreConformance
import TestSupport
import Testing

/// A cached store over a backend for the kit's model.
private struct ConformingCache: Sendable, CustomStringConvertible {
    let description: String
    let policy: CachePolicy
    private static let backends = Guarded<[String: ScriptedBackend]>([:])
    // One for all stores: the model of the cache's files is made once.
    private static let model = ConformanceModel.make()
    private static let folder = Result { try ScratchFolder.untilExit("caches") }

    func open(_ place: StorePlace) throws -> NSPersistentStoreCoordinator {
        let model = Self.model
        let name = "\(description)-\(place.identifier)"
        let backend = Self.backends.withValue { backends in
            if let known = backends[name] { return known }
            let made = ScriptedBackend(model, model.entities.map(resource), at: URL(string: "conformance:cache")!)
            made.setVersions(.numbers)
            backends[name] = made
            return made
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options = CachedStoreOptions(defaultPolicy: policy)
        // No machine loses its power here: hundreds of files would each wait for the disk.
        options.fileOptions = ["NSSQLitePragmasOption": ["journal_mode": "WAL", "synchronous": "OFF"]]
        try coordinator.addCachedStore(backend, at: Self.folder.get().file("\(name).sqlite"), options: options)
        return coordinator
    }

    private func resource(_ entity: NSEntityDescription) -> Resource {
        var endpoint = Endpoint(
            "list", parameters: [Parameter("SELF", operators: .equality, maximumValues: 100)],
            paging: .pages(of: 200, takesLimit: true, takesOffset: true), counts: true)
        for (name, property) in entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
            guard let relationship = property as? NSRelationshipDescription else { continue }
            if !relationship.isToMany {
                endpoint.parameters.append(Parameter(name, operators: .equality, maximumValues: 100))
            } else if relationship.inverseRelationship?.isToMany ?? true {
                endpoint.parameters.append(Parameter("ANY \(name)", operators: .equality, maximumValues: 100))
                let inverse = relationship.inverseRelationship
                if (entity.name ?? "", name) <= (inverse?.entity?.name ?? "~", inverse?.name ?? "~") || relationship.entity !== entity {
                    endpoint.embeddings.append(.init(name, isAlwaysThere: true))
                }
            }
        }
        return Resource(entity.name ?? "", endpoints: [endpoint], saving: .init(maximumChanges: 100))
    }

    var store: StoreUnderTest {
        StoreUnderTest(
            name: "Cached, \(description)",
            capabilities: [.anyModel, .durable, .detectsConflicts, .savesAtomically, .identifiesBeforeSaving], callCount: nil
        ) { try open($0) }
    }

    static let all = [
        ConformingCache(description: "cached", policy: .cachedThenFresh), ConformingCache(description: "network", policy: .networkOnly),
    ]
}

@Suite("Cached stores behave as Core Data's do") struct CacheConformanceTests {
    @Test("Each behaviour, from the cache and from the backend", arguments: ConformingCache.all)
    fileprivate func behaviours(_ cache: ConformingCache) throws { expectBehaviours(of: cache.store) }
}
