public import Foundation

/// Sort descriptors made ready for the subjects of one schema.
///
/// Nil comes first, then values in ascending order, or all of it the other way round. Text is ordered by its composed code points, which is
/// the order of Swift's `<`. A compiled sort serves one thread at a time.
public struct CompiledSort {
    private typealias SubjectOrder = (PredicateSubject, PredicateSubject) throws -> ComparisonResult

    private var orders: [SubjectOrder] = []
    /// What decorates subjects by the first descriptor, when its values can be abridged.
    private var decoration: SortDecoration?

    /// Makes descriptors ready.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors, the most important first. A key may be a path over relationships to one; `self` is the identity.
    ///   - schema: What will be sorted.
    ///   - keyName: Names the property that a Swift key path stands for. A descriptor whose key path has no name compares the public objects
    ///     itself.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown, or leads over a relationship to many.
    public init(
        _ descriptors: [NSSortDescriptor], for schema: any PredicateSchema, keyName: (AnyKeyPath) -> String? = { _ in nil }
    ) throws {
        let compiler = PredicateCompiler(schema: schema, logic: .threeValued)
        for descriptor in descriptors {
            let named: KeySortDescriptor
            if let descriptor = descriptor as? KeySortDescriptor {
                named = descriptor
            } else if let name = keyName(descriptor.keyPath) {
                named = KeySortDescriptor(keyText: name, ascending: descriptor.ascending)
            } else {
                orders.append { descriptor.compare(schema.publicObject(of: $0), to: schema.publicObject(of: $1)) }
                continue
            }
            let clause = "sorted by \(named.keyText ?? "self")"
            let operand = try compiler.operand(.path(named.keyText ?? ""), clause: clause)
            if operand.isMany {
                throw InvalidPredicateError(
                    kind: .unsupported, message: "Nothing can be sorted by a path over a to-many relationship: \(named.keyText ?? "self")")
            }
            if named.givenComparator == nil, case .slot(let location, let kind) = operand {
                if orders.isEmpty { decoration = SortDecoration(location, kind, named) }
                if let order = CompiledSort.slotOrder(location, kind, named) {
                    orders.append(order)
                    continue
                }
            }
            if named.givenComparator != nil, case .subject(_, follow: nil) = operand {
                // A comparator without a key is shown the objects, not what stands for them.
                orders.append { named.compareObjects(schema.publicObject(of: $0), schema.publicObject(of: $1)) }
                continue
            }
            let read = operand.scalar()
            orders.append { named.ordered(try read($0), try read($1)) }
        }
    }

    /// Compares two subjects.
    ///
    /// - Parameters:
    ///   - left: One subject.
    ///   - right: The other.
    /// - Returns: How they lie to each other by the first descriptor that tells them apart.
    /// - Throws: What the schema's closures throw.
    public func compare(_ left: PredicateSubject, _ right: PredicateSubject) throws -> ComparisonResult {
        for order in orders {
            let result = try order(left, right)
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }

    /// Sorts subjects.
    ///
    /// - Parameters:
    ///   - count: How many there are.
    ///   - subject: Gives each by its index. It must stay valid until this method returns.
    /// - Returns: The indices in sorted order; subjects that compare as equal keep their order.
    /// - Throws: What the schema's closures throw.
    public func sortedIndices(count: Int, subject: (Int) -> PredicateSubject) throws -> [Int] {
        if orders.isEmpty || count < 2 { return Array(0..<count) }
        let subjects = (0..<count).map(subject)
        guard let decoration else {
            return try (0..<count).sorted { left, right in
                let result = try compare(subjects[left], subjects[right])
                return result == .orderedSame ? left < right : result == .orderedAscending
            }
        }
        var entries = decoration.entries(of: subjects)
        // When the abridged values are the whole values and nothing else is asked, equal means equal.
        let isDone = decoration.isWhole && orders.count == 1
        try entries.sort { left, right in
            if left.key != right.key { return left.key < right.key }
            if isDone, left.key != decoration.nilKey { return left.index < right.index }
            let result = try compare(subjects[left.index], subjects[right.index])
            return result == .orderedSame ? left.index < right.index : result == .orderedAscending
        }
        return entries.map(\.index)
    }

    /// Compares slots without values in between.
    private static func slotOrder(_ location: SlotLocation, _ kind: SlotKind, _ descriptor: KeySortDescriptor) -> SubjectOrder? {
        switch kind {
        case .bool, .int64: slotOrder(location, Int64.self, ascending: descriptor.ascending)
        case .string where descriptor.order == .binary: slotOrder(location, String.self, ascending: descriptor.ascending)
        default: nil
        }
    }

    private static func slotOrder<Value: Comparable>(
        _ location: SlotLocation, _ type: Value.Type, ascending: Bool
    ) -> SubjectOrder {
        { left, right in
            let result: ComparisonResult
            switch (location.isNull(in: left), location.isNull(in: right)) {
            case (true, true): return .orderedSame
            case (true, false): result = .orderedAscending
            case (false, true): result = .orderedDescending
            case (false, false):
                let first = left.slots.load(fromByteOffset: location.offset, as: Value.self)
                let second = right.slots.load(fromByteOffset: location.offset, as: Value.self)
                result = first < second ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
            }
            return ascending ? result : result.reversed
        }
    }
}

extension KeySortDescriptor {
    /// Compares two objects by the comparator, without a key.
    func compareObjects(_ left: Any, _ right: Any) -> ComparisonResult {
        let result = comparator(left, right)
        return ascending ? result : result.reversed
    }
}
