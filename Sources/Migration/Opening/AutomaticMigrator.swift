package import Foundation
internal import Logging
@_spi(Stores) package import ObjectGraph

/// Migrates stores of other versions when they are opened.
package struct AutomaticMigrator: StoreMigrator {
    package init() {}

    package func migrate(_ opening: StoreOpening, refusedWith refusal: NSError) throws {
        guard let url = opening.url else { throw refusal }
        let refused = refusal.userInfo["metadata"] as? [String: Any]
        // Before anything beside the store is written: one that cannot be migrated is left as it is.
        let plan = try StoreJourney(opening, at: url, refused: refused, refusal: refusal)
        if opening.isSet(NSReadOnlyPersistentStoreOption) { throw readOnly(url, plan) }
        let lock = try MigrationLock(of: url, timeout: opening.timeout)
        defer { lock.release() }
        // Another process may have migrated it meanwhile.
        let journey = try StoreJourney(opening, at: url, refused: refused, refusal: refusal)
        try journey.travel()
    }

    private func readOnly(_ url: URL, _ journey: StoreJourney) -> NSError {
        CoreDataError.make(
            NSMigrationError, "The store at \(url.path) cannot be migrated.",
            reason: "It is opened read-only, and is of the version \(journey.source.name), not \(journey.destination.name).",
            next: "Open it once for writing, or with the model of its version.", info: [NSFilePathErrorKey: url.path])
    }
}

extension StoreOpening {
    /// What is to happen with rows that the new version forbids.
    var forbiddenRows: MigrationRules.ForbiddenRows {
        switch options?[ForbiddenRowsPolicyOption] {
        case let policy as ForbiddenRowsPolicy: policy.rule
        case let text as String: ForbiddenRowsPolicy(rawValue: text)?.rule ?? .fail
        default: .fail
        }
    }

    /// How many seconds to wait for others that use the files.
    var timeout: TimeInterval { (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout }

    /// The progress that the program gave; nil where it gave none.
    var progress: Progress? { options?[MigrationProgressOption] as? Progress }
}

extension ForbiddenRowsPolicy {
    var rule: MigrationRules.ForbiddenRows {
        switch self {
        case .fail: .fail
        case .repair: .repair
        case .keep: .keep
        }
    }
}
