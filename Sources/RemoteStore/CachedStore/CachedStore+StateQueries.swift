internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Fetches by `syncState` and `age`, which are not properties of the model: `syncState == "failed"`, `age > 600`.
///
/// The file answers them alone: the backend does not know either.
extension CachedStore {
    static let syncStateKey = "syncState"
    static let ageKey = "age"

    /// Whether a query is about the state of objects in the cache.
    func isAboutState(_ query: StoreQuery) throws -> Bool {
        if query.sortDescriptors.contains(where: { isState($0.key, query.entity) }) { return true }
        guard let tree = try query.predicateTree() else { return false }
        return mentionsState(tree, query.entity)
    }

    private func isState(_ key: String?, _ entity: NSEntityDescription) -> Bool {
        guard let key, key == Self.syncStateKey || key == Self.ageKey else { return false }
        // A property of the program's model takes precedence.
        return entity.frozenParts.byName[key] == nil
    }

    private func key(_ expression: ExpressionTree, _ entity: NSEntityDescription) -> String? {
        guard case .keyPath(let path) = expression, path.count == 1, isState(path[0], entity) else { return nil }
        return path[0]
    }

    private func mentionsState(_ tree: PredicateTree, _ entity: NSEntityDescription) -> Bool {
        switch tree {
        case .and(let parts), .or(let parts): parts.contains { mentionsState($0, entity) }
        case .not(let part): mentionsState(part, entity)
        case .comparison(let comparison): key(comparison.left, entity) != nil || key(comparison.right, entity) != nil
        case .true, .false, .block: false
        }
    }

    /// Returns a predicate over the columns of the file.
    ///
    /// - Throws: Code 134091 for a comparison that a state or an age does not support.
    func replacingStates(_ tree: PredicateTree, _ entity: NSEntityDescription) throws -> PredicateTree {
        switch tree {
        case .and(let parts): return .and(try parts.map { try replacingStates($0, entity) })
        case .or(let parts): return .or(try parts.map { try replacingStates($0, entity) })
        case .not(let part): return .not(try replacingStates(part, entity))
        case .true, .false, .block: return tree
        case .comparison(let comparison):
            guard let name = key(comparison.left, entity) else {
                guard let name = key(comparison.right, entity) else { return tree }
                throw refusal(name, entity)
            }
            guard let value = comparison.right.constantValue else { throw refusal(name, entity) }
            return try name == Self.ageKey
                ? ages(comparison.operator, value, entity) : states(comparison.operator, value, entity)
        }
    }

    private func refusal(_ name: String, _ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "“\(entity.name ?? "?")” cannot be fetched by this comparison of “\(name)”.",
            reason: "It is no property of the model: the cache compares it in a few ways.",
            next: name == Self.ageKey
                ? "Compare it with a number by <, <=, > or >=." : "Compare it with a state, such as \"failed\", by ==, != or IN.")
    }

    private func ages(_ relation: PredicateComparison.Operator, _ value: PropertyValue, _ entity: NSEntityDescription) throws
        -> PredicateTree
    {
        let seconds: Double
        switch value {
        case .int64(let number): seconds = Double(number)
        case .double(let number): seconds = number
        case .decimal(let number): seconds = NSDecimalNumber(decimal: number).doubleValue
        default: throw refusal(Self.ageKey, entity)
        }
        let turned: PredicateComparison.Operator
        switch relation {
        case .lessThan: turned = .greaterThan
        case .lessThanOrEqual: turned = .greaterThanOrEqual
        case .greaterThan: turned = .lessThan
        case .greaterThanOrEqual: turned = .lessThanOrEqual
        default: throw refusal(Self.ageKey, entity)
        }
        return .compare(.keyPath([file.names.fetchedAt]), turned, .constant(.double(file.clock.now - seconds)))
    }

    private func states(
        _ relation: PredicateComparison.Operator, _ value: PropertyValue, _ entity: NSEntityDescription
    ) throws -> PredicateTree {
        let texts: [PropertyValue]
        switch (relation, value) {
        case (.equal, .string), (.notEqual, .string): texts = [value]
        case (.isIn, .array(let values)): texts = values
        case (.isIn, .set(let values)): texts = Array(values)
        default: throw refusal(Self.syncStateKey, entity)
        }
        let matches = try PredicateTree.or(
            texts.map { text in
                guard case .string(let text) = text, let state = SyncState(rawValue: text) else { throw refusal(Self.syncStateKey, entity) }
                return try matching(state, entity)
            })
        return relation == .notEqual ? .not(matches) : matches
    }

    private func matching(_ state: SyncState, _ entity: NSEntityDescription) throws -> PredicateTree {
        func isIn(_ states: CacheState...) -> PredicateTree {
            .compare(.keyPath([file.names.state]), .isIn, .constant(.array(states.map { .int64($0.rawValue) })))
        }
        func sending() throws -> PredicateTree {
            let root = entity.top.name
            let keys = try outbox.records().filter { $0.state == .sending && $0.key.root == root }
            return among(
                keys.compactMap { record in file.entity(named: record.entity).map { CacheKey(entity: $0, number: record.key.key) } })
        }
        switch state {
        case .pending: return .and([isIn(.pendingInsert, .pendingUpdate), .not(try sending())])
        case .sending: return .and([isIn(.pendingInsert, .pendingUpdate), try sending()])
        case .failed: return isIn(.failed)
        case .conflicting: return isIn(.conflicting)
        case .unknown: return isIn(.unknown)
        case .fresh, .stale:
            guard case .cacheFirst(let age) = policy(of: entity) else { return .and([isIn(.clean), state == .fresh ? .true : .false]) }
            let isRecent = try ages(.lessThanOrEqual, .double(age), entity)
            return .and([isIn(.clean), state == .fresh ? isRecent : .not(isRecent)])
        }
    }

    /// Returns sort descriptors over the columns of the file.
    func replacingStates(_ sorts: [NSSortDescriptor], _ entity: NSEntityDescription) -> [NSSortDescriptor] {
        sorts.map { sort in
            guard isState(sort.key, entity) else { return sort }
            return sort.key == Self.ageKey
                ? NSSortDescriptor(key: file.names.fetchedAt, ascending: !sort.ascending)
                : NSSortDescriptor(key: file.names.state, ascending: sort.ascending)
        }
    }
}
