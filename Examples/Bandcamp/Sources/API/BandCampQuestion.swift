internal import CoreData
internal import ExampleSupport
internal import Foundation
internal import Predicates

/// The request to the service for a predicate: it finds a superset of the matching objects, which is then filtered in memory.
///
/// The service finds bands by name, any object by identifier, the albums of a band and the tracks of an album. A predicate that implies
/// none of these would require all of Bandcamp, and is rejected.
indirect enum BandCampQuestion {
    case nothing
    case bandNames(Set<String>)
    case identifiers(Set<Int>)
    case discographies(ofBands: Set<Int>)
    case tracks(ofAlbums: Set<Int>)
    case all([BandCampQuestion])

    /// Creates the request for a predicate.
    ///
    /// - Throws: An error with the code ``BandCampErrorCode/unanswerableFetch`` that names the part without a request.
    init(entityName: String, predicate: NSPredicate?) throws {
        guard let predicate else {
            throw NSError.failure(
                BandCampErrorCode.unanswerableFetch, "All objects of “\(entityName)” cannot be fetched. \(Self.advice(entityName))")
        }
        let tree = try predicate.tree()
        if let question = try Self.question(tree, entityName) {
            self = question
        } else {
            let clause = Self.clause(tree, entityName)
            throw NSError.failure(
                BandCampErrorCode.unanswerableFetch,
                "Bandcamp cannot look for “\(clause)” and a fetch of “\(entityName)” has nothing else to go by. \(Self.advice(entityName))")
        }
    }

    private static func advice(_ entityName: String) -> String {
        switch entityName {
        case "Band": "Name bands by name, band_id or SELF, with == or IN."
        case "Album": "Name albums by album_id, band_id, band or SELF, with == or IN."
        default: "Name tracks by track_id, album_id, album or SELF, with == or IN."
        }
    }

    /// Returns the request for a tree; nil where it implies none.
    private static func question(_ tree: PredicateTree, _ entity: String) throws -> BandCampQuestion? {
        switch tree {
        case .false: .nothing
        case .comparison(let comparison): try question(comparison, entity)
        // Any one part is sufficient: the others can only exclude objects.
        case .and(let parts): try parts.compactMap { try question($0, entity) }.min { $0.cost < $1.cost }
        case .or(let parts): try union(parts, entity)
        case .true, .not, .block: nil
        }
    }

    /// Returns the request for an OR, which needs one for every part.
    private static func union(_ parts: [PredicateTree], _ entity: String) throws -> BandCampQuestion? {
        var questions: [BandCampQuestion] = []
        for part in parts {
            guard let question = try question(part, entity) else { return nil }
            questions.append(question)
        }
        return .all(questions)
    }

    private static func question(_ comparison: PredicateComparison, _ entity: String) throws -> BandCampQuestion? {
        guard comparison.modifier == .direct else { return nil }
        let path: String
        let values: [PropertyValue]
        switch (comparison.left, comparison.operator, comparison.right) {
        case (let side, .equal, .constant(let value)), (.constant(let value), .equal, let side):
            guard let name = name(of: side) else { return nil }
            (path, values) = (name, [value])
        case (let side, .isIn, .constant(let collection)):
            guard let name = name(of: side), let elements = elements(of: collection) else { return nil }
            (path, values) = (name, elements)
        default: return nil
        }
        // The service ignores case like [c], but it does not ignore diacritics.
        let isExact = comparison.options.isDisjoint(with: [.diacriticInsensitive, .localeSensitive])
        switch (entity, path) {
        case ("Band", "name") where isExact: return try names(values)
        case ("Band", "SELF"), ("Band", "band_id"), ("Album", "SELF"), ("Album", "album_id"), ("Track", "SELF"), ("Track", "track_id"):
            return identifiers(values).map { .identifiers($0) }
        case ("Album", "band_id"), ("Album", "band"), ("Album", "band.band_id"):
            return identifiers(values).map { .discographies(ofBands: $0) }
        case ("Track", "album_id"), ("Track", "album"), ("Track", "album.album_id"):
            return identifiers(values).map { .tracks(ofAlbums: $0) }
        default: return nil
        }
    }

    private static func name(of side: ExpressionTree) -> String? {
        switch side {
        case .evaluatedObject: "SELF"
        case .keyPath(let keys): keys.joined(separator: ".")
        default: nil
        }
    }

    private static func elements(of collection: PropertyValue) -> [PropertyValue]? {
        switch collection {
        case .array(let elements): elements
        case .set(let elements): Array(elements)
        default: nil
        }
    }

    private static func names(_ values: [PropertyValue]) throws -> BandCampQuestion? {
        var names: Set<String> = []
        for value in values {
            guard case .string(let name) = value else { return nil }
            if name.contains(",") {
                throw NSError.failure(
                    BandCampErrorCode.unanswerableFetch,
                    "Bandcamp cannot look for a band called “\(name)”: it takes the comma for the end of a name.")
            }
            // No band has an empty name, and the service rejects a missing name.
            if !name.trimmingCharacters(in: .whitespaces).isEmpty { names.insert(name) }
        }
        return names.isEmpty ? .nothing : .bandNames(names)
    }

    /// Returns identifiers, given as numbers or objects; nil for any other kind of value, which the comparison handles.
    private static func identifiers(_ values: [PropertyValue]) -> Set<Int>? {
        var identifiers: Set<Int> = []
        for value in values {
            switch value {
            case .int64(let number): identifiers.insert(Int(number))
            case .null: continue
            case .object(let reference):
                guard let id = (reference.object as? NSManagedObject)?.objectID ?? reference.object as? NSManagedObjectID else {
                    return nil
                }
                // An object that was never saved does not exist at Bandcamp.
                if id.isTemporaryID { continue }
                guard let store = id.persistentStore as? BandCampIS, let number = store.referenceObject(for: id) as? Int else { return nil }
                identifiers.insert(number)
            default: return nil
            }
        }
        return identifiers
    }

    /// The approximate number of requests.
    private var cost: Int {
        switch self {
        case .nothing: 0
        case .bandNames: 1
        case .identifiers(let ids), .discographies(let ids), .tracks(let ids): ids.count
        case .all(let questions): questions.reduce(0) { $0 + $1.cost }
        }
    }

    /// Returns the part of a predicate to report: for an OR, the first part without a request.
    private static func clause(_ tree: PredicateTree, _ entity: String) -> String {
        guard case .or(let parts) = tree else { return tree.description }
        let culprit = parts.first { part in (try? question(part, entity)).flatMap { $0 } == nil }
        return (culprit ?? tree).description
    }
}
