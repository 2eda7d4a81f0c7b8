import CoreData
import Foundation
import RandomPrograms
import TestSupport
import Testing

/// A store under the lists.
private enum FollowedStore: String, CaseIterable, CustomStringConvertible {
    case memory, sqlite
    var description: String { rawValue }
}

/// Two contexts of one store: what the editor and batch requests change, the viewer merges, and its lists follow.
private final class FollowedProgram {
    var random: SeededGenerator
    let coordinator: NSPersistentStoreCoordinator
    let viewer: NSManagedObjectContext
    /// The parent of the viewer; nil where it has none.
    let parent: NSManagedObjectContext?
    let editor: NSManagedObjectContext
    private let folder: ScratchFolder
    private var number = 0
    /// What was done, for the message of a failure.
    private(set) var steps: [String] = []

    init(_ store: FollowedStore, isChild: Bool, seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        folder = try ScratchFolder("followed")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        switch store {
        case .memory: try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        case .sqlite:
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("music.sqlite"),
                options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
        }
        editor = Music.context(coordinator)
        if isChild {
            let above = Music.context(coordinator)
            parent = above
            viewer = NSManagedObjectContext(.privateQueue)
            viewer.parent = above
        } else {
            parent = nil
            viewer = Music.context(coordinator)
        }
        for context in [editor, viewer, parent].compactMap({ $0 }) { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        folder.remove()
    }

    // MARK: Requests

    func request() -> (NSFetchRequest<Album>, sectionKeyPath: String?) {
        let request = NSFetchRequest<Album>(entityName: "Album")
        let formats = [
            "TRUEPREDICATE", "rating > 2", "rating == nil OR year < 2002", "band.name == 'A'", "band.name BEGINSWITH 'B' OR year < 2002",
            "ANY tracks.seconds > 50", "tracks.@count > 1", "SUBQUERY(tracks, $t, $t.seconds > 50).@count > 0", "band == nil",
            "NOT (band.name IN {'A', 'C'}) AND rating > 1", "ANY tags.label == 'x'", "band.albums.@count > 2",
        ]
        request.predicate = NSPredicate(format: formats.randomElement(using: &random)!)
        let title = NSSortDescriptor(key: "title", ascending: random.chance(0.5))
        let first = ["year", "band.name", nil, "rating"].randomElement(using: &random)!
        let order = first.map { NSSortDescriptor(key: $0, ascending: random.chance(0.5)) }
        request.sortDescriptors = [order, title].compactMap { $0 }
        if random.chance(0.3) {
            request.fetchLimit = 1 + random.below(5)
            if random.chance(0.4) { request.fetchOffset = random.below(3) }
        }
        return (request, first != nil && random.chance(0.5) ? first : nil)
    }

    // MARK: Changes

    /// Makes a change, saves it, and has the others merge it.
    func step() throws {
        let isBatch = random.chance(0.2)
        let isOwn = random.chance(0.2)
        if isBatch { return try batch() }
        // A child merges what its parent saves, also where that is its own: only then do stores find it by related objects.
        let (writer, others) = isOwn ? (viewer, parent == nil ? [editor] : [editor, viewer]) : (editor, [viewer])
        let saved = try writer.performAndWait { () -> [AnyHashable: Any]? in
            nonisolated(unsafe) var told: [AnyHashable: Any]?
            for _ in 0...random.below(3) { try edit(writer, isOwn ? "viewer" : "editor") }
            let root = isOwn ? parent ?? viewer : editor
            let token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: root, queue: nil
            ) { told = $0.userInfo }
            defer { NotificationCenter.default.removeObserver(token) }
            try writer.save()
            if isOwn, let parent { try parent.performAndWait { try parent.save() } }
            return told
        }
        guard let saved else { return }
        merge(saved, into: others)
    }

