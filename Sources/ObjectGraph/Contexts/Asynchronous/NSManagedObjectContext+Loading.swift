internal import Foundation

extension NSManagedObjectContext {
    /// Loads properties of many objects before they are read and suspends until the stores have answered.
    ///
    /// ```swift
    /// try await context.load(albums, \.tracks, \.label)
    /// ```
    ///
    /// Each property takes one query for all objects. A relationship is loaded together with the values of its destination objects, so
    /// reading them needs no further query. No thread waits for stores that load asynchronously. Objects that have left the context are
    /// skipped.
    ///
    /// - Parameters:
    ///   - objects: Objects of this context.
    ///   - properties: Key paths to attributes and relationships of the objects.
    /// - Throws: Code 134060 for a key path to something else; the store's error; `CancellationError` when the task is cancelled.
    public func load<Object: NSManagedObject>(
        _ objects: some Sequence<Object>, _ properties: PartialKeyPath<Object>..., isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let names = try properties.map { try Self.names(of: $0) }
        try await load(QueueBound(objects.map { $0 }, on: self), names)
    }

    /// Loads the properties along key paths, such as `"tracks.artist"`, from many objects, with one query for each relationship of a
    /// path.
    ///
    /// - Parameters:
    ///   - objects: Objects of this context.
    ///   - keyPaths: Names of attributes and relationships, separated by dots.
    /// - Throws: Code 134060 for a name that an object does not have; the store's error; `CancellationError` when the task is cancelled.
    public func load(
        _ objects: some Sequence<NSManagedObject>, _ keyPaths: String..., isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try await load(
            QueueBound(objects.map { $0 }, on: self),
            keyPaths.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) })
    }

    fileprivate static func names(of keyPath: AnyKeyPath) throws -> [String] {
        if let names = try NSManagedObject.propertyPath(for: keyPath), !names.isEmpty { return names }
        throw CoreDataError.make(
            NSCoreDataError, "\(keyPath) cannot be loaded.", reason: "It names no property of a managed object.",
            next: "Give key paths of attributes and relationships.")
    }

    func load(_ objects: QueueBound<[NSManagedObject]>, _ paths: [[String]]) async throws {
        try Task.checkCancellation()
        let queries = try await perform { self.parent == nil ? try AsynchronousQueries(of: self) : nil }
        var failure: (any Error)?
        for path in paths {
            var current = objects
            for name in path {
                guard let queries else {
                    current = try await loadFromParent(name, of: current)
                    continue
                }
                let step = try await load(name, of: current, queries)
                (current, failure) = (step.targets, failure ?? step.failure)
            }
        }
        if let failure { throw failure }
    }

    // MARK: From stores

    /// The objects of one step of a key path, and the relationships not yet loaded.
    private struct Step: @unchecked Sendable {
        var owners: [NSManagedObject] = []
        /// Objects whose relationship must be loaded, grouped by relationship.
        var unknown: [(relationship: NSRelationshipDescription, owners: [NSManagedObject])] = []
    }

    /// Loads one property of objects.
    ///
    /// - Returns: The destination objects, for the next step of the path, and the error of an object that could not be read among others.
    func load(
        _ name: String, of objects: QueueBound<[NSManagedObject]>, _ queries: AsynchronousQueries
    ) async throws -> (targets: QueueBound<[NSManagedObject]>, failure: (any Error)?) {
        let faults = try await perform {
            let owners = self.present(objects.value)
            return QueueBound(try owners.filter { try $0.isFault && !$0.isInserted && $0.needsRow(for: name) }, on: self)
        }
        let rows = try await queries.rows(for: await perform { faults.value.map(\.objectID) })
        let step = try await perform {
            try self.fulfill(faults.value, from: rows)
            return try self.unknown(name, of: self.present(objects.value).filter { self.faultErrors.error(of: $0.objectID) == nil })
        }
        // The other objects are loaded first: the error of one object does not hide them.
        var failure = rows.failures.first?.value.error
        failure = try await loadUnknown(name, of: objects, queries) ?? failure
        var related: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for (relationship, ids) in await perform({ step.unknown.map { ($0.relationship, $0.owners.map(\.objectID)) } }) {
            do {
                related.merge(try await queries.related(by: relationship, from: ids)) { first, _ in first }
            } catch let unread as UnreadObjects {
                related.merge(unread.related) { first, _ in first }
                await note(unread, reading: relationship.name)
                failure = failure ?? unread.error()
            }
        }
        let answered = related
        let targets = try await perform { QueueBound(try self.connect(name, step, answered), on: self) }
        let missing = await perform { QueueBound(targets.value.filter { $0.isFault && !$0.isInserted }, on: self) }
        let targetRows = try await queries.rows(for: await perform { missing.value.map(\.objectID) })
        try await perform { try self.fulfill(missing.value, from: targetRows) }
        return (targets, failure ?? targetRows.failures.first?.value.error)
    }

    /// Records on the queue which objects a store could not read.
    private func note(_ unread: UnreadObjects, reading property: String?) async {
        await perform { for (id, failure) in unread.failures { self.faultErrors.note(failure, of: id, property) } }
    }

    /// Loads a value that the rows do not contain yet.
    ///
    /// - Returns: The error of an object that could not be read among others.
    private func loadUnknown(
        _ name: String, of objects: QueueBound<[NSManagedObject]>, _ queries: AsynchronousQueries
    ) async throws -> (any Error)? {
        let unknown = await perform {
            var unknown: [ObjectIdentifier: (property: NSPropertyDescription, ids: [NSManagedObjectID])] = [:]
            for object in self.present(objects.value) {
                guard let property = object.owningEntity.frozen!.byName[name] as? NSAttributeDescription, !object.isFault,
                    object.isUnknown(at: property.slotIndex)
                else { continue }
                unknown[ObjectIdentifier(property), default: (property, [])].ids.append(object.objectID)
            }
            return Array(unknown.values)
        }
        var error: (any Error)?
        for (property, ids) in unknown {
            let rows: [Row]
            do {
                rows = try await queries.values(of: property, for: ids)
            } catch let unread as UnreadObjects {
                rows = unread.rows
                await note(unread, reading: property.name)
                error = error ?? unread.error()
            }
            await perform { for row in rows { row.objectID.flatMap(self.registeredObject(for:))?.complete(from: row) } }
        }
        return error
    }

    /// Returns the objects that are still registered with this context.
    private func present(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        objects.filter { $0.registry === registry && !$0.flags.contains(.inaccessible) }
    }

    private func unknown(_ name: String, of owners: [NSManagedObject]) throws -> Step {
        var step = Step(owners: owners)
        for owner in owners {
            guard let relationship = owner.relationship(named: name), owner.isFault(relationship), !owner.isInserted else { continue }
            if owner.knownIDs(of: relationship) != nil { continue }
            if let index = step.unknown.firstIndex(where: { $0.relationship === relationship }) {
                step.unknown[index].owners.append(owner)
            } else {
                step.unknown.append((relationship, [owner]))
            }
        }
        return step
    }

    /// Sets the relationship of the owners to the stores' answer.
    ///
    /// - Returns: The destination objects.
    private func connect(
        _ name: String, _ step: Step, _ related: [NSManagedObjectID: [NSManagedObjectID]]
    ) throws -> [NSManagedObject] {
        var targets: [NSManagedObject] = []
        var seen: Set<ObjectIdentifier> = []
        for owner in present(step.owners) {
            guard let relationship = owner.relationship(named: name) else { continue }
            if owner.isFault(relationship), let ids = related[owner.objectID] ?? owner.knownIDs(of: relationship), !owner.isInserted {
                owner.setLoadedObjects(objects(with: ids), relationship)
            }
            // An object that could not be read has been noted.
            if faultErrors.error(of: owner.objectID, name) != nil || faultErrors.error(of: owner.objectID) != nil { continue }
            let objects = try throwingReadErrors { owner.related(relationship) }
            for object in objects where seen.insert(ObjectIdentifier(object)).inserted { targets.append(object) }
        }
        makeBatch(of: targets)
        return targets
    }

    /// Fulfills faults with the loaded rows. A fault without a row reads as deleted or raises an error, as the context is configured. Objects that
    /// could not be read stay faults, and their errors are noted.
    func fulfill(_ faults: [NSManagedObject], from rows: AsynchronousQueries.Rows) throws {
        for (id, failure) in rows.failures { faultErrors.note(failure, of: id) }
        for object in faults where object.isFault && object.registry === registry {
            let id = object.objectID
            if rows.failures[id] != nil { continue }
            if let row = rows.known[id] ?? id.persistentStore?.knownRow(of: id, in: self) {
                object.fulfillFault(with: row)
            } else if !rows.absent.contains(id) {
                try object.loadRow()
            } else if shouldHandleInaccessibleFault(object, for: id, triggeredByProperty: nil) {
                treatAsDeleted(object)
            } else {
                throw NSManagedObject.missingRow(id)
            }
        }
    }

    // MARK: From a parent

    /// Works like ``load(_:of:_:)``: the parent loads the property of its own objects and passes their values on.
    private func loadFromParent(_ name: String, of objects: QueueBound<[NSManagedObject]>) async throws -> QueueBound<[NSManagedObject]> {
        guard let parent else { throw NoSource.shared.error }
        let (owners, ids) = try await perform {
            let owners = self.present(objects.value)
            for owner in owners { _ = try owner.needsRow(for: name) }
            return (QueueBound(owners, on: self), owners.filter { !$0.isInserted }.map(\.objectID))
        }
        let view = try await parent.view(of: ids, name)
        return try await perform {
            let view = view.value
            for owner in owners.value where owner.registry === self.registry {
                if owner.isFault, let row = view.rows[owner.objectID] { owner.fulfillFault(with: row) }
                guard let relationship = owner.relationship(named: name), owner.isFault(relationship), !owner.isInserted,
                    let ids = view.related[owner.objectID]
                else { continue }
                owner.setLoadedObjects(self.objects(with: ids), relationship)
            }
            var targets: [NSManagedObject] = []
            var seen: Set<ObjectIdentifier> = []
            for owner in owners.value where owner.registry === self.registry {
                guard let relationship = owner.relationship(named: name) else { continue }
                let objects = try self.throwingReadErrors { owner.related(relationship) }
                for object in objects where seen.insert(ObjectIdentifier(object)).inserted { targets.append(object) }
            }
            for object in targets where object.isFault { if let row = view.rows[object.objectID] { object.fulfillFault(with: row) } }
            return QueueBound(targets, on: self)
        }
    }

    /// The values that a child reads from a parent's objects.
    private struct View {
        var rows: [NSManagedObjectID: Row] = [:]
        var related: [NSManagedObjectID: [NSManagedObjectID]] = [:]
    }

    /// Loads a property of objects for a child.
    private func view(of ids: [NSManagedObjectID], _ name: String) async throws -> Transfer<View> {
        let objects = await perform { QueueBound(self.objects(with: ids), on: self) }
        try await load(objects, [[name]])
        return try await perform {
            var view = View()
            for object in objects.value {
                view.rows[object.objectID] = try self.rowForChild(of: object)
                guard let relationship = object.relationship(named: name) else { continue }
                view.related[object.objectID] = try self.throwingReadErrors { object.objectIDs(forRelationshipNamed: name) }
                let others = try self.throwingReadErrors { object.related(relationship) }
                for other in others { view.rows[other.objectID] = try self.rowForChild(of: other) }
            }
            return Transfer(view)
        }
    }

    /// Returns the parent's answer to a query, unsaved changes in the parent included.
    func answerOfParent(to query: StoreQuery) async throws -> StoreAnswer {
        guard let parent else { throw NoSource.shared.error }
        switch query.resultType {
        case .countResultType: return .count(try await parent.count(of: query))
        case .dictionaryResultType: return .dictionaries(try await parent.dictionaries(of: query))
        default:
            let objects = try await parent.objects(of: query.with(resultType: .managedObjectResultType))
            let (ids, batch) = await parent.perform {
                (objects.value.map(\.objectID), Transfer(objects.value.contains { $0.batchNumber != 0 } ? objects.value : []))
            }
            await perform { self.parentSource?.deliver(batch.value) }
            return .ids(ids)
        }
    }
}

