internal import CoreData
internal import ExampleSupport
internal import Predicates

/// The request to the service for a fetch.
///
/// The service supports one order, that of the ranks, and no filter. A page is a fetch without a predicate in that order; palettes can
/// also be requested one by one. Everything else needs all palettes, which are read page by page and filtered in memory: at most
/// ``budget`` of them, beyond which the fetch is an error that names the reason.
enum PaletteRequest: Sendable, Hashable {
    /// The palettes with identifiers.
    case identifiers([String])
    /// A page in the order of the ranks; a limit of 0 is the rest.
    case page(offset: Int, limit: Int)
    /// All palettes, because of a part of the fetch request that the service does not support.
    case all(because: String)

    /// The maximum number of palettes read for a fetch without a limit that the service supports.
    static let budget = 1000

    /// Creates the request for a fetch that is not a page in the order of the ranks; nil for one that is.
    ///
    /// - Throws: The error of a predicate that did not parse.
    init?(beyondPageOf request: NSFetchRequest<any NSFetchRequestResult>) throws {
        let tree = try request.predicate?.tree() ?? .true
        if let identifiers = try Self.identifiers(tree) {
            self = .identifiers(identifiers.sorted())
        } else if tree != .true {
            self = .all(because: "predicate “\(tree)”")
        } else if let descriptor = Self.foreignOrder(request) {
            self = .all(because: "order by “\(descriptor.key ?? "self")”")
        } else if request.joinsEqualResults {
            self = .all(because: "returnsDistinctResults")
        } else {
            return nil
        }
    }

    /// Whether the service itself applies the offset and the limit of the fetch request.
    var isPage: Bool {
        if case .page = self { true } else { false }
    }

    /// Returns a sort descriptor that differs from the order of the service.
    private static func foreignOrder(_ request: NSFetchRequest<any NSFetchRequestResult>) -> NSSortDescriptor? {
        guard let first = request.sortDescriptors?.first else { return nil }
        let isRank = first.key == "rank" && first.ascending && !first.hasComparator
        // Palettes may have equal ranks: a second descriptor would order them differently than the service.
        return isRank && request.sortDescriptors?.count == 1 ? nil : request.sortDescriptors?.last
    }

    /// Returns the identifiers that a predicate is limited to; nil if it is not.
    private static func identifiers(_ tree: PredicateTree) throws -> Set<String>? {
        switch tree {
        case .false: return []
        case .comparison(let comparison):
            guard comparison.modifier == .direct, comparison.options.isEmpty else { return nil }
            switch (comparison.left, comparison.operator, comparison.right) {
            case (.keyPath(["id"]), .equal, .constant(let value)), (.evaluatedObject, .equal, .constant(let value)): return text([value])
            case (.keyPath(["id"]), .isIn, .constant(.array(let values))), (.evaluatedObject, .isIn, .constant(.array(let values))):
                return text(values)
            default: return nil
            }
        case .and(let parts): return try parts.lazy.compactMap { try identifiers($0) }.first
        case .or(let parts):
            let all = try parts.map { try identifiers($0) }
            return all.contains(nil) ? nil : all.reduce(into: []) { $0.formUnion($1 ?? []) }
        case .true, .not, .block: return nil
        }
    }

    private static func text(_ values: [PropertyValue]) -> Set<String>? {
        var identifiers: Set<String> = []
        for value in values {
            guard let identifier = identifier(value) else { return nil }
            // An identifier consists of digits, and nothing else may become part of a URL.
            if !identifier.isEmpty, identifier.allSatisfy({ $0.isASCII && $0.isNumber }) { identifiers.insert(identifier) }
        }
        return identifiers
    }

    /// Returns the identifier of a constant: a string, or an object of a palette store.
    static func identifier(_ value: PropertyValue) -> String? {
        switch value {
        case .string(let text): return text
        case .object(let reference):
            guard let id = (reference.object as? NSManagedObject)?.objectID ?? reference.object as? NSManagedObjectID else { return nil }
            return (id.persistentStore as? NSIncrementalStore)?.referenceObject(for: id) as? String
        default: return nil
        }
    }
}
