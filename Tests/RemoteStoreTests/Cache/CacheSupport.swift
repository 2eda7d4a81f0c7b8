import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting

/// A shop with a cache over it.
struct CachedShop {
    let backend: ScriptedBackend
    let coordinator: NSPersistentStoreCoordinator
    let store: CachedStore
    let clock: ManualClock
    let context: NSManagedObjectContext
    let errors = Guarded<[any Error]>([])

    /// An endpoint that compares and sorts by everything, and one by identifier.
    static func resources(_ model: NSManagedObjectModel, page: Int? = nil) -> [Resource] {
        model.entities.compactMap { entity in
            guard let name = entity.name else { return nil }
            let attributes = entity.attributesByName.keys.sorted()
            let ones = entity.relationshipsByName.values.filter { !$0.isToMany }.map(\.name).sorted()
            let parameters =
                attributes.map { Parameter($0, operators: .all) }
                + ones.map { Parameter($0, operators: [.equal, .isIn, .isNil, .isNotNil], maximumValues: 100) }
            return Resource(
                name,
                endpoints: [
                    Endpoint(
                        "find", parameters: parameters, sorting: Sorting(attributes.map { Sorting.Key($0) }, maximumKeys: 3),
                        paging: Paging(size: page, takesLimit: true, takesOffset: true), counts: true),
                    Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 100)]),
                ])
        }
    }

    init(
        at url: URL? = nil, _ policy: CachePolicy = .cachedThenFresh, backend given: ScriptedBackend? = nil,
        _ change: (inout CachedStoreOptions) -> Void = { _ in }
    ) throws {
        let model = Shop.model()
        backend = given ?? Self.makeBackend(model)
        clock = ManualClock()
        var options = CachedStoreOptions(defaultPolicy: policy, clock: clock)
        options.didFail = { [errors] error in errors.withValue { $0.append(error) } }
        change(&options)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addCachedStore(backend, at: url, options: options)
        context = coordinator.context()
    }

    static func makeBackend(_ model: NSManagedObjectModel) -> ScriptedBackend {
        let backend = ScriptedBackend(model, resources(model))
        backend.put("Band", 1, ["name": "The Beatles"])
        backend.put("Band", 2, ["name": "Blur"])
        for (id, title, year, band) in [
            (1, "Help!", 1965, 1), (2, "Revolver", 1966, 1), (3, "Parklife", 1994, 2), (4, "Blur", 1997, 2), (5, "Let It Be", 1970, 1),
        ] {
            backend.put(
                "Album", id,
                [
                    "title": .value(.string(title)), "year": .value(.int64(Int64(year))),
                    "band": .one(ResourceReference(.integer(Int64(band)))),
                ])
        }
        return backend
    }

    /// Cuts the backend off.
    func goOffline() { backend.script { _ in .fail(ServiceFailure("offline")) } }
    func goOnline() { backend.script { _ in .answer } }
}

extension CachedStoreOptions {
    /// Calls `body` before each transaction of the file.
    mutating func countCommits(_ body: @escaping @Sendable () -> Void) { willCommit = { _ in body() } }
}
