internal import Foundation
internal import Platform

/// A type that names its key paths for predicates and sort descriptors.
///
/// Swift does not preserve the names of computed properties at run time. Stored properties of structures and final classes need no
/// conformance, because the runtime names them. Conform to the protocol for properties that are computed, or have other names in
/// predicates:
///
/// ```swift
/// extension Album: KeyPathNaming {
///     static func propertyPath(for keyPath: AnyKeyPath) -> [String]? {
///         keyPath == \Album.releaseYear ? ["year"] : nil
///     }
/// }
/// ```
///
/// Managed objects of `CoreData` conform automatically.
public protocol KeyPathNaming {
    /// Returns the names of the properties along a key path.
    ///
    /// - Parameter keyPath: A key path whose root is this type or a subclass.
    /// - Returns: One name for each property, from the root; an empty array for the object itself; nil to use the names of the runtime.
    /// - Throws: An error that names the key path, when it does not lead to a property.
    static func propertyPath(for keyPath: AnyKeyPath) throws -> [String]?
}

/// Finds the property names of key paths.
///
/// The names of each key path are determined once. Use it on any thread.
public enum KeyPathNames {
    /// Returns the names of the properties along a key path.
    ///
    /// - Parameter keyPath: The key path, such as `\Track.album!.title`. A `?` or `!` in it is ignored.
    /// - Returns: One name for each property, such as `["album", "title"]`; an empty array for `\Track.self`.
    /// - Throws: ``InvalidPredicateError`` of the kind ``InvalidPredicateError/Kind/unknownKeyPath`` naming the key path, when a part of
    ///   it has no name.
    public static func names(of keyPath: AnyKeyPath) throws -> [String] {
        if let known = KeyPathNameCache.shared[keyPath] { return known }
        let names = try unknownNames(of: keyPath)
        KeyPathNameCache.shared[keyPath] = names
        return names
    }

    /// Returns the names of the properties along a key path, joined by dots, as for `NSSortDescriptor(key:ascending:)` and prefetching.
    ///
    /// - Parameter keyPath: The key path.
    /// - Returns: The names joined by dots; `SELF` for `\Track.self`.
    /// - Throws: The errors of ``names(of:)``.
    public static func path(of keyPath: AnyKeyPath) throws -> String {
        let names = try names(of: keyPath)
        return names.isEmpty ? "SELF" : names.joined(separator: ".")
    }

    private static func unknownNames(of keyPath: AnyKeyPath) throws -> [String] {
        let types = type(of: keyPath)
        if let naming = types.rootType as? any KeyPathNaming.Type, let names = try naming.propertyPath(for: keyPath) { return names }
        if let names = runtimeNames(of: keyPath) { return names }
        throw InvalidPredicateError(
            kind: .unknownKeyPath,
            message:
                "The key path \(keyPath) to a \(types.valueType) has no name: \(types.rootType) is not a KeyPathNaming that knows it, and "
                + "the runtime names stored properties only")
    }

    /// Returns the names from the runtime, when it names every component.
    ///
    /// A description such as `\Album.band?.name?` consists of the type and the names. A component without a name (a computed property, a
    /// subscript) is described with characters that names do not contain.
    private static func runtimeNames(of keyPath: AnyKeyPath) -> [String]? {
        let prefix = "\\" + _typeName(type(of: keyPath).rootType, qualified: false) + "."
        let description = String(describing: keyPath)
        guard description.hasPrefix(prefix) else { return nil }
        let steps = description.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
            .map { $0.trimmingSuffix { $0 == "?" || $0 == "!" } }
        if steps == ["self"] { return [] }
        guard
            steps.allSatisfy({ step in
                guard let first = step.first, first == "_" || first.isLetter else { return false }
                return step.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
            })
        else { return nil }
        return steps.map(String.init)
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
        var result = self
        while let last = result.last, isTrimmed(last) { result.removeLast() }
        return result
    }
}

private final class KeyPathNameCache: Sendable {
    static let shared = KeyPathNameCache()
    private let names = LockedBox<[AnyKeyPath: [String]]>([:])

    subscript(keyPath: AnyKeyPath) -> [String]? {
        get { names.withLock { $0[keyPath] } }
        set { names.withLock { $0[keyPath] = newValue } }
    }
}
