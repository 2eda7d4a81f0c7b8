import CoreData
import TestSupport
import Testing

/// A context whose methods are overridden, as tests and tools do it.
private final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
    var calls: [String] = []
    var saveError: (any Error)?
    var handlesFaults = true

    override func save() throws {
        calls.append("save")
        if let saveError { throw saveError }
        try super.save()
    }

    override func insert(_ object: NSManagedObject) {
        calls.append("insert")
        super.insert(object)
    }

    override func delete(_ object: NSManagedObject) {
        calls.append("delete")
        super.delete(object)
    }

    override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        calls.append("refresh")
        super.refresh(object, mergeChanges: flag)
    }

    override func rollback() {
        calls.append("rollback")
        super.rollback()
    }

    override func reset() {
        calls.append("reset")
        super.reset()
    }

    override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        calls.append("existingObject")
        return try super.existingObject(with: objectID)
    }

    override func mergeChanges(fromContextDidSave notification: Notification) {
        calls.append("mergeChanges")
        super.mergeChanges(fromContextDidSave: notification)
    }

    override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        calls.append("inaccessible \(oid == fault.objectID)")
        return handlesFaults
    }
}

@Suite("Subclasses of contexts and objects") struct SubclassTests {
    private func run(_ body: (CountingContext) throws -> Void) throws {
        let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = try Music.coordinator()
        try context.performAndWait { try body(context) }
    }

    @Test("A context's methods can be overridden, and do their work by super")
    func overrides() throws {
        try run { context in
            let entity = try #require(NSEntityDescription.entity(forEntityName: "Tag", in: context))
            let tag = NSManagedObject(entity: entity, insertInto: nil)
            context.insert(tag)
            try context.save()
            _ = try context.existingObject(with: tag.objectID)
            context.refresh(tag, mergeChanges: false)
            #expect(tag.isFault)
            context.delete(tag)
            context.rollback()
            #expect(!tag.isDeleted)
            context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
            context.reset()
            #expect(context.registeredObjects.isEmpty)
            expect(
                context.calls, equals: ["insert", "save", "existingObject", "refresh", "delete", "rollback", "mergeChanges", "reset"])
        }
    }

    @Test("A save that is overridden to fail leaves everything unsaved")
    func failingSave() throws {
        try run { context in
            context.saveError = CocoaError(.fileWriteOutOfSpace)
            _ = Album(context: context)
            expect(failure { try context.save() }?.code, equals: CocoaError.fileWriteOutOfSpace.rawValue)
            expect(context.insertedObjects.count, equals: 1)
        }
    }

    @Test("A context decides whether a fault without a row reads as deleted")
    func inaccessibleFaults() throws {
        for handles in [true, false] {
            try run { context in
                context.handlesFaults = handles
                let album = Album(context: context)
                try context.save()
                context.refresh(album, mergeChanges: false)
                let other = Music.context(context.persistentStoreCoordinator!)
                try other.performAndWait {
                    other.delete(other.object(with: album.objectID))
                    try other.save()
                }
                #expect(album.rating == nil)
                expect(context.calls.last, equals: "inaccessible true")
                if handles {
                    try context.throwPendingFaultError()
                } else {
                    expect(failure { try context.throwPendingFaultError() }?.code, equals: NSManagedObjectReferentialIntegrityError)
                }
            }
        }
    }

    @Test("Accessors of an ordered relationship, as Xcode writes them, keep the inverse")
    func orderedAccessors() throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = (0..<3).map { context.insert("Track", ["title": "\($0)"]) }
            album.tracks = NSOrderedSet(array: [tracks[0], tracks[1]])
            let indexes = IndexSet(integer: 1)
            album.willChange(.insertion, valuesAt: indexes, forKey: "tracks")
            let order = NSMutableOrderedSet(orderedSet: album.primitiveValue(forKey: "tracks") as? NSOrderedSet ?? NSOrderedSet())
            order.insert(tracks[2], at: 1)
            album.setPrimitiveValue(order, forKey: "tracks")
            album.didChange(.insertion, valuesAt: indexes, forKey: "tracks")
            expect(album.tracks?.array as? [NSManagedObject], equals: [tracks[0], tracks[2], tracks[1]])
            #expect(tracks[2].value(forKey: "album") as? Album === album)
        }
    }

    @Test("Conflicts are made with Apple's labels, and show attributes and to-one relationships")
    func conflicts() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let album = try #require(band.albums.first)
            let conflict = NSMergeConflict(
                source: album, newVersion: 2, oldVersion: 1, cachedSnapshot: ["title": "theirs"], persistedSnapshot: nil)
            expect(conflict.objectSnapshot?["title"] as? String, equals: "Trust")
            expect(conflict.objectSnapshot?["band"] as? NSManagedObjectID, equals: band.objectID)
            #expect(conflict.objectSnapshot?["tags"] == nil)
            expect(conflict.cachedSnapshot?["title"] as? String, equals: "theirs")
            let constraint = NSConstraintConflict(
                constraint: ["title"], database: nil, databaseSnapshot: ["title": "Trust"], conflicting: [album],
                conflictingSnapshots: [["title": "Trust"]])
            expect(constraint.constraintValues["title"] as? String, equals: "Trust")
            expect(constraint.databaseSnapshot?["title"] as? String, equals: "Trust")
            expect(constraint.conflictingObjects, equals: [album])
        }
    }
}

@Suite("Objects given to a context that is not theirs") struct ForeignObjectTests {
    fileprivate enum Use: String, CaseIterable, Codable, Sendable { case deleted, inserted, refreshed }

    @Test("Deleting, inserting or refreshing one stops the program with a message that says what to do", arguments: Use.allCases)
    fileprivate func foreign(_ use: Use) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [use = use as Use] in
            try withTwoContexts { first, second in
                let album = first.performAndWait { Album(context: first) }
                second.performAndWait {
                    switch use {
                    case .deleted: second.delete(album)
                    case .inserted: second.insert(album)
                    case .refreshed: second.refresh(album, mergeChanges: true)
                    }
                }
            }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("cannot be \(use.rawValue) in another context"))
    }

    @Test("What has left its context is passed over")
    func gone() throws {
        try withMusic { context in
            let album = Album(context: context)
            context.delete(album)
            context.processPendingChanges()
            #expect(album.managedObjectContext == nil)
            context.delete(album)
            context.refresh(album, mergeChanges: false)
            #expect(!context.hasChanges)
        }
    }
}
