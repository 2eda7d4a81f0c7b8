/// Names that properties and classes of a model cannot have in Swift unchanged.
///
/// The check of models, the writers of Swift sources, the generator of classes and the macros go by these lists. The macros are why they have a
/// module of their own: a macro is built for the machine that compiles, and CoreData need not be.
package enum TakenNames {
    /// Members of `NSObject` and `NSManagedObject`, which Xcode refuses as names of properties too.
    package static let members: Set<String> = [
        "class", "description", "debugDescription", "hash", "self", "superclass", "isProxy", "copy", "mutableCopy", "init", "entity",
        "objectID", "managedObjectContext", "hasChanges", "hasPersistentChangedValues", "isInserted", "isUpdated", "isDeleted", "isFault",
        "faultingState", "observationInfo", "changedValues", "committedValues", "awakeFromFetch", "awakeFromInsert", "prepareForDeletion",
        "willSave", "didSave", "willTurnIntoFault", "didTurnIntoFault", "validateForInsert", "validateForUpdate", "validateForDelete",
    ]

    /// Members that every managed object has in Swift.
    package static let membersInSwift: Set<String> = members.union(["isEqual", "hashValue", "entityDeclaration"])

    /// Names that no property can have, in backticks or not.
    package static let impossible: Set<String> = membersInSwift.union(["self", "Self", "Type", "Protocol", "init"])

    /// Words of Swift that name a declaration only in backticks.
    package static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
        "internal", "is", "let", "nil", "open", "operator", "precedencegroup", "private", "Protocol", "protocol", "public", "repeat",
        "rethrows", "return", "Self", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "Type",
        "typealias", "var", "where", "while",
    ]
}
