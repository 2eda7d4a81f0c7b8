internal import Foundation
internal import Platform
internal import Predicates

/// The names of managed object classes that Foundation cannot name: those nested in other types, and those private to a file.
package final class ManagedClassNames: Sendable {
    package static let shared = ManagedClassNames()
    private let classes = LockedBox<[String: any ObjectClass.Type]>([:])

    /// Returns the name of a class, by which ``objectClass(named:)`` finds it.
    package func name(of objectClass: any ObjectClass.Type) -> String {
        let parts = Self.parts(String(reflecting: objectClass))
        let name = parts.joined(separator: ".")
        // A class at the top of its module is found by its name.
        if parts.count == 2, NSClassFromString(name) as? any ObjectClass.Type == objectClass { return name }
        return classes.withLock { classes in
            var candidate = name
            var number = 2
            while let known = classes[candidate], known != objectClass {
                candidate = "\(name)\(number)"
                number += 1
            }
            classes[candidate] = objectClass
            return candidate
        }
    }

    /// Returns the class with a name that ``name(of:)`` has returned.
    func objectClass(named name: String) -> (any ObjectClass.Type)? { classes.withLock { $0[name] } }

    /// Returns the names of a type and its enclosing types, without the description of a private context: `M.(unknown context at $10a4).P`, or `M.(P
    /// in _2A74)`.
    private static func parts(_ description: String) -> [String] {
        var parts: [String] = []
        var rest = description[...]
        while !rest.isEmpty {
            if rest.first == "(", let end = rest.firstIndex(of: ")") {
                let context = rest[rest.index(after: rest.startIndex)..<end]
                if !context.hasPrefix("unknown context"), let name = context.split(separator: " ").first { parts.append(String(name)) }
                rest = rest[rest.index(after: end)...]
            } else {
                let part = rest.prefix { $0 != "." }
                parts.append(String(part))
                rest = rest[part.endIndex...]
            }
            if rest.first == "." { rest.removeFirst() }
        }
        return parts
    }
}
