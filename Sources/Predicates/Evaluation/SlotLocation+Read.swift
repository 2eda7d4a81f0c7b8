import Foundation

extension SlotLocation {
    /// Reads a slot as a value.
    func read(_ subject: PredicateSubject, _ kind: SlotKind) -> PropertyValue {
        if isNull(in: subject) { return .null }
        switch kind {
        case .bool: return .bool(subject.slots.load(fromByteOffset: offset, as: Int64.self) != 0)
        case .int64: return .int64(subject.slots.load(fromByteOffset: offset, as: Int64.self))
        case .double: return .double(subject.slots.load(fromByteOffset: offset, as: Double.self))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: subject.slots.load(fromByteOffset: offset, as: Double.self)))
        case .string: return .string(subject.slots.load(fromByteOffset: offset, as: String.self))
        case .data: return .data(subject.slots.load(fromByteOffset: offset, as: Data.self))
        case .uuid: return .uuid(subject.slots.load(fromByteOffset: offset, as: UUID.self))
        }
    }
}
