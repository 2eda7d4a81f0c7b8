import CoreData
import TestSupport

/// Random programs over two contexts of one store: what the editor and batch requests change, the viewer merges, and its lists follow. After each step
/// a list is what a fresh fetch in its context finds.
package final class ListProgram {
    var random: SeededGenerator
    private let viewer: NSManagedObjectContext
    /// The parent of the viewer; nil where it has none.
    private let parent: NSManagedObjectContext?
    private let editor: NSManagedObjectContext
    private let hasBatches: Bool
    private var number = 0
    /// What was done, for the message of a failure.
    private var steps: [String] = []

    /// Runs programs over a store, and prints the seed.
    ///
    /// - Parameters:
    ///   - isChild: Whether the lists are those of a child context.
    ///   - hasBatches: Whether the store executes batch requests.
    ///   - seconds: For how long programs are begun.
    /// - Returns: What a list showed that a fresh fetch does not find, with what was done; nil where all is well.
    package static func run(_ store: ProgramStore, isChild: Bool, hasBatches: Bool = true, seconds: Double) throws -> String? {
        let base = TestSeed.current(for: "Lists after merges, \(store.name), child \(isChild)")
        let model = ListModel.make()
        let kept = store.isKept ? try store.coordinators(model) : nil
        defer { if let kept { store.discard(kept) } }
        for round in TestRounds(seconds: seconds, atLeast: 8) {
            let coordinators = try kept ?? store.coordinators(model)
            defer { if kept == nil { store.discard(coordinators) } }
            if kept != nil { try clear(coordinators[0]) }
            let seed = base &+ UInt64(round)
            let program = ListProgram(coordinators, isChild: isChild, hasBatches: hasBatches, seed: seed)
            if let difference = try program.run() { return "seed \(seed): \(difference)" }
        }
        return nil
    }

    private static func clear(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for name in ["Track", "Tag", "Album", "Band"] {
                _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: name)))
            }
        }
    }

    private init(_ coordinators: [NSPersistentStoreCoordinator], isChild: Bool, hasBatches: Bool, seed: UInt64) {
        self.hasBatches = hasBatches
        random = SeededGenerator(seed: seed)
        func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        editor = context(coordinators[0])
        let above = context(coordinators[1])
        if isChild {
            parent = above
            viewer = NSManagedObjectContext(.privateQueue)
            viewer.parent = above
        } else {
            (parent, viewer) = (nil, above)
        }
        for context in [editor, viewer, parent].compactMap({ $0 }) { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
    }

    /// Keeps a controller that is followed.
    private final class Follower: NSFetchedResultsControllerDelegate {
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
    }

    private func run() throws -> String? {
        try editor.performAndWait {
            for _ in 0..<12 { try edit(editor, "first") }
            try editor.save()
        }
        let follower = Follower()
        let controllers = try (0..<3).map { _ in
            let (request, sectionKeyPath) = request()
            return try viewer.performAndWait {
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: viewer, sectionNameKeyPath: sectionKeyPath, cacheName: nil)
                controller.delegate = follower
                try controller.performFetch()
                return controller
            }
        }
        for _ in 0..<6 {
            try step()
            for controller in controllers {
                if let difference = try viewer.performAndWait({ try difference(of: controller) }) { return difference }
            }
        }
        return nil
    }

    private func difference(of controller: NSFetchedResultsController<NSManagedObject>) throws -> String? {
        let request = controller.fetchRequest
        func titles(_ objects: [NSManagedObject]) -> [String] { objects.compactMap { $0.value(forKey: "title") as? String } }
        let shown = titles(controller.fetchedObjects ?? [])
        let fresh = titles(try viewer.fetch(request))
        if controller.trackingError == nil, shown == fresh { return nil }
        let place = "\(request.predicate?.description ?? ""), \(request.sortDescriptors ?? []), limit \(request.fetchLimit), "
        let kinds = "pending \(request.includesPendingChanges), subentities \(request.includesSubentities), "
        let form = kinds + "sections \(controller.sectionNameKeyPath ?? "-")"
        let error = controller.trackingError.map { ", error \($0)" } ?? ""
        return "\(place)\(form), \(steps): \(shown), and not \(fresh)\(error)"
    }

    // MARK: Requests

    private func request() -> (NSFetchRequest<NSManagedObject>, sectionKeyPath: String?) {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
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
        request.includesPendingChanges = random.chance(0.85)
        request.includesSubentities = random.chance(0.85)
        return (request, first != nil && random.chance(0.5) ? first : nil)
    }

    // MARK: Changes

    /// Makes a change, saves it, and has the others merge it.
    private func step() throws {
        if hasBatches, random.chance(0.2) { return try batch() }
        let isOwn = random.chance(0.2)
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
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: ids], into: [editor, parent, viewer].compactMap { $0 })
    }

    private func all(_ name: String, by key: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: name)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request)
    }

    private func new(_ name: String, _ context: NSManagedObjectContext, _ values: [String: Any?]) {
        let object = NSManagedObject(entity: NSEntityDescription.entity(forEntityName: name, in: context)!, insertInto: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
    }

    private func edit(_ context: NSManagedObjectContext, _ who: String) throws {
        let bands = try all("Band", by: "name", context)
        let albums = try all("Album", by: "title", context)
        let tracks = try all("Track", by: "title", context)
        let (band, album, track) = (
            bands.randomElement(using: &random), albums.randomElement(using: &random), tracks.randomElement(using: &random)
        )
        let (year, seconds) = (1999 + random.below(5), random.below(100))
        let rating = random.chance(0.3) ? nil : Double(random.below(6))
        let name = ["A", "B", "C", "BB"].randomElement(using: &random)!
        let kind = random.below(14)
        steps.append("\(who) \(kind)")
        switch kind {
        case 0, 1:
            number += 1
            let title = "\(random.below(1000))-\(number)"
            new(
                random.chance(0.2) ? "Single" : "Album", context, ["title": title, "year": year, "rating": rating, "band": band])
        case 2: album?.setValue(rating, forKey: "rating")
        case 3: album?.setValue(year, forKey: "year")
        case 4, 5: album?.setValue(random.chance(0.2) ? nil : band, forKey: "band")
        case 6: band?.setValue(name, forKey: "name")
        case 7 where bands.count < 4: new(random.chance(0.3) ? "Duo" : "Band", context, ["name": name])
        case 7: if let band, random.chance(0.5) { context.delete(band) }
        case 8, 9:
            number += 1
            new("Track", context, ["title": "\(number)", "seconds": seconds, "album": album])
        case 10: track?.setValue(seconds, forKey: "seconds")
        case 11: track?.setValue(random.chance(0.3) ? nil : album, forKey: "album")
        case 12: if let track, random.chance(0.5) { context.delete(track) } else if let album { context.delete(album) }
        default:
            let label = random.chance(0.5) ? "x" : "y"
            new("Tag", context, ["label": label, "albums": album.map { Set([$0]) } ?? []])
        }
    }
}
