internal import Foundation
internal import RemoteStore
internal import Synchronization

/// The forms of identifiers that a service may mix for the same identifier: `2` and `"2"`, a UUID in lower and in upper case. Composite identifiers
/// have a form for each part.
struct IdentifierForms: OptionSet, Sendable {
    let rawValue: UInt64

    static let number = IdentifierForms(rawValue: 1)
    /// Text that is a number.
    static let digits = IdentifierForms(rawValue: 2)
    /// A UUID in any case.
    static let uuid = IdentifierForms(rawValue: 4)
    static let smallUUID = IdentifierForms(rawValue: 8)
    static let largeUUID = IdentifierForms(rawValue: 16)
    static let mixedUUID = IdentifierForms(rawValue: 32)

    private static let numbers: IdentifierForms = [.number, .digits]
    private static let uuids: IdentifierForms = [.uuid, .smallUUID, .largeUUID, .mixedUUID]
    /// The number of bits for a part, and the maximum number of parts.
    private static let width = 6
    private static let mostParts = 10

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates the form of an identifier; empty for an identifier with a single form.
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

    /// Returns the forms of a part.
    private func part(_ place: Int) -> IdentifierForms {
        IdentifierForms(rawValue: rawValue >> UInt64(place * Self.width) & (1 << UInt64(Self.width) - 1))
    }

    /// Returns whether this form is a variant of the known forms without being one of them.
    func contradicts(_ known: IdentifierForms) -> Bool {
        (0..<(rawValue >> UInt64(Self.width) == 0 ? 1 : Self.mostParts)).contains { place in
            let (own, other) = (part(place), known.part(place))
            return !own.isEmpty && own.isDisjoint(with: other)
                && !other.isDisjoint(with: own.isSubset(of: Self.numbers) ? Self.numbers : Self.uuids)
        }
    }

    /// An example of the form, which provides its name.
    private var example: ResourceID { contains(.number) ? .integer(0) : contains(.uuid) ? .uuid(UUID()) : .string("") }

    /// Returns the name of the form, for identifiers like one.
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

    /// Returns the correction that makes this form, which rows have, and another form the same, for identifiers like one.
    func cure(for other: IdentifierForms, like id: ResourceID) -> String {
        if case .composite = id { return ResourceID.compositeCure }
        return example.cure(for: other.example)
    }
}

/// The forms of an entity's identifiers that have been seen.
final class SeenForms: Sendable {
    private let ofRows = Atomic<UInt64>(0)
    private let ofSaved = Atomic<UInt64>(0)

    /// The forms in rows of answers.
    var rows: IdentifierForms { IdentifierForms(rawValue: ofRows.load(ordering: .relaxed)) }
    /// The forms in answers to new resources.
    private var saved: IdentifierForms { IdentifierForms(rawValue: ofSaved.load(ordering: .relaxed)) }

    /// Notes the identifier of a row.
    ///
    /// - Throws: Code 134070 if the identifiers of new resources had another form: the resource would appear twice.
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

    /// Notes the identifier of a new resource from the answer to it.
    ///
    /// - Returns: The form in rows, and the correction; nil if it is the same, or not known.
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

    /// Returns the error of a reference whose form differs from that of rows; nil for none.
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
