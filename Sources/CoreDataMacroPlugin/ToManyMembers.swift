#if Macros
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The methods that Xcode generates for a to-many relationship, with Swift's collections instead of Foundation's.
enum ToManyMembers {
    static func members(of property: PropertySyntax, access: String) -> [DeclSyntax] {
        guard let (element, isOrdered) = property.toMany else { return [] }
        let title = property.swiftName.capitalizedFirst
        let name = property.nameLiteral
        let collection = isOrdered ? "[\(element)]" : "Set<\(element)>"
        var members: [DeclSyntax] = [
            "\(raw: access)func addTo\(raw: title)(_ value: \(element)) { addObjects([value], toRelationship: \(raw: name)) }",
            "\(raw: access)func addTo\(raw: title)(_ values: \(raw: collection)) { addObjects(values, toRelationship: \(raw: name)) }",
            "\(raw: access)func removeFrom\(raw: title)(_ value: \(element)) { removeObjects([value], fromRelationship: \(raw: name)) }",
            """
            \(raw: access)func removeFrom\(raw: title)(_ values: \(raw: collection)) { removeObjects(values, fromRelationship: \(raw: name)) }
            """,
        ]
        guard isOrdered else { return members }
        members += [
            """
            \(raw: access)func insertInto\(raw: title)(_ value: \(element), at index: Int) {
                insertObjects([value], at: [index], intoRelationship: \(raw: name))
            }
            """,
            """
            \(raw: access)func insertInto\(raw: title)(_ values: [\(element)], at indexes: IndexSet) {
                insertObjects(values, at: indexes, intoRelationship: \(raw: name))
            }
            """,
            """
            \(raw: access)func removeFrom\(raw: title)(at index: Int) { removeObjects(at: [index], fromRelationship: \(raw: name)) }
            """,
            """
            \(raw: access)func removeFrom\(raw: title)(at indexes: IndexSet) { removeObjects(at: indexes, fromRelationship: \(raw: name)) }
            """,
            """
            \(raw: access)func replace\(raw: title)(at index: Int, with value: \(element)) {
                replaceObjects(at: [index], with: [value], inRelationship: \(raw: name))
            }
            """,
            """
            \(raw: access)func replace\(raw: title)(at indexes: IndexSet, with values: [\(element)]) {
                replaceObjects(at: indexes, with: values, inRelationship: \(raw: name))
            }
            """,
        ]
        return members
    }
}
#endif
