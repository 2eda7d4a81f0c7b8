/// Returns whether a subject matches.
typealias SubjectTest = (PredicateSubject) throws -> Bool
/// Reads one value.
typealias ValueReader = (PredicateSubject) throws -> PropertyValue
/// Visits values until the callback returns false.
typealias ValueVisitor = (PredicateSubject, (PropertyValue) throws -> Bool) throws -> Void
/// Visits subjects until the callback returns false.
typealias SubjectVisitor = (PredicateSubject, (PredicateSubject) throws -> Bool) throws -> Void
/// Counts the elements of a collection.
typealias ElementCounter = (PredicateSubject) throws -> Int
/// Returns a related subject, or nil.
typealias SubjectFollower = (PredicateSubject) throws -> PredicateSubject?

/// One side of a comparison, compiled as far as its kind is known.
enum Operand {
    /// A constant.
    case constant(PropertyValue)
    /// An attribute of the subject.
    case slot(SlotLocation, SlotKind)
    /// A value that is not a collection.
    case value(ValueReader)
    /// A value whose kind is known at run time only.
    case dynamic(ValueReader)
    /// A subject reached over to-one relationships; without a follower, the evaluated subject.
    case subject(SchemaReference, follow: SubjectFollower?)
    /// The destination of a to-one relationship, whose identity is known without loading it.
    case reference(SchemaReference, identity: ValueReader, follow: SubjectFollower)
    /// The subjects reached over a to-many relationship, and their count if it is known without visiting them.
    case subjects(SchemaReference, SubjectVisitor, count: ElementCounter? = nil)
    /// One of the subjects reached over a to-many relationship, by its index: the visitor visits only that one, or none if it does not exist.
    case chosen(SchemaReference, SubjectVisitor)
    /// An attribute of the subjects reached over a to-many relationship.
    case slots(SubjectVisitor, SlotLocation, SlotKind)
    /// The number of elements of a collection.
    case count(ElementCounter)
    /// The values reached over a to-many relationship.
    case values(ValueVisitor)

    /// Returns a reader of the operand as one value; several values become an array.
    func scalar() -> ValueReader {
        switch self {
        case .constant(let value): return { _ in value }
        case .slot(let location, let kind): return { location.read($0, kind) }
        case .value(let read), .dynamic(let read), .reference(_, let read, _): return read
        case .count(let count): return { .int64(Int64(try count($0))) }
        case .subject(let schema, follow: nil): return { schema.identity(of: $0) }
        case .subject(let schema, .some(let follow)):
            return { subject in try follow(subject).map { schema.identity(of: $0) } ?? .null }
        case .chosen(let schema, let visit):
            return { subject in
                var result = PropertyValue.null
                try visit(subject) {
                    result = schema.identity(of: $0)
                    return false
                }
                return result
            }
        case .subjects, .slots, .values:
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

    /// Whether the operand is a collection, or may be one at run time.
    var isMany: Bool {
        switch self {
        case .subjects, .slots, .values: true
        default: false
        }
    }

    /// Returns a visitor of the elements, including those of nested collections; nil instead of a collection has none.
    func elements(clause: String = "") -> ValueVisitor {
        switch self {
        case .values(let visit): return visit
        case .subjects(let schema, let visit, _):
            return { subject, body in try visit(subject) { try body(schema.identity(of: $0)) } }
        case .slots(let visit, let location, let kind):
            return { subject, body in try visit(subject) { try body(location.read($0, kind)) } }
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
    /// Visits the elements of a collection and its nested collections; any other value is its only element.
    func visitLeaves(_ body: (PropertyValue) throws -> Bool) throws -> Bool {
        guard let elements else { return try body(self) }
        for element in elements where try !element.visitLeaves(body) { return false }
        return true
    }
}
