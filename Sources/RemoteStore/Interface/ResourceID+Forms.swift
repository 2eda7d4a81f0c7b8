package import Foundation

extension ResourceID {
    /// Whether two identifiers denote the same resource: services may write a number as text, and letters of a UUID in either case.
    package func isSame(as other: ResourceID) -> Bool { self == other || commonForm == other.commonForm }

    /// A normalized text that all forms of an identifier share.
    package var commonForm: String { description.lowercased() }

    /// The name of the form, for people.
    package var formName: String {
        switch self {
        case .integer: "a number"
        case .string: "text"
        case .uuid: "a UUID"
        case .composite(let parts): "(" + parts.map(\.formName).joined(separator: ", ") + ")"
        }
    }

    /// The setting that converts this form, which rows have, and another one into the same form: the key `identifier` in the description of a web service.
    package func cure(for other: ResourceID) -> String {
        if case .composite = self { return Self.compositeCure }
        if case .uuid = self { return "identifier: uuid" }
        if case .uuid = other { return "identifier: uuid" }
        if case .integer = self { return "identifier: integer" }
        // Two strings differ only in the case of a UUID's letters.
        if case .string = self, case .string = other { return "identifier: uuid" }
        return "identifier: string"
    }
}

extension ResourceID {
    /// The setting that gives identifiers of several parts the same form.
    package static let compositeCure =
        "an integer attribute at the place of each part that is a number in rows, and a string attribute at each other,"

    /// Whether both identifiers are numbers, or both are text that is not a UUID, so that neither can be another form of the other.
    package func hasOnlyOneKind(as other: ResourceID) -> Bool {
        switch (self, other) {
        case (.integer, .integer): true
        case (.string(let text), .string(let otherText)): text.utf8.count != 36 && otherText.utf8.count != 36
        default: false
        }
    }

    /// The same identifier in the other forms that services use: a number as text, a UUID as text in lowercase or uppercase.
    package var otherForms: [ResourceID] {
        switch self {
        case .integer(let number): return [.string("\(number)")]
        case .uuid(let uuid): return [.string(uuid.uuidString.lowercased()), .string(uuid.uuidString)]
        case .string(let text):
            if text.utf8.count == 36, let uuid = UUID(uuidString: text) {
                return [.uuid(uuid)]
                    + [uuid.uuidString.lowercased(), uuid.uuidString].filter { $0 != text }.map { .string($0) }
            }
            guard text.utf8.count <= 20, let number = Int64(text), "\(number)" == text else { return [] }
            return [.integer(number)]
        case .composite(let parts):
            var forms: [[ResourceID]] = [[]]
            for part in parts {
                forms = forms.flatMap { known in ([part] + part.otherForms).map { known + [$0] } }
                if forms.count > 64 { return [] }
            }
            // The first form is the identifier itself.
            return forms.dropFirst().map { .composite($0) }
        }
    }
}

/// Detects resources of an answer whose identifiers are the requested ones in another form. No existing object has such an identifier.
package struct OtherForms {
    private let asked: [String: ResourceID]
    /// The identifiers that were requested in more than one form.
    private let askedTwice: Set<ResourceID>
    private let entity: String

    package init(_ asked: some Sequence<ResourceID>, of entity: String) {
        var twice: Set<ResourceID> = []
        self.asked = Dictionary(asked.map { ($0.commonForm, $0) }) { first, other in
            if first != other { twice.formUnion([first, other]) }
            return first
        }
        askedTwice = twice
        self.entity = entity
    }

    /// Returns the requested identifier, if an identifier is another form of it, with the error that says so.
    package func contradiction(_ found: ResourceID) -> (asked: ResourceID, error: NSError)? {
        guard let asked = asked[found.commonForm], asked != found, !askedTwice.contains(found) else { return nil }
        return (asked, RemoteStoreError.otherForm(of: entity, asked, found))
    }
}
