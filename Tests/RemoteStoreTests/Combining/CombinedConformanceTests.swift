import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import StoreConformance
import Testing

/// An object whose identity is made with it.
private final class KeyedObject: NSManagedObject {
    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(UUID(), forKey: "key")
    }
}

/// Groups and members whose properties are in two backends, under a key of the application.
private struct CombinedCase: Sendable, CustomStringConvertible {
    let description: String
    var saving = Resource.Saving(maximumChanges: 100)
    /// Whether the parts' own identifiers are the keys.
    var identifiesAlike = false
    var isWhole = false
    /// What a cache before them asks; nil for no cache.
    var policy: CachePolicy?
    var logic = Endpoint.Logic.all
    var change: @Sendable (inout Endpoint) -> Void = { _ in }

    private static let sharedModel = model()
    private static let backends = Guarded<[String: CombinedBackend]>([:])

    static func model() -> NSManagedObjectModel {
        let group = NSEntityDescription(name: "Group", managedObjectClass: KeyedObject.self)
        let member = NSEntityDescription(name: "Member", managedObjectClass: KeyedObject.self)
        let members = NSRelationshipDescription(name: "members", destination: member, toMany: true, deleteRule: .cascadeDeleteRule)
        members.inverse(to: NSRelationshipDescription(name: "group", destination: group))
        group.properties = [
            NSAttributeDescription(name: "key", type: .uuid), NSAttributeDescription(name: "name", type: .string),
            NSAttributeDescription(name: "motto", type: .string), members,
        ]
        member.properties = [
            NSAttributeDescription(name: "key", type: .uuid), NSAttributeDescription(name: "name", type: .string),
            NSAttributeDescription(name: "number", type: .integer64, defaultValue: 0), members.inverseRelationship!,
        ]
        return NSManagedObjectModel(entities: [group, member])
    }

    private func resource(_ entity: String, _ properties: [String]) -> Resource {
        var endpoint = Endpoint(
            "list",
            parameters: properties.map {
                Parameter($0, operators: $0 == "group" ? [.equal, .isIn, .isNil] : .all, maximumValues: 100)
            } + [
                Parameter("SELF", operators: .equality, maximumValues: 100), Parameter("key", operators: .equality, maximumValues: 100),
            ],
            logic: logic, sorting: .by("name", "number"), paging: .pages(of: 90, takesLimit: true, takesOffset: true), counts: true)
        change(&endpoint)
        var saving = saving
        if identifiesAlike { saving.identity = .attribute("key") }
        return Resource(entity, endpoints: [endpoint], saving: saving)
    }

    private func combined(_ place: StorePlace) throws -> CombinedBackend {
        let model = Self.model()
        let names = ScriptedBackend(model, [resource("Group", ["name"]), resource("Member", ["name", "group"])])
        let numbers = ScriptedBackend(model, [resource("Group", ["motto"]), resource("Member", ["number"])])
        return try CombinedBackend(
            model, at: URL(string: "conformance:\(place.identifier)")!,
            [
                .init(
                    "names", names,
                    [
                        .init("Group", by: "key", ["name", "members"], identifiesAlike: identifiesAlike, hasAll: isWhole),
                        .init("Member", by: "key", ["name", "group"], identifiesAlike: identifiesAlike, hasAll: isWhole),
                    ]),
                .init(
                    "numbers", numbers,
                    [
                        .init("Group", by: "key", ["motto"], identifiesAlike: identifiesAlike),
                        .init("Member", by: "key", ["number"], identifiesAlike: identifiesAlike),
                    ]),
            ])
    }

    func open(_ place: StorePlace) throws -> NSPersistentStoreCoordinator {
        let backend = try Self.backends.withValue { backends in
            if let known = backends[place.identifier] { return known }
            let made = try combined(place)
            backends[place.identifier] = made
            return made
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.sharedModel)
        if let policy {
            var options = CachedStoreOptions(defaultPolicy: policy)
            options.fileOptions = ["NSSQLitePragmasOption": ["journal_mode": "WAL", "synchronous": "OFF"]]
            try coordinator.addCachedStore(backend, at: place.directory.appendingPathComponent("cache.sqlite"), options: options)
        } else {
            try coordinator.addRemoteStore(backend)
        }
        return coordinator
    }

    var store: StoreUnderTest {
        StoreUnderTest(
            name: "Combined, \(description)",
            capabilities: policy == nil
                ? [.durable, .detectsConflicts, .identifiesBeforeSaving]
                : [.durable, .detectsConflicts, .savesAtomically, .identifiesBeforeSaving],
            roles: ConformanceRoles(
                group: "Group", groupName: "name", members: "members", member: "Member", memberName: "name", memberNumber: "number",
                memberGroup: "group")
        ) { try open($0) }
    }

    static let all: [CombinedCase] = [
        CombinedCase(description: "identifiers of their own"),
        CombinedCase(description: "keys as identifiers, one with every object", identifiesAlike: true, isWhole: true),
        CombinedCase(description: "trees", isWhole: true, logic: .tree),
        CombinedCase(description: "trees of parts", logic: .tree),
        CombinedCase(description: "whole objects, one change a call", saving: .init(sendsWholeObjects: true), identifiesAlike: true),
        CombinedCase(description: "idempotent, atomic calls", saving: .init(maximumChanges: 100, isAtomic: true, isIdempotent: true)) {
            $0.paging = .pages(of: 7, stability: .cursors)
        },
        CombinedCase(description: "behind a cache", policy: .cachedThenFresh),
    ]
}

@Suite("Several backends behave as one store") struct CombinedConformanceTests {
    @Test("Each behaviour, over two backends that share the objects", arguments: CombinedCase.all)
    fileprivate func behaviours(_ one: CombinedCase) throws { expectBehaviours(of: one.store) }
}
