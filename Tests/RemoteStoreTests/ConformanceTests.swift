import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import StoreConformance
import Testing

/// A backend for the kit's model, with capabilities that can be left out.
private struct ConformanceBackend: Sendable, CustomStringConvertible {
    let description: String
    var saving = Resource.Saving(maximumChanges: 100)
    var versions = ScriptedBackend.Versions.numbers
    /// Whether objects are asked for together, so that a walk costs a handful of calls.
    var batches = true
    var change: @Sendable (inout Endpoint) -> Void = { _ in }

    /// The backends of places, which outlive stores.
    private static let backends = Guarded<[String: ScriptedBackend]>([:])

    func open(_ place: StorePlace) throws -> NSPersistentStoreCoordinator {
        let model = ConformanceModel.make()
        let backend = Self.backends.withValue { backends in
            if let known = backends[place.identifier] { return known }
            let made = ScriptedBackend(model, model.entities.map(resource), at: URL(string: "conformance:\(place.identifier)")!)
            made.setVersions(versions)
            backends[place.identifier] = made
            return made
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        return coordinator
    }

    static func requestCount(_ coordinator: NSPersistentStoreCoordinator) -> Int {
        let place = coordinator.persistentStores.first?.url?.absoluteString.dropFirst("conformance:".count) ?? ""
        return backends.withValue { $0[String(place)]?.requests.count ?? 0 }
    }

    private func resource(_ entity: NSEntityDescription) -> Resource {
        var endpoint = Endpoint(
            "list", parameters: [Parameter("SELF", operators: .equality, maximumValues: 100)],
            paging: .pages(of: 200, takesLimit: true, takesOffset: true),
            counts: true)
        var keys: [String] = []
        for (name, property) in entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
            switch property {
            case let relationship as NSRelationshipDescription where relationship.isToMany:
                guard relationship.inverseRelationship?.isToMany ?? true else { continue }
                endpoint.parameters.append(Parameter("ANY \(name)", operators: .equality, maximumValues: 100))
                // Lists are kept where they are sent.
                let inverse = relationship.inverseRelationship
                if (entity.name ?? "", name) <= (inverse?.entity?.name ?? "~", inverse?.name ?? "~") || relationship.entity !== entity {
                    endpoint.embeddings.append(.init(name, isAlwaysThere: true))
                }
            case is NSRelationshipDescription: endpoint.parameters.append(Parameter(name, operators: .equality, maximumValues: 100))
            case let attribute as NSAttributeDescription where attribute.type == .string || attribute.type == .integer64:
                endpoint.parameters.append(
                    Parameter(name, operators: [.equal, .isIn, .lessThan, .greaterThan, .isNil], maximumValues: 50))
                keys.append(name)
            default: continue
            }
        }
        endpoint.sorting = Sorting(keys.map { .init($0) }, maximumKeys: 3)
        change(&endpoint)
        return Resource(entity.name ?? "", endpoints: [endpoint], saving: saving)
    }

    static let all: [ConformanceBackend] = [
        ConformanceBackend(description: "everything"),
        // Identity and saving.
        ConformanceBackend(description: "own identifiers", saving: .init(identity: .newUUID, maximumChanges: 100)),
        ConformanceBackend(description: "atomic, idempotent calls", saving: .init(maximumChanges: 100, isAtomic: true, isIdempotent: true)),
        ConformanceBackend(description: "one change a call, of whole objects", saving: .init(sendsWholeObjects: true)),
        // Versions and conflicts.
        ConformanceBackend(description: "tags", versions: .tags),
        ConformanceBackend(description: "compared by reading", saving: .init(maximumChanges: 100, conflicts: .byReading), versions: .none),
        ConformanceBackend(description: "no versions", saving: .init(maximumChanges: 100, conflicts: .none), versions: .none),
        // Order, pages and counts.
        ConformanceBackend(description: "no order") { $0.sorting = .none },
        ConformanceBackend(description: "one sort key, ascending") { endpoint in
            endpoint.sorting = Sorting(endpoint.sorting.keys.map { .init($0.keyPath, isReversible: false) })
        },
        ConformanceBackend(description: "no counts") { $0.counts = false },
        ConformanceBackend(description: "no limits") { $0.paging.takesLimit = false },
        ConformanceBackend(description: "no offsets") { $0.paging.takesOffset = false },
        ConformanceBackend(description: "no counts, limits, offsets; small pages") { endpoint in
            endpoint.counts = false
            endpoint.paging = .pages(of: 90)
        },
        ConformanceBackend(description: "no pages") { $0.paging = .whole },
        // Filters.
        ConformanceBackend(description: "no filters but identifiers and owners") { endpoint in
            endpoint.parameters.removeAll { !$0.keyPaths[0].hasPrefix("ANY ") && $0.keyPaths != ["SELF"] && $0.keyPaths != ["group"] }
        },
        ConformanceBackend(description: "no filters by owner", batches: false) { endpoint in
            endpoint.parameters.removeAll { $0.keyPaths != ["SELF"] && $0.operators == .equality && !$0.keyPaths[0].hasPrefix("ANY ") }
        },
        ConformanceBackend(description: "nothing but a dump", batches: false) { endpoint in
            endpoint = Endpoint("list", embeddings: endpoint.embeddings, freshness: .seconds(60))
        },
        ConformanceBackend(description: "one value a request", batches: false) { endpoint in
            for index in endpoint.parameters.indices { endpoint.parameters[index].maximumValues = 1 }
        },
        ConformanceBackend(description: "trees") { $0.logic = .tree },
        // Parts of the values.
        ConformanceBackend(description: "lists when asked for") { endpoint in
            for index in endpoint.embeddings.indices { endpoint.embeddings[index].isAlwaysThere = false }
        },
    ]

    var store: StoreUnderTest {
        var capabilities: StoreUnderTest.Capabilities = [.anyModel, .durable]
        if saving.conflicts != .none { capabilities.insert(.detectsConflicts) }
        if case .newUUID = saving.identity { capabilities.insert(.identifiesBeforeSaving) }
        return StoreUnderTest(
            name: "Remote, \(description)", capabilities: capabilities, callCount: batches ? Self.requestCount : nil
        ) { try open($0) }
    }
}

@Suite("Remote stores behave as Core Data's do") struct RemoteConformanceTests {
    @Test("Each behaviour, over backends with a capability missing in turn", arguments: ConformanceBackend.all)
    fileprivate func behaviours(_ backend: ConformanceBackend) throws {
        // More than a page for each backend, and a thousand for the one with every capability.
        let isWhole = backend.description == ConformanceBackend.all[0].description
        expectBehaviours(of: backend.store, manyObjects: isWhole ? 1000 : 250)
    }
}
