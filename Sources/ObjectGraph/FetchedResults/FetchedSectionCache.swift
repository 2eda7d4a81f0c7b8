internal import Foundation
internal import Logging
internal import Platform
internal import Predicates

/// The sections of a fetch that are cached under a name: their names and object counts, in order.
struct CachedSections: Codable, Equatable {
    struct Section: Codable, Equatable {
        let name: String
        let count: Int
    }

    /// The fingerprint of the request; see ``FetchedSectionCache/fingerprint(of:sectionKeyPath:)``.
    let fingerprint: String
    /// The UUIDs of the stores.
    let stores: [String]
    /// The state of the stores within this run of the program; nil if a store cannot determine it.
    var state: String?
    /// The state of the stores across runs.
    var lastingState: String?
    var sections: [Section]
}

/// The section caches of fetched results controllers, by name: in memory for this run of the program, in files for the next.
///
/// A cache saves reading the section name of every object, for which each object has to be read from its store. It does not save the fetch itself,
/// with its order, which the store does.
// The known sections are in a `LockedBox`; files are written as a whole.
final class FetchedSectionCache: Sendable {
    static let shared = FetchedSectionCache()
    private let known = LockedBox<[String: CachedSections]>([:])

    // MARK: Keys

    /// Returns a string that identifies a request: its entity, predicate, order and sections. Returns nil if these cannot be identified, as for a
    /// block predicate.
    static func fingerprint(of request: NSFetchRequest<any NSFetchRequestResult>, sectionKeyPath: String?) -> String? {
        guard let entity = request.entity else { return nil }
        var parts = [entity.name ?? "", entity.versionHash.base64EncodedString(), sectionKeyPath.map { "by " + $0 } ?? "-"]
        if let predicate = request.predicate {
            // An archive identifies everything that can be archived.
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

    /// Returns the sections cached under a name for a request.
    ///
    /// - Throws: Code 134060 if this run of the program has used the name for another request to the same stores.
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

    /// Caches sections.
    func keep(_ sections: CachedSections, named name: String) {
        known.withLock { $0[name] = sections }
        guard sections.lastingState != nil else { return }
        var written = sections
        // It is meaningless to another run.
        written.state = nil
        do {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try JSONEncoder().encode(written).write(to: Self.file(for: name), options: .atomic)
        } catch {
            Log.context.warning("The section cache “\(name)” could not be written; the next run computes the sections again: \(error)")
        }
    }

    /// Deletes the cache with a name, or all caches.
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

    /// The directory of this program's caches.
    private static var folder: URL {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
        return caches.appendingPathComponent("CoreData/\(ProcessInfo.processInfo.processName)/SectionInfo", isDirectory: true)
    }

    private static func file(for name: String) -> URL {
        let digest = SHA2.sha256(Data(name.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return folder.appendingPathComponent(digest + ".json")
    }

    /// Returns the sections in a file; nil if the file does not exist or is not a cache.
    private func read(_ name: String) -> CachedSections? {
        (try? Data(contentsOf: Self.file(for: name))).flatMap { try? JSONDecoder().decode(CachedSections.self, from: $0) }
    }
}

extension NSPersistentStoreCoordinator {
    /// The state of all stores; nil if a store cannot determine it.
    var contentsState: ContentsState? {
        var state = (current: [String](), lasting: [String]?([]))
        for store in persistentStores {
            guard let own = (store.interface as? any ContentsStateProviding)?.contentsState else { return nil }
            state.current.append(own.current)
            state.lasting = own.lasting.flatMap { lasting in state.lasting.map { $0 + [lasting] } }
        }
        return ContentsState(current: state.current.joined(separator: "\n"), lasting: state.lasting?.joined(separator: "\n"))
    }
}
