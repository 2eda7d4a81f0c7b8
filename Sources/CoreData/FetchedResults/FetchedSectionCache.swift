internal import Foundation
internal import Logging
internal import Predicates

/// The sections that a fetch has found under a cache name: their names and how many objects each has, in order.
struct CachedSections: Codable, Equatable {
    struct Section: Codable, Equatable {
        let name: String
        let count: Int
    }

    /// What was asked; see ``FetchedSectionCache/fingerprint(of:sectionKeyPath:)``.
    let fingerprint: String
    /// The UUIDs of the stores.
    let stores: [String]
    /// What the stores held, as this run of the program can tell; nil where one of them cannot.
    var state: String?
    /// The same, as every run can tell.
    var lastingState: String?
    var sections: [Section]
}

/// The caches of fetched results controllers, by their names: in memory for this run of the program, in files for the next.
///
/// What a cache spares is reading the section name of every object, for which each has to be read from its store. The fetch itself, with its
/// order, is the store's work and not spared.
// What is known lies in a box with its lock; files are written whole.
final class FetchedSectionCache: Sendable {
    static let shared = FetchedSectionCache()
    private let known = LockedBox<[String: CachedSections]>([:])

    // MARK: What a cache is of

    /// What tells requests apart: everything that has to do with which objects come, in which order and sections. Nil where that cannot be told,
    /// as of a block.
    static func fingerprint(of request: NSFetchRequest<any NSFetchRequestResult>, sectionKeyPath: String?) -> String? {
        guard let entity = request.entity else { return nil }
        var parts = [entity.name ?? "", entity.versionHash.base64EncodedString(), sectionKeyPath.map { "by " + $0 } ?? "-"]
        if let predicate = request.predicate {
            // What can be archived is all there in the archive.
            guard let archive = try? PredicateArchive.data(of: predicate) else { return nil }
            parts.append(SHA2.sha256(archive).base64EncodedString())
        }
        for descriptor in request.sortDescriptors ?? [] {
            if descriptor.hasComparator { return nil }
            parts.append("\(descriptor.ascending ? "+" : "-")\(descriptor.key ?? "self") \(descriptor.textOrder)")
        }
        parts.append("\(request.fetchOffset) \(request.fetchLimit) \(request.includesSubentities)")
        parts += (request.affectedStores ?? []).compactMap(\.identifier)
        return parts.joined(separator: "\n")
    }

    /// What is cached under a name for a request.
    ///
    /// - Throws: code 134060 where this run of the program has used the name for another request to the same stores.
    func sections(named name: String, fingerprint: String, stores: [String]) throws -> CachedSections? {
        if let cached = known.withLock({ $0[name] }) {
            if cached.fingerprint == fingerprint, cached.stores == stores { return cached }
            guard cached.stores == stores else { return nil }
            throw CoreDataError.make(
                NSCoreDataError, "The fetched results cannot use the cache “\(name)”.",
                reason: "It holds the sections of another request: entity, predicate, sort descriptors or section key path differ.",
                next: "Call NSFetchedResultsController.deleteCache(withName:) before the request is changed, or use another name.")
        }
        guard let cached = read(name), cached.fingerprint == fingerprint, cached.stores == stores else { return nil }
        return cached
    }

    /// Keeps what has been found.
    func keep(_ sections: CachedSections, named name: String) {
        known.withLock { $0[name] = sections }
        guard sections.lastingState != nil else { return }
        var written = sections
        // It means nothing to another run.
        written.state = nil
        do {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try JSONEncoder().encode(written).write(to: Self.file(for: name), options: .atomic)
        } catch {
            Log.context.warning("The section cache “\(name)” could not be written; the next run makes the sections anew: \(error)")
        }
    }

    /// Forgets what is cached under a name, or under all.
    func delete(_ name: String?) {
        known.withLock { if let name { $0[name] = nil } else { $0 = [:] } }
        let place = name.map(Self.file(for:)) ?? Self.folder
        guard FileManager.default.fileExists(atPath: place.path) else { return }
        do {
            try FileManager.default.removeItem(at: place)
        } catch {
            Log.context.error("The section cache at \(place.path) could not be deleted: \(error)")
        }
    }

    // MARK: Files

    /// The folder of this program's caches.
    private static var folder: URL {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
        return caches.appendingPathComponent("CoreData/\(ProcessInfo.processInfo.processName)/SectionInfo", isDirectory: true)
    }

    private static func file(for name: String) -> URL {
        let digest = SHA2.sha256(Data(name.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return folder.appendingPathComponent(digest + ".json")
    }

    /// A file that is not there, or no cache, is as none.
    private func read(_ name: String) -> CachedSections? {
        (try? Data(contentsOf: Self.file(for: name))).flatMap { try? JSONDecoder().decode(CachedSections.self, from: $0) }
    }
}

/// What a store's contents are at one time. Two equal states are the same contents.
@_spi(Stores) public struct ContentsState: Equatable, Sendable {
    /// As this run of the program can tell.
    public let current: String
    /// As every run of every program can; nil where that cannot be told.
    public var lasting: String?

    /// Describes contents by texts that no other contents of the store have.
    public init(current: String, lasting: String? = nil) {
        self.current = current
        self.lasting = lasting
    }
}

extension NSPersistentStoreCoordinator {
    /// What all stores hold now; nil where one of them cannot tell.
    var contentsState: ContentsState? {
        var state = (current: [String](), lasting: [String]?([]))
        for store in persistentStores {
            guard let own = (store.interface as? any ContentsTelling)?.contentsState else { return nil }
            state.current.append(own.current)
            state.lasting = own.lasting.flatMap { lasting in state.lasting.map { $0 + [lasting] } }
        }
        return ContentsState(current: state.current.joined(separator: "\n"), lasting: state.lasting?.joined(separator: "\n"))
    }
}
