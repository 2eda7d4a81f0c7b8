internal import CoreData
internal import ExampleSupport
internal import Predicates

/// What the service is asked, so that a fetch can be answered.
///
/// The service knows one order, that of the ranks, and no filter. A page of it is a fetch without a predicate in that order; palettes can
/// also be asked for one by one. Everything else needs all palettes, which are read page by page and finished in memory: at most
/// ``budget`` of them, beyond which the fetch is an error that names what made it necessary.
enum PaletteRequest: Sendable, Hashable {
    /// Those with identifiers.
    case identifiers([String])
    /// A page in the order of the ranks; a limit of 0 is the rest.
    case page(offset: Int, limit: Int)
    /// All palettes, because of something in the fetch request that the service cannot do.
    case all(because: String)

    /// The most palettes that are read for a fetch that names no limit the service can keep.
    static let budget = 1000

    /// What to ask for a fetch that is more than a page in the order of the ranks; nil for one that is just that.
    ///
    /// - Throws: the error of a predicate that did not parse.
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

    /// A sort descriptor that is not the order of the service.
    private static func foreignOrder(_ request: NSFetchRequest<any NSFetchRequestResult>) -> NSSortDescriptor? {
        guard let first = request.sortDescriptors?.first else { return nil }
        let isRank = first.key == "rank" && first.ascending && !first.hasComparator
        // Palettes may share a rank: a second descriptor would put them in another order than the service does.
        return isRank && request.sortDescriptors?.count == 1 ? nil : request.sortDescriptors?.last
    }

    /// The identifiers that a predicate is limited to; nil if it is not.
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
            // Nothing but digits is an identifier, and nothing else may become part of an address.
            if !identifier.isEmpty, identifier.allSatisfy({ $0.isASCII && $0.isNumber }) { identifiers.insert(identifier) }
        }
        return identifiers
    }

    /// The identifier that a constant stands for: text, or an object of a palette store.
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
