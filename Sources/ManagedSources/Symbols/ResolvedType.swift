#if ManagedAccessors
/// A type whose declaration is known.
indirect enum ResolvedType: Hashable {
    /// A class, structure or enumeration, with the generic arguments of each nesting level.
    case nominal(Nominal, [[ResolvedType]])
    case optional(ResolvedType)
    /// `any P`.
    case existential(Nominal)
    case any
    case anyObject

    /// The modules of the type and its components.
    var modules: Set<String> {
        switch self {
        case .any, .anyObject: []
        case .optional(let wrapped): wrapped.modules
        case .existential(let nominal): [nominal.module, nominal.declaringModule]
        case .nominal(let nominal, let arguments):
            arguments.joined().reduce(into: [nominal.module, nominal.declaringModule]) { $0.formUnion($1.modules) }
        }
    }
}

/// A class, structure, enumeration or protocol, by its context.
struct Nominal: Hashable {
    struct Component: Hashable {
        let name: String
        /// `C`, `V`, `O` or `P`.
        let kind: String
        /// The module of the enclosing extension, if it is not that of the enclosing type.
        let extendingModule: String?
        let parameterCount: Int
    }

    let module: String
    /// The type and its enclosing types, outermost first.
    let components: [Component]

    func nested(_ name: String, kind: String, extendingModule: String?, parameterCount: Int) -> Nominal {
        let component = Component(name: name, kind: kind, extendingModule: extendingModule, parameterCount: parameterCount)
        return Nominal(module: module, components: components + [component])
    }

    /// The module of the type's declaration, which may extend a type of another module.
    var declaringModule: String { components.last { $0.extendingModule != nil }?.extendingModule ?? module }

    /// The names, separated by dots.
    var path: String { components.map(\.name).joined(separator: ".") }
}
#endif
