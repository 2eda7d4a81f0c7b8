internal import Foundation

/// A type that can say by which names its key paths are known in predicates and sort descriptors.
///
/// Swift keeps no names of computed properties at run time. Stored properties of structures and final classes need no conformance: the
/// runtime names them. Conform to it where properties are computed, or known to predicates by other names:
///
/// ```swift
/// extension Album: KeyPathNaming {
///     static func propertyPath(for keyPath: AnyKeyPath) -> [String]? {
///         keyPath == \Album.releaseYear ? ["year"] : nil
///     }
/// }
/// ```
///
/// Managed objects of `CoreData` conform by themselves.
public protocol KeyPathNaming {
    /// Names the properties that a key path leads through.
    ///
    /// - Parameter keyPath: A key path whose root is this type or a class below it.
    /// - Returns: One name a property, from the root on; an empty array when the key path leads to the object itself; nil to leave the answer
    ///   to the runtime.
    /// - Throws: An error that names the key path, when it is certain that it leads to no property.
    static func propertyPath(for keyPath: AnyKeyPath) throws -> [String]?
}

/// The names of the properties that key paths lead through.
///
/// Each key path is worked out once. May be used from any thread.
public enum KeyPathNames {
    /// Names the properties that a key path leads through.
    ///
    /// - Parameter keyPath: The key path, such as `\Track.album!.title`. A `?` or `!` in it makes no difference.
    /// - Returns: One name a property, such as `["album", "title"]`; an empty array for `\Track.self`.
    /// - Throws: ``InvalidPredicateError`` of the kind ``InvalidPredicateError/Kind/unknownKeyPath`` naming the key path, when it leads through
    ///   anything that has no name.
    public static func names(of keyPath: AnyKeyPath) throws -> [String] {
        if let known = KeyPathNameCache.shared[keyPath] { return known }
        let names = try unknownNames(of: keyPath)
        KeyPathNameCache.shared[keyPath] = names
        return names
    }

    /// Names the properties that a key path leads through, joined by dots, as `NSSortDescriptor(key:ascending:)` and prefetching take them.
    ///
    /// - Parameter keyPath: The key path.
    /// - Returns: The names joined by dots; `SELF` for `\Track.self`.
    /// - Throws: As ``names(of:)``.
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
                "The key path \(keyPath) to a \(types.valueType) has no name: \(types.rootType) is no KeyPathNaming that knows it, and "
                + "the runtime names stored properties only")
    }

    /// What the runtime says, when it names every step.
    ///
    /// A description such as `\Album.band?.name?` consists of the type, then names. Whatever the runtime cannot name (a computed property,
    /// a subscript) it writes with signs that no name has.
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

// `lock` guards `names`.
private final class KeyPathNameCache: @unchecked Sendable {
    static let shared = KeyPathNameCache()
    private let lock = NSLock()
    private var names: [AnyKeyPath: [String]] = [:]

    subscript(keyPath: AnyKeyPath) -> [String]? {
        get { lock.withLock { names[keyPath] } }
        set { lock.withLock { names[keyPath] = newValue } }
    }
}
