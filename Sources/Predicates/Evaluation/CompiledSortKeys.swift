public import Foundation

/// Sort descriptors compiled for comparing values that were read from subjects earlier, which may have changed since.
///
/// The order is that of ``CompiledSort``. A descriptor that only Foundation understands compares the objects themselves: their values are
/// read each time. Use it on one thread at a time.
public struct CompiledSortKeys {
    /// A compiled descriptor.
    private struct Key {
        let read: ValueReader
        let compare: (PropertyValue, PropertyValue) -> ComparisonResult
    }

    private var keys: [Key] = []
    /// Whether a key leads over a relationship, so that the order depends on other objects too.
    public private(set) var readsRelated = false

    /// Compiles sort descriptors.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors, the most significant first.
    ///   - schema: The schema of the subjects.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown, or leads over a to-many relationship.
    public init(_ descriptors: [NSSortDescriptor], for schema: any PredicateSchema) throws {
        let compiler = PredicateCompiler(schema: schema, logic: .threeValued)
        for descriptor in descriptors {
            guard let named = descriptor.keyDescriptor else {
                readsRelated = true
                keys.append(
                    Key(read: { .object(ObjectReference(schema.publicObject(of: $0) as AnyObject)) }) { left, right in
                        guard case .object(let first) = left, case .object(let second) = right else { return .orderedSame }
                        return descriptor.compare(first.object, to: second.object)
                    })
                continue
            }
            let path = try named.keyText() ?? ""
            let operand = try compiler.operand(.path(path), clause: "sorted by \(named.shownKey)")
            if operand.isMany {
                throw InvalidPredicateError(
                    kind: .unsupported, message: "Nothing can be sorted by a path over a to-many relationship: \(named.shownKey)")
            }
            if path.contains(".") { readsRelated = true }
            if named.givenComparator != nil, case .subject(_, follow: nil) = operand {
                // A comparator without a key receives the objects, not their identities.
                keys.append(
                    Key(read: { .object(ObjectReference(schema.publicObject(of: $0) as AnyObject)) }) { left, right in
                        guard case .object(let first) = left, case .object(let second) = right else { return .orderedSame }
                        return named.compareObjects(first.object, second.object)
                    })
                continue
            }
            keys.append(Key(read: operand.scalar(), compare: named.ordered))
        }
    }

    /// Reads the sort key values of a subject.
    ///
    /// - Throws: The errors of the schema's closures.
    public func values(of subject: PredicateSubject) throws -> [PropertyValue] { try keys.map { try $0.read(subject) } }

    /// Compares the sort key values of two subjects.
    public func compare(_ left: [PropertyValue], _ right: [PropertyValue]) -> ComparisonResult {
        for (index, key) in keys.enumerated() {
            let result = key.compare(left[index], right[index])
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }
}
