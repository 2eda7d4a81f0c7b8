internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The way of a store from its version to that of the coordinator's model.
struct StoreJourney {
    let store: StoreVersion
    /// The versions that the program has in bundles.
    let groups: [[KnownVersion]]
    /// The version that the store is of.
    let source: KnownVersion
    /// The version of the coordinator's model.
    let destination: KnownVersion

    /// Determines the version of a store.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - refusal: The reason why it could not be opened; nil if that was not tried.
    /// - Throws: ``StoreNewerThanModelError`` if the program is older than the store, code 134130 if the store's version is unknown, and the errors
    ///   of reading. Nothing is written.
    init(_ store: StoreVersion, refusal: NSError?) throws {
        self.store = store
        let program = store.destination
        if store.isOf(program) {
            (source, destination, groups) = (program, program, [])
            return
        }
        groups = store.versionsOfProgram()
        destination = program.named(among: groups)
        if let known = store.source(among: groups) {
            source = known
            return
        }
        let kept = try store.keptModel()
        if let reason = VersionTrail.reasonForNewerStore(store, kept: kept, in: groups) {
            throw Self.newerStore(store, kept: kept, destination, reason, refusal)
        }
        guard let kept else { throw Self.unknown(store, groups, destination, refusal) }
        source = kept
    }

    /// Whether the store can be opened as it is.
    var isAtItsEnd: Bool { source.checksum == destination.checksum && store.isOf(destination.model) }

    /// Returns the steps to take.
    ///
    /// - Parameter permitsMissingValues: Whether values that become required need no default; nil to follow the options.
    /// - Throws: Code 134130 if the store's version is not among the program's, and values would be lost: the store may be that of a newer program.
    func steps(_ permitsMissingValues: Bool?) throws -> [VersionStep] {
        try steps(by: MigrationRoute(store, in: groups, permitsMissingValues: permitsMissingValues))
    }

    /// The steps of a route.
    func steps(by route: MigrationRoute) throws -> [VersionStep] {
        let steps = try route.steps(from: source, to: destination)
        let isShipped = Array(groups.joined()).first(for: destination) != nil
        if case .store = source.origin, isShipped, let dropped = try dropped(by: steps.first), !dropped.isEmpty { throw wouldLose(dropped) }
        return steps
    }

    /// Returns the parts of the store that an inferred step drops; nil for a step of another kind.
    private func dropped(by step: VersionStep?) throws -> [String]? {
        switch step?.way {
        case .store(_, let mapping)?: mapping.dropped
        case .inferred?:
            try InferredMapping.infer(from: source.model, to: step?.destination.model ?? destination.model, permitsMissingValues: true)
                .dropped
        case .mappingModel?, nil: nil
        }
    }

    // MARK: Errors

    /// Returns the error for a program that is older than a store.
    static func newerStore(
        _ store: StoreVersion, kept: KnownVersion?, _ destination: KnownVersion, _ reason: String, _ refusal: NSError?
    ) -> NSError {
        let identifiers = (store.metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []).filter { !$0.isEmpty }
        let name = identifiers.isEmpty ? kept?.name ?? "with the checksum \(store.checksum)" : "“\(identifiers.joined(separator: ", "))”"
        return CoreDataError.make(
            StoreNewerThanModelError,
            "The store at \(store.url.path) was written by a newer version of the program.",
            reason: "It is of the version \(name), the program of the version \(destination.name). \(reason)",
            next: "Open it with the newer program; its files have been left as they are.", cause: refusal,
            info: [
                NSFilePathErrorKey: store.url.path, "NSDifferingEntities": store.entitiesDiffering(from: destination),
                "storeVersionChecksum": store.checksum, "modelVersionChecksum": destination.publicChecksum,
            ])
    }

    private func wouldLose(_ dropped: [String]) -> NSError {
        CoreDataError.make(
            NSMigrationMissingSourceModelError,
            "The store at \(store.url.path) cannot be migrated: the program does not have the version that it was written with, and values would be "
                + "lost.",
            reason: "These are in the store only: \(dropped.sorted().joined(separator: ", ")). "
                + store.nearestSentence(among: groups.flatMap { $0 } + [destination], kept: source),
            next: "Open it with the program that wrote it, or add that version to the bundle of the model.",
            info: [
                NSFilePathErrorKey: store.url.path, "metadata": store.metadata,
                "NSDifferingEntities": store.entitiesDiffering(from: destination),
            ])
    }

    private static func unknown(
        _ store: StoreVersion, _ groups: [[KnownVersion]], _ destination: KnownVersion, _ refusal: NSError?
    ) -> NSError {
        let versions = groups.flatMap { $0 } + [destination]
        return CoreDataError.make(
            NSMigrationMissingSourceModelError,
            "The store at \(store.url.path) cannot be migrated: the model it was written with is missing.",
            reason: store.nearestSentence(among: versions, kept: nil),
            next: "Add the version that the store was written with to the bundle of the model.", cause: refusal,
            info: [
                NSFilePathErrorKey: store.url.path, "metadata": store.metadata,
                "NSDifferingEntities": store.nearest(among: versions)?.differing ?? [],
            ])
    }
}

extension StoreVersion {
    /// Returns a runner of the store's steps, with a progress that has a unit for each.
    func stepRunner(for count: Int, in groups: [[KnownVersion]]) -> StepRunner {
        // A new progress becomes a part of the thread's current one.
        let progress = opening.progress ?? Progress(totalUnitCount: Int64(count))
        progress.totalUnitCount = Int64(count)
        return StepRunner(opening: opening, url: url, groups: groups, progress: progress)
    }

    /// The checksum of the store's version, from its metadata.
    var checksum: String {
        metadata["NSStoreModelVersionChecksumKey"] as? String
            ?? NSManagedObjectModel.versionChecksum(of: metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
    }
}
