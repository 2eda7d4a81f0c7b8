internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Plans the migration that opening a store would perform.
struct MigrationPlanner {
    let opening: StoreOpening

    init(_ opening: StoreOpening) { self.opening = opening }

    func plan() throws -> MigrationPlan {
        guard let url = opening.url, opening.storeClass.isSingleStoreURL(url), opening.storeClass.isPersistent,
            !url.isFileURL || FileManager.default.fileExists(atPath: url.path)
        else { return plan(at: opening.url ?? URL(fileURLWithPath: "/dev/null"), [], nil) }
        let isStaged = opening.options?[NSPersistentStoreStagedMigrationManagerOptionKey] != nil
        guard isStaged || opening.isSet(NSMigratePersistentStoresAutomaticallyOption) else { return try planWithoutMigration(at: url) }
        // If rows lack a value that becomes required, the plan lists them. Even if no row does, opening the store fails unless a policy is set.
        let (store, migrator) = (try StoreVersion(opening, at: url, refused: nil), AutomaticMigrator())
        let planned = try plan(at: url, try migrator.plannedWay(of: store, nil, permitsMissingValues: true))
        if !planned.wouldFail, opening.forbiddenRows == .fail { _ = try migrator.plannedWay(of: store, nil) }
        return planned
    }

    private func plan(at url: URL, _ way: AutomaticMigrator.Way) throws -> MigrationPlan {
        switch way {
        case .none: return plan(at: url, [], nil)
        case .steps(_, let steps): return try plan(at: url, steps.map { ($0, nil) })
        case .stages(_, let parts):
            return try plan(
                at: url,
                parts.map { part in
                    switch part {
                    case .step(let step, let stage): (step, stage)
                    case .custom(let step, let stage): (step, stage)
                    }
                })
        }
    }

    private func planWithoutMigration(at url: URL) throws -> MigrationPlan {
        let store = try StoreVersion(opening, at: url, refused: nil)
        let destination = store.destination
        if store.isOf(destination.model) { return plan(at: url, [], nil) }
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleVersionHashError, "The model is not the one that the store at \(url.path) was written with.",
            reason: "These entities differ: \(store.entitiesDiffering(from: destination).joined(separator: ", ")).",
            next: "Set shouldMigrateStoreAutomatically, or open it with the model it was written with.",
            info: ["NSDifferingEntities": store.entitiesDiffering(from: destination)])
    }

    private func plan(at url: URL, _ steps: [(step: VersionStep, stage: NSMigrationStage?)]) throws -> MigrationPlan {
        var estimate: MigrationEstimate?
        var lines: [MigrationPlan.Step] = []
        for (number, (step, stage)) in steps.enumerated() {
            let way: MigrationPlan.Step.Way
            switch step.way {
            case .store(let files, let mapping):
                // The state of the files at later steps is not known yet, but their rows are.
                if number == 0 {
                    let first = try files.migrationEstimate(
                        at: url, options: opening.options, from: step.source.model, to: step.destination.model, by: mapping)
                    estimate = first
                    way = first.isInPlace ? .inPlace : .copied
                } else {
                    estimate = estimate?.carried(by: mapping)
                    way = .inPlaceOrCopied
                }
            case .mappingModel(_, let name):
                // A mapping model may make and leave out any objects.
                estimate = estimate?.withoutRows
                way = .mappingModel(name)
            case .inferred: way = .inferredMapping
            }
            lines.append(
                MigrationPlan.Step(
                    source: step.source.name, destination: step.destination.name, way: way, stage: stage?.label,
                    isCustomStage: stage is NSCustomMigrationStage))
        }
        let isChain = steps.count > 1 && opening.options?[NSPersistentStoreStagedMigrationManagerOptionKey] == nil
        return plan(at: url, lines, isChain ? estimate?.onCopy(of: url) : estimate)
    }

    private func plan(at url: URL, _ steps: [MigrationPlan.Step], _ estimate: MigrationEstimate?) -> MigrationPlan {
        let policy: ForbiddenRowsPolicy =
            switch opening.forbiddenRows {
            case .fail: .fail
            case .repair: .repair
            case .keep: .keep
            }
        return MigrationPlan(
            url: url, steps: steps, rows: (estimate?.knowsRows ?? true) ? estimate?.rows : nil, deletedRows: estimate?.deletedRows ?? [:],
            bytes: estimate?.bytes,
            forbiddenRowCount: estimate?.forbiddenCount ?? 0,
            forbiddenRows: (estimate?.forbidden ?? []).map {
                MigrationPlan.ForbiddenRow(
                    uri: $0.uri, entity: $0.entity, properties: $0.properties, violatesConstraint: $0.violatesConstraint)
            }, forbiddenRowsPolicy: policy)
    }
}

extension MigrationEstimate {
    /// The same after a further step of the store itself.
    fileprivate func carried(by mapping: InferredMapping) -> MigrationEstimate {
        var (rows, deleted) = ([String: Int](), deletedRows)
        for entity in mapping.entities {
            let count = entity.source?.name.flatMap { self.rows[$0] }
            if let name = entity.destination?.name {
                if let count { rows[name] = count }
            } else if let name = entity.source?.name, let count {
                deleted[name, default: 0] += count
            }
        }
        return MigrationEstimate(
            isInPlace: isInPlace, rows: rows, deletedRows: deleted, bytes: bytes, forbiddenCount: forbiddenCount, forbidden: forbidden)
    }

    /// The estimate without information about rows.
    fileprivate var withoutRows: MigrationEstimate {
        MigrationEstimate(
            isInPlace: isInPlace, rows: [:], deletedRows: deletedRows, bytes: bytes, forbiddenCount: forbiddenCount, forbidden: forbidden)
    }
    fileprivate var knowsRows: Bool { !rows.isEmpty }

    /// Returns the estimate for steps that are taken on a copy: the copy, and the additional space that the largest of them needs.
    fileprivate func onCopy(of url: URL) -> MigrationEstimate {
        let size = ((try? FileManager.default.attributesOfItem(atPath: url.path)[.size]) as? NSNumber)?.int64Value ?? 0
        return MigrationEstimate(
            isInPlace: isInPlace, rows: rows, deletedRows: deletedRows, bytes: size + max(bytes, size + size / 4),
            forbiddenCount: forbiddenCount, forbidden: forbidden)
    }
}
