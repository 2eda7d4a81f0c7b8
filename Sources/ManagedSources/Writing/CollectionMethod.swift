#if ManagedAccessors
/// The operation of a collection method that Core Data provides, determined by its name.
enum CollectionMethod: Equatable {
    case add(key: String)
    case remove(key: String)
    case insert(key: String)
    case removeAt(key: String)
    case replace(key: String)
    case primitiveValue(key: String)
    case setPrimitiveValue(key: String)

    /// Parses a name: the Objective-C name from `@objc` (`addTracksObject:`), otherwise the Swift name (`addToTracks(_:)`).
    ///
    /// - Returns: Nil for a method that Core Data does not provide.
    init?(name: String, labels: [String?], objectiveCName: String?) {
        if let selector = objectiveCName, let method = Self.ofSelector(selector) {
            self = method
            return
        }
        let signature = labels.map { ($0 ?? "_") + ":" }.joined()
        switch signature {
        case "":
            guard let key = Self.key(name, after: "primitive") else { return nil }
            self = .primitiveValue(key: key)
        case "_:":
            if let key = Self.key(name, after: "addTo") {
                self = .add(key: key)
            } else if let key = Self.key(name, after: "removeFrom") {
                self = .remove(key: key)
            } else if let key = Self.key(name, after: "setPrimitive") {
                self = .setPrimitiveValue(key: key)
            } else if let method = Self.ofSelector(name + ":") {
                self = method
            } else {
                return nil
            }
        case "_:at:":
            guard let key = Self.key(name, after: "insertInto") else { return nil }
            self = .insert(key: key)
        case "at:":
            guard let key = Self.key(name, after: "removeFrom") else { return nil }
            self = .removeAt(key: key)
        case "at:with:":
            guard let key = Self.key(name, after: "replace") else { return nil }
            self = .replace(key: key)
        default: return nil
        }
    }

    private static func ofSelector(_ selector: String) -> CollectionMethod? {
        let patterns: [(String, String, (String) -> CollectionMethod)] = [
            ("insertObject:in", "AtIndex:", { .insert(key: $0) }),
            ("insert", ":atIndexes:", { .insert(key: $0) }),
            ("removeObjectFrom", "AtIndex:", { .removeAt(key: $0) }),
            ("remove", "AtIndexes:", { .removeAt(key: $0) }),
            ("replaceObjectIn", "AtIndex:withObject:", { .replace(key: $0) }),
            ("replace", "AtIndexes:with*:", { .replace(key: $0) }),
            ("add", "Object:", { .add(key: $0) }),
            ("remove", "Object:", { .remove(key: $0) }),
            ("add", ":", { .add(key: $0) }),
            ("remove", ":", { .remove(key: $0) }),
            ("setPrimitive", ":", { .setPrimitiveValue(key: $0) }),
        ]
        for (prefix, suffix, method) in patterns {
            guard let rest = key(selector, after: prefix, keepsCase: true) else { continue }
            // `replaceTracksAtIndexes:withTracks:` contains the key twice.
            if let star = suffix.firstIndex(of: "*") {
                guard let middle = rest.firstRange(of: suffix[..<star]) else { continue }
                let name = rest[..<middle.lowerBound]
                guard rest[middle.upperBound...] == "\(name):", !name.isEmpty else { continue }
                return method(lowercasedFirst(name))
            }
            guard rest.hasSuffix(suffix), rest.count > suffix.count else { continue }
            let name = rest.dropLast(suffix.count)
            guard !name.contains(":") else { continue }
            return method(lowercasedFirst(name))
        }
        return nil
    }

    private static func key(_ name: String, after prefix: String, keepsCase: Bool = false) -> String? {
        guard name.hasPrefix(prefix), name.count > prefix.count else { return nil }
        let rest = name.dropFirst(prefix.count)
        guard rest.first?.isUppercase == true else { return nil }
        return keepsCase ? String(rest) : lowercasedFirst(rest)
    }

    private static func lowercasedFirst(_ text: some StringProtocol) -> String { text.prefix(1).lowercased() + text.dropFirst() }
}
#endif
