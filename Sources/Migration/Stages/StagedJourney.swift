internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// The way of a store through the stages of a migration.
struct StagedJourney {
    let store: StoreVersion
    let manager: NSStagedMigrationManager
    /// The versions that the program has in bundles.
    let groups: [[KnownVersion]]
    let destination: KnownVersion
    let path: StagePath
    /// The place of the coordinator's version.
    let end: Int

    /// A stretch of the path.
    enum Part {
        /// A step that is inferred.
        case step(VersionStep, NSMigrationStage?)
        /// A stage with handlers of the program.
        case custom(VersionStep, NSCustomMigrationStage)
    }

    /// - Throws: Code 134504 if the coordinator's version is not among those of the stages, or a model is missing; 134505 for a store without version
    ///   hashes.
    init(_ store: StoreVersion, by manager: NSStagedMigrationManager) throws {
        (self.store, self.manager) = (store, manager)
        groups = store.versionsOfProgram()
        destination = store.destination.named(among: groups)
        var versions = [destination] + groups.joined()
        if let kept = try store.keptModel(), store.isOf(kept.model) { versions.append(kept) }
        path = try StagePath(manager.stages, among: versions, configuration: store.opening.configuration)
        guard let end = path.place(of: destination) else {
            throw CoreDataError.make(
                NSManagedObjectModelReferenceNotFoundError,
                "Cannot use staged migration with an unknown coordinator model version.",
                reason: "The coordinator's model, \(destination.name) (\(destination.publicChecksum)), is none of the stages' versions: "
                    + "\(path.points.map(\.checksum).joined(separator: ", ")).",
                next: "Let the last stage end with the version of the coordinator's model.")
        }
        self.end = end
        guard store.metadata[NSStoreModelVersionHashesKey] != nil else {
            throw CoreDataError.make(
                NSStagedMigrationFrameworkVersionMismatchError, "The store at \(store.url.path) cannot be migrated in stages.",
                reason: "Its metadata have no version hashes.", next: "Open it once with the model it was written with.")
        }
    }

    /// Whether the store can be opened as it is.
    var isAtItsEnd: Bool { store.isOf(destination.model) && UnfinishedStage(store.metadata) == nil }

    /// Returns the remaining parts of the way.
    ///
    /// - Throws: Code 134504 if the store's version is not among those of the stages and has no safe way to the nearest, 134506 if it comes after the
    ///   coordinator's, ``StoreNewerThanModelError`` if the program is older; 134190 for a step that cannot be inferred.
    ///
    /// - Parameter permitsMissingValues: Whether values that become required need no default; nil to follow the options.
    func parts(_ permitsMissingValues: Bool?) throws -> [Part] {
        let route = MigrationRoute(store, in: groups, permitsMissingValues: permitsMissingValues)
        if let unfinished = UnfinishedStage(store.metadata) { return try parts(after: unfinished, route) }
        guard let start = path.place(of: store) else { return try partsOfUnknown(route) }
        guard start <= end else { throw backward(from: path.points[start]) }
        let source = try path.points[start].version ?? store.keptModel()
        guard let source else { throw missing(path.points[start]) }
        return try parts(from: start, as: source, route)
    }

    private func parts(from start: Int, as first: KnownVersion, _ route: MigrationRoute) throws -> [Part] {
        var parts: [Part] = []
        var (place, current) = (start, first)
        while place < end {
            let next = place + 1
            // The store may be read as an Apple hash only; the stage's own model begins its step.
            guard let version = next == end ? destination : path.points[next].version else {
                guard path.points[next...end].contains(where: { $0.version != nil }) else { throw missing(path.points[next]) }
                try path.checkPassing(over: next)
                Log.store.notice(
                    "The version with the checksum \(path.points[next].checksum) is passed over: the program does not have it.")
                place = next
                continue
            }
            let step = VersionStep(source: current, destination: version, way: try route.inferredWay(from: current, to: version))
            if let stage = path.custom(at: place) {
                parts.append(.custom(step, stage))
            } else {
                parts.append(.step(step, path.links[place].stage))
            }
            (place, current) = (next, version)
        }
        return parts
    }

