public import Foundation

/// Sort descriptors compiled for the subjects of one schema.
///
/// Nil comes first, then values in ascending order; a descending descriptor reverses both. Strings are ordered by the code points of
/// their composed form, the order of Swift's `<`. Use a compiled sort on one thread at a time.
public struct CompiledSort {
    private typealias SubjectOrder = (PredicateSubject, PredicateSubject) throws -> ComparisonResult

    /// A compiled descriptor.
    private enum Key {
        /// Compares two subjects directly.
        case subjects(SubjectOrder)
        /// Compares values that are expensive to read, possibly by firing a fault: each is read once for a sort.
        case values(ValueReader, KeySortDescriptor)
    }

    private var keys: [Key] = []
    /// The abbreviated values of the first descriptor, when it supports them.
    private var decoration: AbbreviatedSortKeys?
    /// Retains the objects that the keys refer to.
    private let owner: AnyObject

    /// Compiles sort descriptors.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors, the most significant first. A key may be a path over to-one relationships; `self` is the
    ///     identity.
    ///   - schema: The schema of the subjects.
    ///   - keyName: Returns the property name of a Swift key path, to be used instead of ``KeyPathNames``.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown or leads over a to-many relationship, and when a Swift key path has no
    ///   name.
    public init(
        _ descriptors: [NSSortDescriptor], for schema: any PredicateSchema, keyName: (AnyKeyPath) -> String? = { _ in nil }
    ) throws {
        let compiler = PredicateCompiler(schema: schema, logic: .threeValued)
        owner = compiler
        for descriptor in descriptors {
            let named: KeySortDescriptor
            if descriptor as? KeySortDescriptor == nil, let name = keyName(descriptor.keyPath) {
                named = KeySortDescriptor(keyText: name, ascending: descriptor.ascending)
            } else if let descriptor = descriptor.keyDescriptor {
                named = descriptor
            } else {
                keys.append(.subjects { descriptor.compare(schema.publicObject(of: $0), to: schema.publicObject(of: $1)) })
                continue
            }
            if named.swiftKeyPath != nil, schema is PlainSchema {
                keys.append(.values({ try named.value(of: schema.publicObject(of: $0)) }, named))
                continue
            }
            let operand = try compiler.operand(.path(try named.keyText() ?? ""), clause: "sorted by \(named.shownKey)")
            if operand.isMany {
                throw InvalidPredicateError(
                    kind: .unsupported, message: "Nothing can be sorted by a path over a to-many relationship: \(named.shownKey)")
            }
            if named.givenComparator == nil, case .slot(let location, let kind) = operand {
                if keys.isEmpty { decoration = AbbreviatedSortKeys(location, kind, named) }
                if let order = CompiledSort.slotOrder(location, kind, named) {
                    keys.append(.subjects(order))
                    continue
                }
            }
            if named.givenComparator != nil, case .subject(_, follow: nil) = operand {
                // A comparator without a key receives the objects, not their identities.
                keys.append(.subjects { named.compareObjects(schema.publicObject(of: $0), schema.publicObject(of: $1)) })
                continue
            }
            keys.append(.values(operand.scalar(), named))
        }
    }

    /// Compares two subjects.
    ///
    /// - Parameters:
    ///   - left: The first subject.
    ///   - right: The second subject.
    /// - Returns: Their order by the first descriptor that distinguishes them.
    /// - Throws: The errors of the schema's closures.
    public func compare(_ left: PredicateSubject, _ right: PredicateSubject) throws -> ComparisonResult {
        defer { withExtendedLifetime(owner) {} }
        for key in keys {
            let result: ComparisonResult
            switch key {
            case .subjects(let order): result = try order(left, right)
            case .values(let read, let descriptor): result = descriptor.ordered(try read(left), try read(right))
            }
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }

    /// Sorts subjects.
    ///
    /// - Parameters:
    ///   - count: The number of subjects.
    ///   - subject: Returns the subject at an index. It must stay valid until this method returns.
    /// - Returns: The indices in sorted order; the sort is stable.
    /// - Throws: The errors of the schema's closures.
    public func sortedIndices(count: Int, subject: (Int) -> PredicateSubject) throws -> [Int] {
        if keys.isEmpty || count < 2 { return Array(0..<count) }
        defer { withExtendedLifetime(owner) {} }
        let subjects = (0..<count).map(subject)
        var known: [[PropertyValue?]] = keys.map { key in
            if case .values = key { Array(repeating: nil, count: count) } else { [] }
        }
        func value(_ key: Int, _ index: Int, _ read: ValueReader) throws -> PropertyValue {
            if let value = known[key][index] { return value }
            let value = try read(subjects[index])
            known[key][index] = value
            return value
        }
        func precedes(_ left: Int, _ right: Int) throws -> Bool {
            for (number, key) in keys.enumerated() {
                let result: ComparisonResult
                switch key {
                case .subjects(let order): result = try order(subjects[left], subjects[right])
                case .values(let read, let descriptor):
                    result = descriptor.ordered(try value(number, left, read), try value(number, right, read))
                }
                if result != .orderedSame { return result == .orderedAscending }
            }
            return left < right
        }
        guard let decoration else { return try (0..<count).sorted(by: precedes) }
        var entries = decoration.entries(of: subjects)
        // When the abbreviated values are the complete values and there is no other descriptor, equal means equal.
        let isDone = decoration.isWhole && keys.count == 1
        if count < 256 {
            try entries.sort { left, right in
                if left.key != right.key { return left.key < right.key }
                if isDone, left.key != decoration.nilKey { return left.index < right.index }
                return try precedes(left.index, right.index)
            }
            return entries.map(\.index)
        }
        AbbreviatedSortKeys.sortByKey(&entries)
        // Equal keys are in their original order; if there are more descriptors, each run of equal keys is sorted separately.
        var start = 0
        while start < count {
            let key = entries[start].key
            var end = start + 1
            while end < count, entries[end].key == key { end += 1 }
            if end - start > 1, !isDone || key == decoration.nilKey {
                try entries[start..<end].sort { try precedes($0.index, $1.index) }
            }
            start = end
        }
        return entries.map(\.index)
    }

    /// Compares slots directly, without values.
    private static func slotOrder(_ location: SlotLocation, _ kind: SlotKind, _ descriptor: KeySortDescriptor) -> SubjectOrder? {
        switch kind {
        case .bool, .int64:
            slotOrder(location, ascending: descriptor.ascending) { left, right in
                let first = location.load(left, Int64.self)
                let second = location.load(right, Int64.self)
                return first < second ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
            }
        case .string where descriptor.order == .binary:
            slotOrder(location, ascending: descriptor.ascending) { left, right in
                TextMatching.order(location.text(left), location.text(right))
            }
        default: nil
        }
    }

    @inline(__always) private static func slotOrder(
        _ location: SlotLocation, ascending: Bool, _ order: @escaping (PredicateSubject, PredicateSubject) -> ComparisonResult
    ) -> SubjectOrder {
        { left, right in
            let result: ComparisonResult
            switch (location.isNull(in: left), location.isNull(in: right)) {
            case (true, true): return .orderedSame
            case (true, false): result = .orderedAscending
            case (false, true): result = .orderedDescending
            case (false, false): result = order(left, right)
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
