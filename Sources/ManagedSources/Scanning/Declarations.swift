#if ManagedAccessors
internal import SwiftSyntax

/// The enclosing scope of a declaration: a type, or an extension of one.
final class Scope {
    enum Kind {
        case type(TypeDeclaration)
        /// An extension, by the names in its declaration (`Album.Info`).
        case extensionOf([String])
    }

    let kind: Kind
    let outer: Scope?
    let access: Access
    let isGeneric: Bool

    init(_ kind: Kind, in outer: Scope?, access: Access, isGeneric: Bool) {
        self.kind = kind
        self.outer = outer
        self.access = access
        self.isGeneric = isGeneric
    }
}

/// A class, structure, enumeration, protocol or typealias declared in a source file.
final class TypeDeclaration {
    enum Kind: String {
        case objectClass = "C"
        case structure = "V"
        case enumeration = "O"
        case interface = "P"
        case alias = "a"
    }

    let name: String
    let kind: Kind
    let file: SourceFile
    let scope: Scope?
    let access: Access
    let parameterCount: Int
    let inherited: [TypeSyntax]
    /// The type that a typealias names.
    let aliased: TypeSyntax?

    init(
        name: String, kind: Kind, file: SourceFile, scope: Scope?, access: Access, parameterCount: Int, inherited: [TypeSyntax],
        aliased: TypeSyntax? = nil
    ) {
        self.name = name
        self.kind = kind
        self.file = file
        self.scope = scope
        self.access = access
        self.parameterCount = parameterCount
        self.inherited = inherited
        self.aliased = aliased
    }
}

/// An access level.
enum Access: String, Comparable {
    case `private`, `fileprivate`, `internal`, package, `public`, open

    private var rank: Int {
        switch self {
        case .private, .fileprivate: 0
        case .internal: 1
        case .package: 2
        case .public, .open: 3
        }
    }

    static func < (left: Access, right: Access) -> Bool { left.rank < right.rank }
}

/// An `@NSManaged` property or method.
struct ManagedMember {
    enum Kind {
        case property(TypeSyntax)
        case function([Parameter], result: TypeSyntax?)
    }

    struct Parameter {
        let label: String?
        let type: TypeSyntax
    }

    let name: String
    let kind: Kind
    let scope: Scope
    /// The declared access level, or the default of the extension.
    let access: Access
    /// The Objective-C name given by `@objc(…)`.
    let objectiveCName: String?
    /// The conditions of the enclosing `#if`s, outermost first, in source form.
    let conditions: [String]
    let position: AbsolutePosition
    /// The whole declaration.
    let node: DeclSyntax
}
#endif
