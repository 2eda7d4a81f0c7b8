import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import RemoteStore
import RemoteStoreTesting
import TestSupport

/// The model of the simulation: notes in folders. A mark tells an object from all others that were ever made.
enum Notebook {
    static func model() -> NSManagedObjectModel {
        let (folder, note) = (NSEntityDescription(name: "Folder"), NSEntityDescription(name: "Note"))
        let notes = NSRelationshipDescription(name: "notes", destination: note, toMany: true)
        let of = NSRelationshipDescription(name: "folder", destination: folder)
        notes.inverse(to: of)
        folder.properties = [NSAttributeDescription(name: "mark", type: .string), notes]
        note.properties = [
            NSAttributeDescription(name: "mark", type: .string), NSAttributeDescription(name: "text", type: .string),
            NSAttributeDescription(name: "color", type: .string), of,
        ]
        return NSManagedObjectModel(entities: [folder, note])
    }

    static func resources(_ saving: Resource.Saving, pageSize: Int?) -> [Resource] {
        let all = Endpoint("all", paging: pageSize.map { .pages(of: $0) } ?? .whole)
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 20)])
        return ["Folder", "Note"].map { Resource($0, endpoints: [all, byID], saving: saving) }
    }
}

/// One program with a cached store, which dies and is started again.
final class SimulatedClient {
    let name: String
    private(set) var generation = 0
    private(set) var store: CachedStore
    private(set) var coordinator: NSPersistentStoreCoordinator
    private(set) var connection: SimulatedConnection
    private let make: (String, URL, CrashPoint) throws -> (CachedStore, NSPersistentStoreCoordinator, SimulatedConnection)
    private let network: SimulatedNetwork
    /// When it dies.
    private(set) var end: CrashPoint
    private var directories: [URL]
    private var dead: [NSPersistentStoreCoordinator] = []

    /// The work that was started and may go on.
    var work: [StartedWork<Void>] = []
    /// What the user has written last, by the mark of a note and the property.
    var written: [String: [String: String]] = [:]
    /// What the user was writing when the process died: it was saved, or it was not.
    var perhaps: Set<String> = []
    /// What the user was about to do.
    private(set) var attempted = ""
    /// The notes that a read has brought before the answer to their insert.
    var echoed: Set<String> = []
    /// The notes that the user has made, and deleted.
    var (made, removed): (Set<String>, Set<String>) = ([], [])
    /// The notes of which the user has given a change up.
    var dropped: Set<String> = []
    /// The highest revision of each value that was shown as the server's.
    var seen: [String: Int64] = [:]

    /// The marks of the notes that were shown when it was checked last.
    var lastShown: Set<String> = []
    /// What was committed when it was checked last: nothing else is shown until the next commit.
    var checked: (generation: Int, commits: Int)?

    /// What the network knows it by.
    var address: String { "\(name)#\(generation)" }

    init(
        _ name: String, in directory: URL, _ network: SimulatedNetwork,
        make: @escaping (String, URL, CrashPoint) throws -> (CachedStore, NSPersistentStoreCoordinator, SimulatedConnection)
    ) throws {
        (self.name, self.make, self.network) = (name, make, network)
        let place = directory.appendingPathComponent("\(name)0")
        directories = [place]
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        end = CrashPoint(place, "\(name)#0", network)
        (store, coordinator, connection) = try make("\(name)#0", place.appendingPathComponent("cache.sqlite"), end)
    }

    /// Dies unless it is dead: what is committed is all that is left, and another one is started with it.
    ///
    /// - Parameter forgetting: Whether the last save is not among it, which is a bug.
    func restart(forgetting: Bool = false) throws {
        end.die()
        dead.append(coordinator)
        generation += 1
        let old = directories[directories.count - 1]
        let place = old.deletingLastPathComponent().appendingPathComponent("\(name)\(generation)")
        try CrashPoint.copy((forgetting ? earlier : nil) ?? end.remains ?? old, to: place)
        directories.append(place)
        (work, earlier) = ([], nil)
        end = CrashPoint(place, address, network)
        (store, coordinator, connection) = try make(address, place.appendingPathComponent("cache.sqlite"), end)
    }

    /// Keeps what there is before a save, which is forgotten when the client dies.
    func keepForForgetting(_ number: Int) throws {
        let current = directories[directories.count - 1]
        let place = current.deletingLastPathComponent().appendingPathComponent("\(name)-before-\(number)")
        try CrashPoint.copy(current, to: place)
        earlier = place
    }
    private var earlier: URL?

    // MARK: What is shown

    struct Shown: Equatable {
        let id: NSManagedObjectID
        let mark: String
        var values: [String: String] = [:]
    }

