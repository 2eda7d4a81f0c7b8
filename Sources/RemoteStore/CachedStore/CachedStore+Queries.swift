internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Queries in the three ID spaces: those of contexts, of the file, and of the backend.
extension CachedStore {
    /// Converts a query of a context to one for the file, for displayed objects.
    ///
    /// - Parameter keys: The rows to which it is limited; nil for all.
    func innerQuery(_ query: StoreQuery, among keys: PredicateTree? = nil) throws -> StoreQuery {
        var parts: [PredicateTree] = [shownOnly]
        if let tree = try query.predicateTree() { parts.insert(try inner(replacingStates(tree, query.entity)), at: 0) }
        if let keys { parts.append(keys) }
        var moved = query.moved(to: file.entity(query.entity).inner, predicate: NSPredicate(tree: .and(parts)))
        moved.sortDescriptors = replacingStates(moved.sortDescriptors, query.entity)
        moved.allowsEvaluationInMemory = true
        moved.relationshipKeyPathsForPrefetching = []
        moved.columns = moved.columns.map(inner)
        moved.groupedBy = moved.groupedBy.map(inner)
        return moved
    }

    /// The predicate for rows that fetches may return.
    private var shownOnly: PredicateTree {
        .not(
            .compare(
                .keyPath([file.names.state]), .isIn,
                .constant(.array([.int64(CacheState.stub.rawValue), .int64(CacheState.pendingDelete.rawValue)]))))
    }

    /// Returns the predicate for some rows of the file.
    func among(_ keys: [CacheKey]) -> PredicateTree {
        .compare(.evaluatedObject, .isIn, .constant(.array(keys.map { .object(ObjectReference(file.innerID($0))) })))
    }

    /// The predicate for rows with pending changes.
    var pendingOnly: PredicateTree {
        .compare(.keyPath([file.names.state]), .greaterThanOrEqual, .constant(.int64(CacheState.pendingInsert.rawValue)))
    }

    private func inner(_ column: FetchColumn) -> FetchColumn {
        let tree = inner(PredicateTree.compare(column.expression, .equal, .evaluatedObject))
        guard case .comparison(let comparison) = tree else { return column }
        return column.replacing(comparison.left)
    }

    /// Returns a predicate with the file's objects.
    func inner(_ tree: PredicateTree) -> PredicateTree {
        tree.replacingObjects { [file, token] object in
            if let entity = object as? NSEntityDescription { return .object(ObjectReference(file!.entity(entity).inner)) }
            guard let id = contextID(of: object), id.token === token, let key = file!.key(ofOuter: id) else {
                return .object(ObjectReference(object))
            }
            return .object(ObjectReference(file!.innerID(key)))
        }
    }

    /// Converts a query of a context to one for the backend, for whole objects; nil if it cannot match any object of the backend.
    func remoteQuery(_ query: StoreQuery) throws -> StoreQuery? {
        guard let tree = try query.predicateTree() else { return query.with(resultType: .managedObjectResultType) }
        let ids = tree.objectIDs.filter { $0.token === token }
        let remote = ids.isEmpty ? [:] : try remoteIDs(ids)
        var isUnknown = false
        let replaced = tree.replacingObjects { object in
            guard let id = contextID(of: object) else { return .object(ObjectReference(object)) }
            if let known = remote[id] { return .object(ObjectReference(known)) }
            isUnknown = isUnknown || id.isTemporaryID || id.token === token
            return nil
        }
        // The backend cannot be asked for objects that it does not know, unless they are among others.
        if isUnknown, ids.count == tree.objectIDs.count, remote.isEmpty { return nil }
        return query.with(predicate: NSPredicate(tree: replaced)).with(resultType: .managedObjectResultType)
    }

    /// Returns the backend's IDs of objects, except objects that it does not have.
    func remoteIDs(_ ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: NSManagedObjectID] {
        var found: [NSManagedObjectID: NSManagedObjectID] = [:]
        let byKey = Dictionary(
            ids.compactMap { id in file.key(ofOuter: id).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        for row in try file.rows(Array(byKey.keys)) {
            let key = file.key(of: row)
            if let id = byKey[key], let remote = remoteID(row, key.entity) { found[id] = remote }
        }
        return found
    }

    /// Returns the backend's ID of a row's object; nil if it does not have the object.
    func remoteID(_ row: Row, _ entity: CacheEntity) -> NSManagedObjectID? {
        guard let resource = entity.resource(of: row), let outer = entity.outer else { return nil }
        return reader.decoding.id(resource, of: outer)
    }

    // MARK: Answers

    /// Converts an answer of the file to one for contexts.
    func outer(_ answer: StoreAnswer) -> StoreAnswer {
        switch answer {
        case .rows(let rows): .rows(outer(rows))
        case .ids(let ids): .ids(ids.map { file.outerID(of: $0, token) })
        case .dictionaries(let dictionaries): .dictionaries(StoreDictionaries(dictionaries.elements.map(outer)))
        case .count, .objects: answer
        }
    }

    func outer(_ rows: some Sequence<Row>) -> RowList { file.outer(rows, token) }

    private func outer(_ dictionary: NSDictionary) -> NSDictionary {
        guard dictionary.allValues.contains(where: { $0 is NSManagedObjectID }) else { return dictionary }
        let copy = NSMutableDictionary()
        for (name, value) in dictionary {
            guard let name = name as? NSString else { continue }
            if let id = value as? NSManagedObjectID, id.token === file.token {
                copy.setObject(file.outerID(of: id, token), forKey: name)
            } else {
                copy.setObject(value, forKey: name)
            }
        }
        return copy
    }
}