extension NSPersistentStore {
    /// Returns the row that is known without a query, if the context sees the store's current state.
    func knownRow(of id: NSManagedObjectID, in context: NSManagedObjectContext) -> Row? {
        context.requestingContext.generation.isPinned ? nil : rowAccess?.knownRow(for: id)
    }
}

extension NSManagedObject {
    /// Loads properties of the object before they are read and suspends until the store has answered.
    ///
    /// See ``NSManagedObjectContext/load(_:_:isolation:)-(_,PartialKeyPath<Object>...,_)``.
    ///
    /// ```swift
    /// try await album.load(\.tracks)
    /// ```
    ///
    /// - Throws: Code 134060 for a key path that does not name a property, and for an object without a context; the store's error;
    ///   `CancellationError` when the task is cancelled.
    public func load(_ keyPaths: String..., isolation: isolated (any Actor)? = #isolation) async throws {
        let context = try contextToLoad()
        try await context.load(
            QueueBound([self], on: context), keyPaths.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) })
    }

    fileprivate func contextToLoad() throws -> NSManagedObjectContext {
        if let context = registry?.context { return context }
        throw CoreDataError.make(
            NSCoreDataError, "Nothing of the object can be loaded.", reason: "It is in no context, or that no longer exists.",
            next: "Keep the context for as long as its objects are used.")
    }

    /// Returns whether reading a property needs the row; a to-many relationship that stores keep outside of rows does not.
    ///
    /// - Throws: Code 134060 for a name that is not a property.
    fileprivate func needsRow(for name: String) throws -> Bool {
        guard let property = owningEntity.frozen!.byName[name] else {
            throw CoreDataError.make(
                NSCoreDataError, "“\(name)” of \(objectID) cannot be loaded.", reason: "“\(owningEntity)” has no such property.",
                next: "Give names of attributes and relationships.")
        }
        guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else { return true }
        return objectID.persistentStore?.interface?.rowsContainLists ?? true
    }

    /// Sets the objects that the store has for a relationship.
    fileprivate func setLoadedObjects(_ objects: [NSManagedObject], _ relationship: NSRelationshipDescription) {
        if relationship.isToMany {
            let storage = toManyWithoutLoading(relationship)
            if !storage.isLoaded { storage.load(objects) }
        } else if case .fault = state(of: relationship), slots != nil {
            setState(.toOne(objects.first), of: relationship)
        }
    }
}

extension NSFetchRequestResult where Self: NSManagedObject {
    /// Loads properties of the object before they are read and suspends until the store has answered.
    ///
    /// See ``NSManagedObjectContext/load(_:_:isolation:)-(_,PartialKeyPath<Object>...,_)``.
    ///
    /// - Throws: The errors of ``NSManagedObject/load(_:isolation:)``.
    public func load(_ properties: PartialKeyPath<Self>..., isolation: isolated (any Actor)? = #isolation) async throws {
        let names = try properties.map { try NSManagedObjectContext.names(of: $0) }
        let context = try contextToLoad()
        try await context.load(QueueBound([self], on: context), names)
    }
}
