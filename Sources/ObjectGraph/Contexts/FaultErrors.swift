internal import Foundation

/// The reasons why values of objects could not be read. The values are not requested again before the objects are refreshed, a fetch brings them, or
/// the retry time of the store has come.
struct FaultErrors {
    private struct Entry {
        let error: any Error
        /// The time from which on the store may be queried again, in nanoseconds of the system's uptime; nil for never.
        let end: UInt64?
        var isLogged = false
    }

    /// The errors by object, and by the relationship or the value that is read alone; nil stands for the row.
    private var entries: [NSManagedObjectID: [String?: Entry]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the reason why an object, or one property of it, cannot be read; nil if it may be requested.
    func error(of id: NSManagedObjectID, _ property: String? = nil) -> (any Error)? {
        guard !entries.isEmpty, let entry = entries[id]?[property] else { return nil }
        if let end = entry.end, end <= RowCache.now { return nil }
        return entry.error
    }

    /// Returns why a relationship or a single value of an object could not be read.
    func propertyError(of id: NSManagedObjectID) -> (any Error)? {
        entries[id]?.keys.lazy.compactMap { name in name.flatMap { error(of: id, $0) } }.first
    }

    /// Records the reason why an object, or one property of it, could not be read.
    mutating func note(_ failure: UnreadObjects.Failure, of id: NSManagedObjectID, _ property: String? = nil) {
        // A cancelled task has found out nothing about the object.
        if failure.error is CancellationError { return }
        let wait = failure.retryAfter.map { max(0, Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18) }
        let isLogged = failure.isLogged || error(of: id, property) != nil && entries[id]?[property]?.isLogged ?? false
        let end = wait.map { RowCache.now &+ UInt64(min($0, 1e9) * 1e9) }
        entries[id, default: [:]][property] = Entry(error: failure.error, end: end, isLogged: isLogged)
    }

    /// Returns whether the error of an object is to be logged: each noted error is logged once.
    mutating func mayLog(_ id: NSManagedObjectID) -> Bool {
        guard let known = entries[id] else { return true }
        if known.values.allSatisfy(\.isLogged) { return false }
        for name in known.keys { entries[id]?[name]?.isLogged = true }
        return true
    }

    /// Forgets the error of an object, or of one property of it: it was read.
    mutating func forget(_ id: NSManagedObjectID, _ property: String?) {
        if entries.isEmpty { return }
        entries[id]?[property] = nil
        if entries[id]?.isEmpty ?? false { entries[id] = nil }
    }

    /// Forgets all errors of an object, so that it is read again.
    mutating func forget(_ id: NSManagedObjectID) { if !entries.isEmpty { entries[id] = nil } }

    mutating func removeAll() { entries = [:] }
}

extension NSManagedObject {
    /// The reason why the object's values, or one of them, could not be read at the last attempt; nil if they could.
    ///
    /// Properties cannot throw: those that could not be read are nil, zero or empty, the object stays a fault, and the next
    /// ``NSManagedObjectContext/save()`` throws before it writes. The store is only queried again after the object was refreshed, a fetch has
    /// returned it, changes are saved, or the retry time of the store has come. ``fulfillFault()`` and `existingObject(with:)` throw this error. Call
    /// it on the context's queue.
    public var faultError: (any Error)? {
        checkQueue("faultError")
        if let context = registry?.context, !context.faultErrors.isEmpty {
            // A fetch may have loaded its row since.
            let lacksRow = isFault && objectID.persistentStore?.knownRow(of: objectID, in: context) == nil
            let error = (lacksRow ? context.faultErrors.error(of: objectID) : nil) ?? context.faultErrors.propertyError(of: objectID)
            if let error { return error }
        }
        return unreadFailures().min { $0.key < $1.key }?.value.error
    }

    /// Why the store could not read values that the object lacks, by the names of the properties.
    final func unreadFailures() -> [String: UnreadObjects.Failure] {
        guard let store = objectID.persistentStore?.interface as? any PartlyReadStore else { return [:] }
        let failures = store.unreadValues(of: objectID)
        if failures.isEmpty || isFault { return failures }
        return failures.filter { name, _ in
            guard let property = owningEntity.frozenParts.byName[name] else { return false }
            if let relationship = property as? NSRelationshipDescription { return isFault(relationship) }
            return isUnknown(at: property.slotIndex)
        }
    }

    /// - Throws: The error of a value that the store has returned and could not decode.
    final func checkUnreadValues() throws {
        if let first = unreadFailures().min(by: { $0.key < $1.key }) { throw first.value.error }
    }
}

extension NSManagedObjectContext {
    /// Makes the next read query the store for an object, even if a row is cached.
    func forgetRow(of id: NSManagedObjectID) {
        forgetFaultErrors(of: id)
        source.forgetRow(of: id)
    }

    /// Forgets the errors of an object that could not be read, so that it may be requested again.
    func forgetFaultErrors(of id: NSManagedObjectID) {
        if faultErrors.isEmpty { return }
        faultErrors.forget(id)
        if let parent { parent.performForChild { parent.forgetFaultErrors(of: id) } }
    }

    /// Forgets all errors, so that everything that could not be read may be requested again.
    func forgetAllFaultErrors() {
        // A parent may have errors that its child does not know.
        faultErrors.removeAll()
        if let parent { parent.performForChild { parent.forgetAllFaultErrors() } }
    }

    /// Records which objects a store could not read, and continues with those that it has read.
    ///
    /// - Throws: An error that does not name the objects it is about.
    func noteUnread(_ error: any Error, reading property: String?) throws {
        guard let unread = error as? UnreadObjects else { throw error }
        for (id, failure) in unread.failures { faultErrors.note(failure, of: id, property) }
    }

    /// Runs a read of one object, unless an earlier read has failed and must not be retried yet. Records its error.
    ///
    /// - Throws: The error of this read or of the earlier one.
    func reading<Result>(_ property: String? = nil, of id: NSManagedObjectID, isKnown: @autoclosure () -> Bool, _ read: () throws -> Result)
        throws -> Result
    {
        if let error = faultErrors.error(of: id, property), !isKnown() { throw error }
        do {
            let result = try read()
            faultErrors.forget(id, property)
            return result
        } catch {
            let failure = (error as? UnreadObjects)?.failures[id] ?? .init((error as? UnreadObjects)?.error(of: id) ?? error)
            faultErrors.note(failure, of: id, property)
            throw failure.error
        }
    }

    /// Runs `body`, and throws the error of a property that could not be read meanwhile. The error of an earlier read stays pending.
    func throwingReadErrors<Result>(_ body: () throws -> Result) throws -> Result {
        let earlier = faultError
        faultError = nil
        defer { faultError = earlier }
        let result = try body()
        if let error = faultError { throw error }
        return result
    }
}
