#if ManagedAccessors
/// A type of which it is known where it is declared, and as what.
indirect enum ResolvedType: Hashable {
    /// A class, structure or enumeration, with the arguments of each nesting level if there are any.
    case nominal(Nominal, [[ResolvedType]])
    case optional(ResolvedType)
    /// `any P`.
    case existential(Nominal)
    case any
    case anyObject

    /// The modules that declare the type and what it is made of.
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

/// A class, structure, enumeration or protocol, by its place.
struct Nominal: Hashable {
    struct Component: Hashable {
        let name: String
        /// `C`, `V`, `O` or `P`.
        let kind: String
        /// The module of the extension it is declared in, when that is not the module of the type around it.
        let extendingModule: String?
        let parameterCount: Int
    }

    let module: String
    /// The type and those around it, outermost first.
    let components: [Component]

    func nested(_ name: String, kind: String, extendingModule: String?, parameterCount: Int) -> Nominal {
        let component = Component(name: name, kind: kind, extendingModule: extendingModule, parameterCount: parameterCount)
        return Nominal(module: module, components: components + [component])
    }

    /// The module that declares the type itself, which may extend a type of another.
    var declaringModule: String { components.last { $0.extendingModule != nil }?.extendingModule ?? module }

    /// The names with dots between them.
    var path: String { components.map(\.name).joined(separator: ".") }
}
#endif
