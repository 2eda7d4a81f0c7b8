#if ManagedAccessors
internal import SwiftSyntax

/// What a declaration is nested in: a type, or an extension of one.
final class Scope {
    enum Kind {
        case type(TypeDeclaration)
        /// An extension, by the names it is written with (`Album.Info`).
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

/// A class, structure, enumeration, protocol or typealias that a source file declares.
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
    /// What a typealias stands for.
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

/// Who may use a declaration.
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

/// A property or method that `@NSManaged` leaves to be made.
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
    /// As it is declared, with what an extension gives its members.
    let access: Access
    /// The Objective-C name given by `@objc(…)`.
    let objectiveCName: String?
    /// The conditions of the `#if`s it stands in, outermost first, as they are to be written again.
    let conditions: [String]
    let position: AbsolutePosition
    /// The whole declaration.
    let node: DeclSyntax
}
#endif
