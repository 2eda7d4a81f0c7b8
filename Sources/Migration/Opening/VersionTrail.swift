internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// The former versions of a store, in its metadata: an older program recognizes by them that it is older.
///
/// The checksums are over this framework's hashes, which are the same in whatever form a version was read, or over those of Apple's tools for a
/// version that would otherwise have to be read.
enum VersionTrail {
    /// The metadata key of the checksums.
    static let key = "OpenCoreDataEarlierVersions"

    /// Returns the checksums in metadata.
    static func checksums(in metadata: [String: Any]) -> [String] { metadata[key] as? [String] ?? [] }

    /// Adds the version that a store was migrated from, and those that precede its new one in the bundle, to the metadata of the store.
    ///
    /// The metadata of a store whose class cannot set them stay unchanged, which is logged.
    static func extend(
        of opening: StoreOpening, at url: URL, from source: KnownVersion, to destination: KnownVersion, in groups: [[KnownVersion]]
    ) {
        do {
            var metadata = try opening.storeClass.metadataForPersistentStore(with: url)
            var trail = checksums(in: metadata)
            var earlier = [source.checksum]
            for group in groups {
                guard let place = group.firstIndex(for: destination) else { continue }
                earlier += group[..<place].map(\.cheapestChecksum)
            }
            trail = trail.filter { !earlier.contains($0) } + earlier
            trail.removeAll { $0 == destination.checksum || destination.checksums.contains($0) }
            if trail == checksums(in: metadata) { return }
            var seen: Set<String> = []
            metadata[key] = trail.filter { seen.insert($0).inserted }
            try opening.storeClass.setMetadata(metadata, forPersistentStoreAt: url)
        } catch {
            Log.store.notice("The store at \(url.path) does not note which version it came from. \(error.localizedDescription)")
        }
    }

    /// Returns the reason why the program is older than a store of an unknown version; nil if nothing indicates that.
    ///
    /// - Parameters:
    ///   - kept: The model that the store keeps of itself.
    ///   - groups: The versions that the program has in bundles.
    static func reasonForNewerStore(_ store: StoreVersion, kept: KnownVersion?, in groups: [[KnownVersion]]) -> String? {
        let program = store.destination
        let trail = Set(checksums(in: store.metadata))
        if trail.contains(program.checksum) || !trail.isDisjoint(with: program.checksums) {
            return "The store was migrated from this program's version."
        }
        if let number = number(store.metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []),
            let own = self.number(program.model.versionIdentifiers.map { "\($0.base)" }), number != own
        {
            return own.lexicographicallyPrecedes(number) ? "The version identifier of the store is the higher one." : nil
        }
        let isShipped = Array(groups.joined()).first(for: program) != nil
        if isShipped, let kept, kept.checksum != program.checksum, kept.model.hasEverything(of: program.model) {
            return "The store has everything that this program's version has, and more."
        }
        return nil
    }

    /// Returns the parts of the only version identifier; nil if it is not a number such as “2” or “v1.10.1”.
    private static func number(_ identifiers: [String]) -> [Int]? {
        let identifiers = identifiers.filter { !$0.isEmpty }
        guard identifiers.count == 1 else { return nil }
        var text = Substring(identifiers[0])
        if let first = text.first, first == "v" || first == "V" { text = text.dropFirst() }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard !parts.contains(nil) else { return nil }
        var numbers = parts.compactMap { $0 }
        while numbers.last == 0 { numbers.removeLast() }
        return numbers
    }
}
