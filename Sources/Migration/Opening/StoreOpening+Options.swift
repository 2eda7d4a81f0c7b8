internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension StoreOpening {
    /// The handling of rows that the new version forbids.
    var forbiddenRows: MigrationRules.ForbiddenRows {
        switch options?[ForbiddenRowsPolicyOption] {
        case let policy as ForbiddenRowsPolicy: policy.rule
        case let text as String: ForbiddenRowsPolicy(rawValue: text)?.rule ?? .fail
        case let text as NSString: ForbiddenRowsPolicy(rawValue: String(describing: text))?.rule ?? .fail
        default: .fail
        }
    }

    /// How many seconds to wait for others that use the files.
    var timeout: TimeInterval { (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout }

    /// The progress that the program has provided; nil if there is none.
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
