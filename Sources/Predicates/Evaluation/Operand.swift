/// Answers whether a subject matches.
typealias SubjectTest = (PredicateSubject) throws -> Bool
/// Reads one value.
typealias ValueReader = (PredicateSubject) throws -> PropertyValue
/// Visits values until the callback answers false.
typealias ValueVisitor = (PredicateSubject, (PropertyValue) throws -> Bool) throws -> Void
/// Visits subjects until the callback answers false.
typealias SubjectVisitor = (PredicateSubject, (PredicateSubject) throws -> Bool) throws -> Void
/// Follows to another subject, or to none.
typealias SubjectFollower = (PredicateSubject) throws -> PredicateSubject?

/// One side of a comparison, compiled as far as its kind is known.
enum Operand {
    /// Always the same.
    case constant(PropertyValue)
    /// An attribute of the subject itself.
    case slot(SlotLocation, SlotKind)
    /// One value that can be no collection.
    case value(ValueReader)
    /// One value of a kind known only at run time.
    case dynamic(ValueReader)
    /// A subject reached over relationships to one; without a follower, the subject itself.
    case subject(SchemaReference, follow: SubjectFollower?)
    /// The end of a relationship to one: what stands for it in comparisons is known without following.
    case reference(SchemaReference, identity: ValueReader, follow: SubjectFollower)
    /// Subjects reached over a relationship to many, and how many they are where that is known without visiting them.
    case subjects(SchemaReference, SubjectVisitor, count: ValueReader? = nil)
    /// Values reached over a relationship to many.
    case values(ValueVisitor)

    /// Reads the operand as one value; many become an array.
    func scalar() -> ValueReader {
        switch self {
        case .constant(let value): return { _ in value }
        case .slot(let location, let kind): return { location.read($0, kind) }
        case .value(let read), .dynamic(let read), .reference(_, let read, _): return read
        case .subject(let schema, follow: nil): return { schema.identity(of: $0) }
        case .subject(let schema, .some(let follow)):
            return { subject in try follow(subject).map { schema.identity(of: $0) } ?? .null }
        case .subjects, .values:
            let visit = elements()
            return { subject in
                var result: [PropertyValue] = []
                try visit(subject) {
                    result.append($0)
                    return true
                }
                return .array(result)
            }
        }
    }

    /// Whether this certainly is many, or may turn out to be at run time.
    var isMany: Bool {
        switch self {
        case .subjects, .values: true
        default: false
        }
    }

    /// Visits the elements, of nested collections too; a nil instead of a collection has none.
    func elements(clause: String = "") -> ValueVisitor {
        switch self {
        case .values(let visit): return visit
        case .subjects(let schema, let visit, _):
            return { subject, body in try visit(subject) { try body(schema.identity(of: $0)) } }
        default:
            let read = scalar()
            return { subject, body in
                let value = try read(subject)
                if value.isNull { return }
                guard value.elements != nil else {
                    throw InvalidPredicateError(
                        kind: .unsupported, message: "\(value.typeName) is not a collection, in the clause \(clause)")
                }
                _ = try value.visitLeaves(body)
            }
        }
    }
}

extension PropertyValue {
    /// Visits the elements of a collection and of the collections in it; a value that is none is its own only element.
    func visitLeaves(_ body: (PropertyValue) throws -> Bool) throws -> Bool {
        guard let elements else { return try body(self) }
        for element in elements where try !element.visitLeaves(body) { return false }
        return true
    }
}
