#if ManagedAccessors
internal import SwiftSyntax

/// Writes the code of accessors and methods, which is equal in extensions and translated copies.
struct MemberCode {
    let member: ManagedMember

    /// The name of the constant that identifies the property.
    var constant: String { "_managed_\(member.name)" }

    /// Returns the constant of a property: `private static let …`.
    func declaration(of type: String) -> String {
        "private static let \(constant) = \(access(type))"
    }

    private func access(_ type: String) -> String {
        if let key = Self.primitiveKey(member.name) {
            return "ManagedAccess.primitive(\"\(member.name)\", of: \"\(key)\", as: \(Self.metatype(type)))"
        }
        return "ManagedAccess.property(\"\(member.name)\", as: \(Self.metatype(type)))"
    }

    private static func metatype(_ type: String) -> String {
        type.hasPrefix("any ") || type.contains("&") ? "(\(type)).self" : "\(type).self"
    }

    /// Returns the key of a property named like `primitiveTitle`.
    static func primitiveKey(_ name: String) -> String? {
        let rest = name.dropFirst("primitive".count)
        guard name.hasPrefix("primitive"), rest.first?.isUppercase == true else { return nil }
        return rest.prefix(1).lowercased() + rest.dropFirst()
    }

    /// Returns the body of a method.
    ///
    /// - Parameters:
    ///   - parameters: The names of its parameters.
    ///   - result: The type of its result, in source form.
    /// - Returns: Nil for a method that Core Data does not provide.
    func body(parameters: [String], result: String?) -> String? {
        guard case .function(let declared, _) = member.kind,
            let method = CollectionMethod(name: member.name, labels: declared.map(\.label), objectiveCName: member.objectiveCName),
            parameters.count == method.parameterCount, (result == nil) == (method.returnsNothing)
        else { return nil }
        let members = parameters.first.map { "ManagedAccess.members(\($0))" } ?? ""
        switch method {
        case .add(let key): return "addObjects(\(members), toRelationship: \"\(key)\")"
        case .remove(let key): return "removeObjects(\(members), fromRelationship: \"\(key)\")"
        case .insert(let key):
            return "insertObjects(\(members), at: ManagedAccess.indexes(\(parameters[1])), intoRelationship: \"\(key)\")"
        case .removeAt(let key): return "removeObjects(at: ManagedAccess.indexes(\(parameters[0])), fromRelationship: \"\(key)\")"
        case .replace(let key):
            return "replaceObjects(at: ManagedAccess.indexes(\(parameters[0])), with: ManagedAccess.members(\(parameters[1])), "
                + "inRelationship: \"\(key)\")"
        case .primitiveValue(let key):
            return "self[ManagedAccess.primitive(\"\(member.name)\", of: \"\(key)\", as: \(Self.metatype(result ?? "Any")))]"
        case .setPrimitiveValue(let key): return "setPrimitiveValue(\(parameters[0]), forKey: \"\(key)\")"
        }
    }

    /// The message for a method that cannot be implemented.
    var unknownMethod: String {
        "@NSManaged func \(member.name): Core Data provides methods such as addToTracks(_:), removeFromTracks(_:), insertIntoTracks(_:at:), "
            + "removeFromTracks(at:), replaceTracks(at:with:), primitiveTitle() and setPrimitiveTitle(_:), and this is none of them. "
            + "Write the method yourself, over value(forKey:) or mutableSetValue(forKey:)."
    }
}

extension CollectionMethod {
    var parameterCount: Int {
        switch self {
        case .primitiveValue: 0
        case .add, .remove, .removeAt, .setPrimitiveValue: 1
        case .insert, .replace: 2
        }
    }

    var returnsNothing: Bool {
        if case .primitiveValue = self { false } else { true }
    }
}
#endif
