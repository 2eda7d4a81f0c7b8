public import Foundation

/// Sort descriptors made ready for comparing values that were read from subjects before, whatever has become of the subjects since.
///
/// The order is that of ``CompiledSort``. What a descriptor that only Foundation understands compares is the object itself: its values are
/// read anew each time. Serves one thread at a time.
public struct CompiledSortKeys {
    /// One descriptor, made ready.
    private struct Key {
        let read: ValueReader
        let compare: (PropertyValue, PropertyValue) -> ComparisonResult
    }

    private var keys: [Key] = []
    /// Whether a key leads over a relationship, so that other objects than the subject itself bear on the order.
    public private(set) var readsRelated = false

    /// Makes descriptors ready.
    ///
    /// - Parameters:
    ///   - descriptors: The descriptors, the most important first.
    ///   - schema: What will be sorted.
    /// - Throws: ``InvalidPredicateError`` when a key is unknown, or leads over a relationship to many.
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
                // A comparator without a key is shown the objects, not what stands for them.
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

    /// The values that a subject is sorted by.
    ///
    /// - Throws: What the schema's closures throw.
    public func values(of subject: PredicateSubject) throws -> [PropertyValue] { try keys.map { try $0.read(subject) } }

    /// Compares the values of two subjects.
    public func compare(_ left: [PropertyValue], _ right: [PropertyValue]) -> ComparisonResult {
        for (index, key) in keys.enumerated() {
            let result = key.compare(left[index], right[index])
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }
}
