internal import Foundation
internal import Predicates

/// Converts fetch requests to and from their spelling in model files.
package enum RequestText {
    package static var flags: [(String, ReferenceWritableKeyPath<NSFetchRequest<any NSFetchRequestResult>, Bool>)] {
        [
            ("includeSubentities", \.includesSubentities), ("includePropertyValues", \.includesPropertyValues),
            ("includesPendingChanges", \.includesPendingChanges), ("returnObjectsAsFaults", \.returnsObjectsAsFaults),
            ("returnDistinctResults", \.returnsDistinctResults),
        ]
    }

    /// Sets the properties that a request has without explicit attributes: dictionaries of saved values, and IDs without values.
    package static func setDefaults(of request: NSFetchRequest<any NSFetchRequestResult>) {
        request.includesPendingChanges = request.resultType != .dictionaryResultType
        request.includesPropertyValues = request.resultType != .managedObjectIDResultType
    }

    /// Returns the attributes of a request's element, without its name and entity.
    package static func attributes(of request: NSFetchRequest<any NSFetchRequestResult>) -> [(String, String)] {
        var attributes: [(String, String)] = []
        if request.fetchLimit != 0 { attributes.append(("fetchLimit", "\(request.fetchLimit)")) }
        if request.fetchOffset != 0 { attributes.append(("fetchOffset", "\(request.fetchOffset)")) }
        if request.fetchBatchSize != 0 { attributes.append(("fetchBatchSize", "\(request.fetchBatchSize)")) }
        if request.resultType.rawValue != 0 { attributes.append(("resultType", "\(request.resultType.rawValue)")) }
        let standard = NSFetchRequest<any NSFetchRequestResult>()
        standard.resultType = request.resultType
        setDefaults(of: standard)
        for (name, path) in flags where request[keyPath: path] != standard[keyPath: path] {
            attributes.append((name, request[keyPath: path] ? "YES" : "NO"))
        }
        return attributes
    }
}
