internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph

/// The versions that the stages of a migration go through, in order.
struct StagePath {
    /// A version of the path.
    struct Point {
        /// The checksum that the stage specifies.
        let checksum: String
        /// The version; nil if the program does not have its model.
        var version: KnownVersion?
    }

    /// The link from one version to the next.
    struct Link {
        let stage: NSMigrationStage
        /// Whether the program takes part.
        var custom: NSCustomMigrationStage? { stage as? NSCustomMigrationStage }
    }

    private(set) var points: [Point] = []
    /// The links from each version to the one after it.
    private(set) var links: [Link] = []

    /// - Parameters:
    ///   - stages: The stages.
    ///   - versions: The known versions: those of the program, the coordinator's, and the one that the store keeps.
    ///   - configuration: The configuration of the store.
    /// - Throws: Code 134504 if the model of a custom stage is missing; 134110 for stages that name a version twice.
    init(_ stages: [NSMigrationStage], among versions: [KnownVersion], configuration: String?) throws {
        func known(_ checksum: String) -> KnownVersion? { versions.first { $0.checksums.contains(checksum) } }
        for stage in stages {
            switch stage {
            case let stage as NSLightweightMigrationStage:
                let found = stage.versionChecksums.map { Point(checksum: $0, version: known($0)) }
                for point in found { try append(point, stage) }
            case let stage as NSCustomMigrationStage:
                for reference in [stage.currentModel, stage.nextModel] {
                    let version = try KnownVersion(
                        reference.resolve(), in: configuration, origin: .stage, checksum: reference.versionChecksum)
                    let named = known(reference.versionChecksum).map {
                        KnownVersion(version.whole, in: configuration, origin: $0.origin, checksum: reference.versionChecksum)
                    }
                    try append(Point(checksum: reference.versionChecksum, version: named ?? version), stage)
                }
            default:
                throw CoreDataError.make(
                    NSMigrationError, "The stage \(stage.name) cannot run.", reason: "It is neither lightweight nor custom.",
                    next: "Use NSLightweightMigrationStage or NSCustomMigrationStage.")
            }
        }
    }

    private mutating func append(_ point: Point, _ stage: NSMigrationStage) throws {
        if let last = points.last, Self.isSame(last, point) {
            if last.version == nil { points[points.count - 1].version = point.version }
            return
        }
        if points.contains(where: { Self.isSame($0, point) }) {
            throw CoreDataError.make(
                NSMigrationError, "The stages of the migration cannot run.",
                reason: "The version with the checksum \(point.checksum) is in several places: at \(stage.name) again.",
                next: "Give each version one place, where one stage may end with it and the next begin.")
        }
        if !points.isEmpty { links.append(Link(stage: stage)) }
        points.append(point)
    }

    private static func isSame(_ point: Point, _ other: Point) -> Bool {
        if point.checksum == other.checksum { return true }
        guard let version = point.version, let second = other.version else { return false }
        return version.checksum == second.checksum
    }

    /// Returns the index of a version; nil if it is not on the path.
    func place(of version: KnownVersion) -> Int? {
        points.firstIndex { $0.version?.checksum == version.checksum || version.checksums.contains($0.checksum) }
    }

    /// Returns the index of a store's version; nil if it is not on the path.
    func place(of store: StoreVersion) -> Int? {
        points.firstIndex { point in point.version.map(store.isOf) ?? false }
            ?? points.firstIndex { $0.checksum == store.checksum }
    }

    /// Returns the custom stage of a link, only if the stage begins at the point before it.
    func custom(at place: Int) -> NSCustomMigrationStage? {
        guard let stage = links[place].custom, points[place].checksum == stage.currentModel.versionChecksum else { return nil }
        return stage
    }

    /// Checks that a migration that skips a version of a stage does not skip the whole stage.
    ///
    /// - Throws: Code 134504 if none of the stage's versions is known.
    func checkPassing(over place: Int) throws {
        guard let stage = links[place - 1].stage as? NSLightweightMigrationStage else { return }
        if points.contains(where: { $0.version != nil && stage.versionChecksums.contains($0.checksum) }) { return }
        let names = points.compactMap(\.version).map { "\($0.name): \($0.publicChecksum)" }
        throw CoreDataError.make(
            NSManagedObjectModelReferenceNotFoundError, "The stage \(stage.name) would be skipped: none of its versions is known.",
            reason: "It has the checksums \(stage.versionChecksums.joined(separator: ", ")). Known are \(names.joined(separator: "; ")).",
            next: "Add the versions to the bundle of the model, or correct the checksums.")
    }
}