    private func request(_ entity: String) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.cachePolicy = .cacheOnly
        request.returnsObjectsAsFaults = false
        return request
    }

    /// Returns what a user sees, without asking the server.
    ///
    /// - Parameter folder: The marks of the server's folders, by identifier.
    func shown(folder: [ResourceID: String]) throws -> [Shown] {
        let context = coordinator.context()
        return try context.performAndWait {
            let marks = Dictionary(
                try context.fetch(request("Folder")).map { ($0.objectID, $0.value(forKey: "mark") as? String ?? "?") },
                uniquingKeysWith: { first, _ in first })
            return try context.fetch(request("Note")).map { note in
                var shown = Shown(id: note.objectID, mark: note.value(forKey: "mark") as? String ?? "nil")
                for key in ["text", "color"] { shown.values[key] = note.value(forKey: key) as? String }
                if let id = note.objectIDs(forRelationshipNamed: "folder").first {
                    shown.values["folder"] = try marks[id] ?? store.resourceID(for: id).flatMap { folder[$0] } ?? "?"
                }
                return shown
            }
        }
    }

    /// Returns the mark of a folder; nil where it is not shown.
    func folderMark(_ id: NSManagedObjectID) throws -> String? {
        let context = coordinator.context()
        return try context.performAndWait {
            try context.fetch(request("Folder")).first { $0.objectID == id }?.value(forKey: "mark") as? String
        }
    }

    /// Whether the client takes what it knows under an identifier for a note: it shows it as the server's, or is about to tell it of it.
    func holds(_ mark: String, _ folders: [ResourceID: String]) throws -> Bool {
        let pending = try store.pendingChanges()
        if removed.contains(mark), pending.contains(where: { $0.kind == .delete }) { return true }
        return try shown(folder: folders).contains { note in
            guard note.mark == mark else { return false }
            return try store.resourceID(for: note.id) != nil || pending.contains { $0.objectID == note.id && $0.kind == .insert }
        }
    }

    // MARK: What a user does

    /// Changes something, and saves it. Returns what was done.
    func edit(_ random: inout SeededGenerator, number: Int) throws -> String {
        let context = coordinator.context()
        attempted = "reads"
        var picked = random
        defer { random = picked }
        return try context.performAndWait {
            // What is shown twice, until the answer to its insert has come, is left alone: what was written of it could not be told.
            let byMark = Dictionary(grouping: try context.fetch(request("Note"))) { text($0, "mark") }
            let notes = byMark.values.filter { $0.count == 1 }.map { $0[0] }.sorted { text($0, "mark") < text($1, "mark") }
            let folders = try context.fetch(request("Folder")).sorted { text($0, "mark") < text($1, "mark") }
            var changes: [(String, String, String)] = []
            var done = ""
            let mark = "\(name)\(number)"
            switch notes.isEmpty ? 0 : picked.below(10) {
            case 0...2:
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(mark, forKey: "mark")
                note.setValue(mark, forKey: "text")
                changes.append((mark, "text", mark))
                if picked.chance(0.4) {
                    let folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
                    folder.setValue("f" + mark, forKey: "mark")
                    note.setValue(folder, forKey: "folder")
                    changes.append((mark, "folder", "f" + mark))
                }
                done = "inserts \(mark)"
            case 3:
                let note = notes[picked.below(notes.count)]
                done = "deletes \(text(note, "mark"))"
                removed.insert(text(note, "mark"))
                context.delete(note)
            case 4 where !folders.isEmpty:
                let (note, folder) = (notes[picked.below(notes.count)], folders[picked.below(folders.count)])
                note.setValue(folder, forKey: "folder")
                changes.append((text(note, "mark"), "folder", text(folder, "mark")))
                done = "moves \(text(note, "mark")) to \(text(folder, "mark"))"
            default:
                let note = notes[picked.below(notes.count)]
                let key = picked.chance(0.6) ? "text" : "color"
                note.setValue(mark, forKey: key)
                changes.append((text(note, "mark"), key, mark))
                done = "sets \(key) of \(text(note, "mark")) to \(mark)"
            }
            guard context.hasChanges else { return "does nothing" }
            attempted = done
            try context.save()
            if end.remains != nil {
                for (mark, key, value) in changes {
                    perhaps.insert("\(mark).\(key)=\(value)")
                    if let before = written[mark]?[key] { perhaps.insert("\(mark).\(key)=\(before)") }
                    written[mark]?[key] = nil
                }
                return done + ", and dies of it"
            }
            if done.hasPrefix("inserts") { made.insert(mark) }
            for (mark, key, value) in changes { written[mark, default: [:]][key] = value }
            return done
        }
    }

    private func text(_ object: NSManagedObject, _ key: String) -> String { object.value(forKey: key) as? String ?? "" }

    /// A query for everything of an entity, by a policy.
    func query(_ entity: String, _ policy: CachePolicy) throws -> StoreQuery {
        let context = coordinator.context()
        return try context.performAndWait {
            let request = request(entity)
            request.cachePolicy = policy
            return try context.storeQuery(for: request)
        }
    }
}
