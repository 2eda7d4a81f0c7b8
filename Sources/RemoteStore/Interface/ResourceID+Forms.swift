package import Foundation

extension ResourceID {
    /// Whether two identifiers are of one resource: services write a number as a text, and letters of a UUID in either case.
    package func isSame(as other: ResourceID) -> Bool { self == other || commonForm == other.commonForm }

    /// What is the same of all forms of an identifier.
    package var commonForm: String { description.lowercased() }

    /// The form, for people.
    package var formName: String {
        switch self {
        case .integer: "a number"
        case .string: "text"
        case .uuid: "a UUID"
        case .composite: "of several parts"
        }
    }

    /// What makes one form of this one, which rows have, and of another, by the key `identifier` in the description of a web service.
    package func cure(for other: ResourceID) -> String {
        if case .uuid = self { return "identifier: uuid" }
        if case .uuid = other { return "identifier: uuid" }
        if case .integer = self { return "identifier: integer" }
        // Of two texts nothing but the case of a UUID's letters is another.
        if case .string = self, case .string = other { return "identifier: uuid" }
        return "identifier: string"
    }
}

/// The resources of an answer whose identifiers are those that were asked for, in another form: they are no objects that anybody has.
package struct OtherForms {
    private let asked: [String: ResourceID]
    private let entity: String

    package init(_ asked: some Sequence<ResourceID>, of entity: String) {
        self.asked = Dictionary(asked.map { ($0.commonForm, $0) }, uniquingKeysWith: { first, _ in first })
        self.entity = entity
    }

    /// Returns what was asked for, if an identifier is another form of it, with the error that says so.
    package func contradiction(_ found: ResourceID) -> (asked: ResourceID, error: NSError)? {
        guard let asked = asked[found.commonForm], asked != found else { return nil }
        return (asked, RemoteStoreError.otherForm(of: entity, asked, found))
    }
}
