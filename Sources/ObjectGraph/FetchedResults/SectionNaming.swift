internal import Foundation

/// Determines the section names of fetched objects: from the cache if its contents are current, otherwise one by one.
///
/// Created before a fetch and used after it. Use it on the context's queue.
struct SectionNaming {
    private let context: NSManagedObjectContext
    private let keyPath: String?
    /// The cache entry to write; nil if there is no cache.
    private let cache: (name: String, fingerprint: String, stores: [String])?
    private let stateBefore: ContentsState?
    private let cached: CachedSections?

    /// Looks up the cache.
    ///
    /// - Throws: Code 134060 if the name is in use for another request.
    init(
        _ context: NSManagedObjectContext, _ request: NSFetchRequest<any NSFetchRequestResult>, sectionKeyPath: String?, cacheName: String?
    ) throws {
        self.context = context
        keyPath = sectionKeyPath
        // A child sees the unsaved changes of its parent, which no store knows.
        guard let cacheName, context.parent == nil, let coordinator = context.persistentStoreCoordinator,
            let fingerprint = FetchedSectionCache.fingerprint(of: request, sectionKeyPath: sectionKeyPath)
        else {
            (cache, stateBefore, cached) = (nil, nil, nil)
            return
        }
        let stores = coordinator.persistentStores.compactMap(\.identifier)
        cache = (cacheName, fingerprint, stores)
        cached = try FetchedSectionCache.shared.sections(named: cacheName, fingerprint: fingerprint, stores: stores)
        stateBefore = context.hasChanges ? nil : coordinator.contentsState
    }

    /// Returns the cached section names of the objects, if the stores are unchanged since they were cached and nothing is unsaved.
    ///
    /// - Parameter name: Returns the name of an object's section; called for the first and last object of each section as a check.
    func cachedNames(of objects: [NSManagedObject], _ name: (NSManagedObject) throws -> String) rethrows -> CachedNames? {
        guard keyPath != nil, let cached, let stateBefore, isUnchanged,
            cached.state == stateBefore.current || (cached.lastingState != nil && cached.lastingState == stateBefore.lasting),
            cached.sections.reduce(0, { $0 + $1.count }) == objects.count
        else { return nil }
        var index = 0
        for section in cached.sections where section.count > 0 {
            let last = index + section.count - 1
            guard try name(objects[index]) == section.name, try index == last || name(objects[last]) == section.name else { return nil }
            index += section.count
        }
        return CachedNames(cached.sections)
    }

    /// Caches the sections of the contents.
    func keep(_ contents: FetchedContents) {
        guard let cache else { return }
        var kept = CachedSections(fingerprint: cache.fingerprint, stores: cache.stores, state: nil, lastingState: nil, sections: [])
        if keyPath != nil, let stateBefore, isUnchanged, isAsStored(contents) {
            kept.state = stateBefore.current
            kept.lastingState = stateBefore.lasting
            kept.sections = contents.sections.nodes.map { CachedSections.Section(name: $0.name, count: $0.count) }
        }
        if let cached, cached.sections == kept.sections, cached.state == kept.state, cached.lastingState == kept.lastingState { return }
        FetchedSectionCache.shared.keep(kept, named: cache.name)
    }

    /// Whether no changes were made since the fetch began.
    private var isUnchanged: Bool { !context.hasChanges && context.persistentStoreCoordinator?.contentsState == stateBefore }

    /// Returns whether the objects, and the objects that their section names read, have their stored values: a context may have older ones.
    private func isAsStored(_ contents: FetchedContents) -> Bool {
        let keys = keyPath?.split(separator: ".").map(String.init) ?? []
        return contents.objects.nodes.allSatisfy { node in
            var object = node.object
            guard object.isAsStored else { return false }
            for key in keys.dropLast() {
                guard let relationship = object.relationship(named: key), !relationship.isToMany else { return false }
                guard let next = object.toOne(relationship) else { break }
                guard next.isAsStored else { return false }
                object = next
            }
            return true
        }
    }
}

extension NSManagedObject {
    fileprivate var isAsStored: Bool {
        guard let snapshot else { return isFault }
        guard let store = objectID.persistentStore, let row = store.withRowAccess({ $0.knownRow(for: objectID) }) else {
            return false
        }
        return row.version == snapshot.version
    }
}

/// The section names of consecutive objects.
struct CachedNames {
    private var sections: ArraySlice<CachedSections.Section>
    private var rest: Int

    init(_ sections: [CachedSections.Section]) {
        self.sections = sections[...]
        rest = sections.first?.count ?? 0
    }

    /// Returns the section name of the next object.
    mutating func next() -> String {
        while rest == 0 {
            sections.removeFirst()
            rest = sections.first.known("the sections have as many objects as there are").count
        }
        rest -= 1
        return sections.first.known("the sections have as many objects as there are").name
    }
}