    // MARK: Unfinished stages

    private func parts(after unfinished: UnfinishedStage, _ route: MigrationRoute) throws -> [Part] {
        guard let from = path.points.firstIndex(where: { $0.checksum == unfinished.source }), from < end,
            let stage = path.custom(at: from), let next = path.points[from + 1].version, let source = path.points[from].version,
            stage.nextModel.versionChecksum == unfinished.destination
        else {
            throw CoreDataError.make(
                NSManagedObjectModelReferenceNotFoundError, "The last migration of the store at \(store.url.path) did not end.",
                reason:
                    "It stopped in a stage from the version \(unfinished.source) to \(unfinished.destination), which the manager does not have.",
                next: "Open the store with the staged migration manager that began it.")
        }
        let version = from + 1 == end ? destination : next
        let step = VersionStep(
            source: source, destination: version,
            way: try route.inferredWay(from: source, to: version))
        return [.custom(step, stage)] + (try parts(from: from + 1, as: version, route))
    }

    // MARK: Unknown versions

    /// Returns the way from the model that the store keeps to the nearest version of the stages, and on from there.
    private func partsOfUnknown(_ route: MigrationRoute) throws -> [Part] {
        let kept = try store.keptModel()
        if let reason = VersionTrail.reasonForNewerStore(store, kept: kept, in: groups) {
            throw StoreJourney.newerStore(store, kept: kept, destination, reason, nil)
        }
        let versions = path.points[...end].compactMap(\.version)
        guard let kept, let nearest = store.nearest(among: versions), let place = path.place(of: nearest.version) else {
            throw unknown(nil, versions)
        }
        let version = place == end ? destination : nearest.version
        guard let way = try? route.inferredWay(from: kept, to: version), case .store(_, let mapping) = way, mapping.dropped.isEmpty else {
            throw unknown(kept, versions)
        }
        Log.store.notice(
            "The store at \(store.url.path) is of none of the stages' versions. It is to be migrated by its own copy of the model to the nearest, \(version.name)."
        )
        let step = VersionStep(source: kept, destination: version, way: way)
        return [.step(step, nil)] + (try parts(from: place, as: version, route))
    }

    // MARK: Errors

    private func unknown(_ kept: KnownVersion?, _ versions: [KnownVersion]) -> NSError {
        CoreDataError.make(
            NSManagedObjectModelReferenceNotFoundError, "Cannot use staged migration with an unknown model version.",
            reason: "The store at \(store.url.path) has the checksum \(store.checksum), which is none of the stages'. "
                + store.nearestSentence(among: versions, kept: kept),
            next: "Add the version that the store was written with to the bundle of the model, and to a stage.",
            info: [
                NSFilePathErrorKey: store.url.path, "metadata": store.metadata,
                "NSDifferingEntities": store.nearest(among: versions)?.differing ?? [],
            ])
    }

    private func missing(_ point: StagePath.Point) -> NSError {
        CoreDataError.make(
            NSManagedObjectModelReferenceNotFoundError, "The store at \(store.url.path) cannot be migrated in stages.",
            reason: "The program does not have the model of the version with the checksum \(point.checksum).",
            next: "Add the version to the bundle of the model.", info: [NSFilePathErrorKey: store.url.path])
    }

    private func backward(from point: StagePath.Point) -> NSError {
        CoreDataError.make(
            NSStagedMigrationBackwardMigrationError, "A store file cannot be migrated backwards with staged migration.",
            reason: "The store at \(store.url.path) is of the version \(point.version?.name ?? "with the checksum \(point.checksum)"), "
                + "which comes after the coordinator's, \(destination.name).",
            next: "Open it with the newer program; its files have been left as they are.", info: [NSFilePathErrorKey: store.url.path])
    }
}
