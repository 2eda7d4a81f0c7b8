internal import Foundation
internal import RemoteStore
internal import Synchronization

/// The forms in which a service writes identifiers that are one and the same in another form: `2` and `"2"`, a UUID in small and in large letters.
/// Those of identifiers of several parts are kept part by part.
struct IdentifierForms: OptionSet, Sendable {
    let rawValue: UInt64

    static let number = IdentifierForms(rawValue: 1)
    /// Text that is a number.
    static let digits = IdentifierForms(rawValue: 2)
    /// What is read as a UUID, whatever its letters are.
    static let uuid = IdentifierForms(rawValue: 4)
    static let smallUUID = IdentifierForms(rawValue: 8)
    static let largeUUID = IdentifierForms(rawValue: 16)
    static let mixedUUID = IdentifierForms(rawValue: 32)

    private static let numbers: IdentifierForms = [.number, .digits]
    private static let uuids: IdentifierForms = [.uuid, .smallUUID, .largeUUID, .mixedUUID]
    /// The bits of one part, and the number of parts that there is room for.
    private static let width = 6
    private static let mostParts = 10

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates the form of an identifier; none for one that has no other form.
    init(of id: ResourceID) {
        switch id {
        case .integer: self = .number
        case .uuid: self = .uuid
        case .composite(let parts):
            var bits: UInt64 = 0
            for (place, part) in parts.prefix(Self.mostParts).enumerated() {
                if case .composite = part { continue }
                bits |= IdentifierForms(of: part).rawValue << UInt64(place * Self.width)
            }
            self.init(rawValue: bits)
        case .string(let text):
            let count = text.utf8.count
            if count <= 20 {
                self = Int64(text).map { "\($0)" == text } ?? false ? .digits : []
            } else if count == 36, let uuid = UUID(uuidString: text)?.uuidString, uuid != uuid.lowercased() {
                self = text == uuid ? .largeUUID : text == uuid.lowercased() ? .smallUUID : .mixedUUID
            } else {
                self = []
            }
        }
    }

    /// The forms of a part.
    private func part(_ place: Int) -> IdentifierForms {
        IdentifierForms(rawValue: rawValue >> UInt64(place * Self.width) & (1 << UInt64(Self.width) - 1))
    }

    /// Whether an identifier of this form is one of the other forms that are known, and of none that is this.
    func contradicts(_ known: IdentifierForms) -> Bool {
        (0..<(rawValue >> UInt64(Self.width) == 0 ? 1 : Self.mostParts)).contains { place in
            let (own, other) = (part(place), known.part(place))
            return !own.isEmpty && own.isDisjoint(with: other)
                && !other.isDisjoint(with: own.isSubset(of: Self.numbers) ? Self.numbers : Self.uuids)
        }
    }

    /// An example of the form, which names it.
    private var example: ResourceID { contains(.number) ? .integer(0) : contains(.uuid) ? .uuid(UUID()) : .string("") }

    /// What the forms of identifiers like one are called.
    func name(like id: ResourceID) -> String {
        if case .composite(let parts) = id {
            return "(" + parts.indices.map { part($0).name(like: "") }.joined(separator: ", ") + ")"
        }
        switch self {
        case .smallUUID: return "a UUID in small letters"
        case .largeUUID: return "a UUID in capital letters"
        case .mixedUUID: return "a UUID in small and capital letters"
        default: return example.formName
        }
    }

    /// What makes one form of this one, which rows have, and of another, for identifiers like one.
    func cure(for other: IdentifierForms, like id: ResourceID) -> String {
        if case .composite = id { return ResourceID.compositeCure }
        return example.cure(for: other.example)
    }
}

/// The forms that the identifiers of an entity's resources have been seen in.
final class SeenForms: Sendable {
    private let ofRows = Atomic<UInt64>(0)
    private let ofSaved = Atomic<UInt64>(0)

    /// The forms in rows of answers.
    var rows: IdentifierForms { IdentifierForms(rawValue: ofRows.load(ordering: .relaxed)) }
    /// The forms in answers to new resources.
    private var saved: IdentifierForms { IdentifierForms(rawValue: ofSaved.load(ordering: .relaxed)) }

    /// Notes the identifier of a row.
    ///
    /// - Throws: Code 134070 where the identifiers of new resources had another form: this one would be shown twice.
    func noteRow(_ id: ResourceID, _ plan: ResourcePlan, _ label: String) throws {
        let form = IdentifierForms(of: id)
        if form.isEmpty || rows.isSuperset(of: form) { return }
        if !saved.isEmpty, form.contradicts(saved), rows.isDisjoint(with: saved) {
            throw WebBackendError.answer(
                label,
                "“\(plan.entity)” \(id) is \(form.name(like: id)) here, and was \(saved.name(like: id)) in the answer to a new one: it would be two objects.",
                next: "Write \(form.cure(for: saved, like: id)) for “\(plan.entity)” in the description.")
        }
        ofRows.bitwiseOr(form.rawValue, ordering: .relaxed)
    }

    /// Notes the identifier of a new resource, as the answer to it tells it.
    ///
    /// - Returns: What rows have instead, and what to do about it; nil where that is the same, or not known.
    func noteSaved(_ id: ResourceID, _ entity: String) -> (expected: String, next: String)? {
        let form = IdentifierForms(of: id)
        if form.isEmpty { return nil }
        if form.contradicts(rows) {
            return (
                "\(rows.name(like: id)) as its identifier, as lists of “\(entity)” do",
                "Write \(rows.cure(for: form, like: id)) for “\(entity)” in the description."
            )
        }
        ofSaved.bitwiseOr(form.rawValue, ordering: .relaxed)
        return nil
    }

    /// Returns the error of a reference in another form than rows have; nil for none.
    func mistake(_ id: ResourceID, _ entity: String, _ property: String, of owner: String, _ label: String) -> NSError? {
        let known = rows
        if known.isEmpty { return nil }
        let form = IdentifierForms(of: id)
        guard form.contradicts(known) else { return nil }
        return WebBackendError.answer(
            label,
            "“\(property)” of “\(owner)” refers to “\(entity)” by “\(id)”, which is \(form.name(like: id)), and “\(entity)” itself has \(known.name(like: id)).",
            next: "Write \(known.cure(for: form, like: id)) for “\(entity)” in the description.")
    }
}
