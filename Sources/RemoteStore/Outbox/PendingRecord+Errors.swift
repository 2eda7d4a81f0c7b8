internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension PendingRecord.Failure {
    /// The error, as far as it was kept.
    var error: NSError { NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: message]) }
}

extension PendingRecord {
    /// Why it was not saved; nil where nothing has failed. A conflict tells of itself, not of what has failed before.
    var error: NSError? {
        if case .conflicting(let theirs, _) = stage { return RemoteStoreError.contested(entity, theirs.values.map { Array($0.keys) }) }
        return failure?.error
    }
}
