internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension PendingRecord.Failure {
    /// The error, with the details that were stored.
    var error: NSError { NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: message]) }
}

extension PendingRecord {
    /// The reason why the change was not saved; nil if nothing has failed. For a conflict, this is the conflict and not an earlier failure.
    var error: NSError? {
        if case .conflicting(let theirs, _) = stage { return RemoteStoreError.contested(entity, theirs.values.map { Array($0.keys) }) }
        return failure?.error
    }
}
