package import Logging
internal import Platform

extension Log {
    /// The messages that were logged once. They are few: each names an entity or an attribute of a model.
    private static let known = LockedBox<Set<String>>([])

    /// Logs a message at level `warning`, unless it has been logged before: a program makes many coordinators of one model, and reads many rows.
    package static func warnOnce(_ logger: Logger, _ message: String) {
        let isNew = known.withLock { known in known.count < 10_000 && known.insert(message).inserted }
        if isNew { logger.warning("\(message)") }
    }
}
