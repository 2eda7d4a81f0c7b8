internal import Foundation

/// Why values of objects could not be read: they are not asked for again before they are refreshed, a fetch brings them, or the time has come that the
/// store has named.
struct FaultErrors {
    private struct Entry {
        let error: any Error
        /// The time from which on the store may be asked again, in nanoseconds of the system's uptime; nil for never.
        let end: UInt64?
        var isLogged = false
    }

    /// By object, and by the relationship or the value that is read alone; nil stands for the row.
    private var entries: [NSManagedObjectID: [String?: Entry]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Returns why an object, or one property of it, cannot be read; nil where it may be asked for.
    func error(of id: NSManagedObjectID, _ property: String? = nil) -> (any Error)? {
        guard !entries.isEmpty, let entry = entries[id]?[property] else { return nil }
        if let end = entry.end, end <= RowCache.now { return nil }
        return entry.error
    }

    /// Returns why a relationship or a single value of an object could not be read.
    func propertyError(of id: NSManagedObjectID) -> (any Error)? {
        entries[id]?.keys.lazy.compactMap { name in name.flatMap { error(of: id, $0) } }.first
    }

    /// Notes why an object, or one property of it, could not be read.
    mutating func note(_ failure: UnreadObjects.Failure, of id: NSManagedObjectID, _ property: String? = nil) {
        // A task that is cancelled has learned nothing of the object.
        if failure.error is CancellationError { return }
        let wait = failure.retryAfter.map { max(0, Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18) }
        let isLogged = failure.isLogged || error(of: id, property) != nil && entries[id]?[property]?.isLogged ?? false
        let end = wait.map { RowCache.now &+ UInt64(min($0, 1e9) * 1e9) }
        entries[id, default: [:]][property] = Entry(error: failure.error, end: end, isLogged: isLogged)
    }

    /// Returns whether the error of an object is to be logged: once for each that was noted.
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

    /// Forgets all errors of an object: it is to be read again.
    mutating func forget(_ id: NSManagedObjectID) { if !entries.isEmpty { entries[id] = nil } }

    mutating func removeAll() { entries = [:] }
}

extension NSManagedObject {
    /// Why the object's values, or one of them, could not be read when they were last asked for; nil where they could be.
    ///
    /// Properties cannot throw: those that could not be read are nil, zero or empty, the object stays a fault, and the next ``NSManagedObjectContext/save()``
    /// throws before it writes. The store is asked again only after the object was refreshed, a fetch has brought it, changes are saved, or the time has come that the
    /// store has named. ``fulfillFault()`` and `existingObject(with:)` throw this error. Call it on the context's queue.
    public var faultError: (any Error)? {
        checkQueue("faultError")
        if let context = registry?.context, !context.faultErrors.isEmpty {
            // A fetch may have brought its row since.
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

    /// - Throws: The error of a value that the store has got and could not read.
    final func checkUnreadValues() throws {
        if let first = unreadFailures().min(by: { $0.key < $1.key }) { throw first.value.error }
    }
}

extension NSManagedObjectContext {
    /// Makes the next read ask the store for an object, whatever was known of it.
    func forgetRow(of id: NSManagedObjectID) {
        forgetFaultErrors(of: id)
        source.forgetRow(of: id)
    }

    /// Lets an object that could not be read be asked for again.
    func forgetFaultErrors(of id: NSManagedObjectID) {
        if faultErrors.isEmpty { return }
        faultErrors.forget(id)
        if let parent { parent.performForChild { parent.forgetFaultErrors(of: id) } }
    }

    /// Lets everything that could not be read be asked for again.
    func forgetAllFaultErrors() {
        // A parent may have errors that its child has not been told.
        faultErrors.removeAll()
        if let parent { parent.performForChild { parent.forgetAllFaultErrors() } }
    }

    /// Notes which objects a store could not read, and goes on with those that it has read.
    ///
    /// - Throws: An error that does not say which objects it is about.
    func noteUnread(_ error: any Error, reading property: String?) throws {
        guard let unread = error as? UnreadObjects else { throw error }
        for (id, failure) in unread.failures { faultErrors.note(failure, of: id, property) }
    }

    /// Runs a read of one object, unless an earlier one has failed that is not to be repeated yet, and notes what it throws.
    ///
    /// - Throws: Its error, also that of the earlier read.
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

    /// Runs `body`, and throws the error of a property that could not be read meanwhile. That of an earlier read stays pending.
    func throwingReadErrors<Result>(_ body: () throws -> Result) throws -> Result {
        let earlier = faultError
        faultError = nil
        defer { faultError = earlier }
        let result = try body()
        if let error = faultError { throw error }
        return result
    }
}