    private func merge(_ saved: [AnyHashable: Any], into others: [NSManagedObjectContext]) {
        let info: [AnyHashable: Any] = [
            NSInsertedObjectsKey: saved[NSInsertedObjectIDsKey] as Any, NSUpdatedObjectsKey: saved[NSUpdatedObjectIDsKey] as Any,
            NSDeletedObjectsKey: saved[NSDeletedObjectIDsKey] as Any,
        ]
        let contexts = others.contains { $0 === viewer } ? others + [parent].compactMap { $0 } : others
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: info, into: contexts)
    }

    private func batch() throws {
        let request: NSPersistentStoreRequest
        let key: String
        switch random.below(3) {
        case 0:
            let update = NSBatchUpdateRequest(entityName: "Album")
            update.predicate = NSPredicate(format: "year >= %d", 1999 + random.below(5))
            update.propertiesToUpdate = random.chance(0.5) ? ["year": 1999 + random.below(5)] : ["rating": Double(random.below(6))]
            update.resultType = .updatedObjectIDsResultType
            (request, key) = (update, NSUpdatedObjectsKey)
        case 1:
            let update = NSBatchUpdateRequest(entityName: "Track")
            update.predicate = NSPredicate(format: "seconds < %d", random.below(100))
            update.propertiesToUpdate = ["seconds": random.below(100)]
            update.resultType = .updatedObjectIDsResultType
            (request, key) = (update, NSUpdatedObjectsKey)
        default:
            let found = NSFetchRequest<any NSFetchRequestResult>(entityName: random.chance(0.5) ? "Album" : "Track")
            found.predicate = NSPredicate(format: "title ENDSWITH %@", "\(random.below(10))")
            let delete = NSBatchDeleteRequest(fetchRequest: found)
            delete.resultType = .resultTypeObjectIDs
            (request, key) = (delete, NSDeletedObjectsKey)
        }
        steps.append("\(request)")
        let ids = try editor.performAndWait { () -> [NSManagedObjectID] in
            let result = try editor.execute(request)
            return ((result as? NSBatchUpdateResult)?.result ?? (result as? NSBatchDeleteResult)?.result) as? [NSManagedObjectID] ?? []
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [key: ids], into: [editor, parent, viewer].compactMap { $0 })
    }

    private func all<Object: NSManagedObject>(_ name: String, _ context: NSManagedObjectContext) throws -> [Object] {
        let request = NSFetchRequest<Object>(entityName: name)
        request.sortDescriptors = [NSSortDescriptor(key: name == "Band" ? "name" : name == "Tag" ? "label" : "title", ascending: true)]
        return try context.fetch(request)
    }

    func edit(_ context: NSManagedObjectContext, _ who: String) throws {
        let bands: [Band] = try all("Band", context)
        let albums: [Album] = try all("Album", context)
        let tracks: [NSManagedObject] = try all("Track", context)
        let (band, album, track) = (
            bands.randomElement(using: &random), albums.randomElement(using: &random), tracks.randomElement(using: &random)
        )
        let kind = random.below(14)
        steps.append("\(who) \(kind)")
        switch kind {
        case 0, 1:
            let new = Album(context: context)
            number += 1
            new.title = "\(random.below(1000))-\(number)"
            new.year = Int16(1999 + random.below(5))
            new.rating = random.chance(0.3) ? nil : Double(random.below(6))
            new.band = band
        case 2: album?.rating = random.chance(0.3) ? nil : Double(random.below(6))
        case 3: album?.year = Int16(1999 + random.below(5))
        case 4, 5: album?.band = random.chance(0.2) ? nil : band
        case 6: band?.name = ["A", "B", "C", "BB"].randomElement(using: &random)!
        case 7 where bands.count < 4:
            let new = Band(context: context)
            new.name = ["A", "B", "C", "BB"].randomElement(using: &random)!
        case 7: if let band, random.chance(0.5) { context.delete(band) }
        case 8, 9:
            let new = NSManagedObject(entity: NSEntityDescription.entity(forEntityName: "Track", in: context)!, insertInto: context)
            number += 1
            new.setValue("\(number)", forKey: "title")
            new.setValue(random.below(100), forKey: "seconds")
            new.setValue(album, forKey: "album")
        case 10: track?.setValue(random.below(100), forKey: "seconds")
        case 11: track?.setValue(random.chance(0.3) ? nil : album, forKey: "album")
        case 12: if let track, random.chance(0.5) { context.delete(track) } else if let album { context.delete(album) }
        default:
            let new = Tag(context: context)
            new.label = random.chance(0.5) ? "x" : "y"
            album?.tags.insert(new)
        }
    }
}

@Suite("Lists after merges") struct FollowedResultsTests {
    @Test(
        "After each merge and each save, a controller has what a fresh fetch finds, whoever has changed what",
        arguments: FollowedStore.allCases, [false, true])
    fileprivate func followed(_ store: FollowedStore, isChild: Bool) throws {
        let base = TestSeed.current(for: "Lists after merges, \(store), child \(isChild)")
        for round in TestRounds(seconds: 2, atLeast: 8) {
            let seed = base &+ UInt64(round)
            let program = try FollowedProgram(store, isChild: isChild, seed: seed)
            try program.editor.performAndWait {
                for _ in 0..<12 { try program.edit(program.editor, "first") }
                try program.editor.save()
            }
            let lists = (0..<3).map { _ in program.request() }
            let (controllers, listeners) = try program.viewer.performAndWait {
                () -> ([NSFetchedResultsController<Album>], [ResultsListener]) in
                var (controllers, listeners) = ([NSFetchedResultsController<Album>](), [ResultsListener]())
                for (request, sectionKeyPath) in lists {
                    let controller = NSFetchedResultsController(
                        fetchRequest: request, managedObjectContext: program.viewer, sectionNameKeyPath: sectionKeyPath, cacheName: nil)
                    let listener = ResultsListener()
                    controller.delegate = listener
                    try controller.performFetch()
                    controllers.append(controller)
                    listeners.append(listener)
                }
                return (controllers, listeners)
            }
            for _ in 0..<6 {
                try program.step()
                try program.viewer.performAndWait {
                    for controller in controllers {
                        let request = controller.fetchRequest
                        let fresh = try program.viewer.fetch(request).map(\.title)
                        let place =
                            "seed \(seed): \(request.predicate?.description ?? ""), \(request.sortDescriptors ?? []), limit \(request.fetchLimit), sections \(controller.sectionNameKeyPath ?? "-"), \(program.steps)"
                        try #require(controller.trackingError == nil, "\(place)")
                        let shown = try #require(controller.fetchedObjects).map(\.title)
                        try #require(shown == fresh, "\(place): \(shown), and not \(fresh)")
                    }
                }
            }
            withExtendedLifetime(listeners) {}
            try program.close()
        }
    }
}
