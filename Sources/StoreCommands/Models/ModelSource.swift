package import Foundation
internal import ModelFiles
package import ObjectGraph

/// Reads the model in a file, which may be a store.
package enum ModelSource {
    /// Returns the model at a place: of a model file, or of a store, which may be in a database.
    ///
    /// - Throws: The mistake in the file.
    package static func model(at path: String, version: String? = nil) throws -> NSManagedObjectModel {
        // A store in a database keeps its model, too; for other tables, one is drafted.
        if DatabaseReference.isDatabase(path) { return try StoreReference(path).open().model }
        let url = try StoreKind.url(of: path)
        if isModel(url) {
            guard FileManager.default.fileExists(atPath: url.path) else {
                throw CommandError.make("There is no model at \(PlaceText.shown(url.path)).", next: "Check the path.")
            }
            if let version { return try NSManagedObjectModel(reading: url, version: version) }
            return try NSManagedObjectModel(reading: url)
        }
        return try StoreReference(path, decodesTransformables: true).open().model
    }

    /// Returns whether a file has the name of a model.
    package static func isModel(_ url: URL) -> Bool {
        ["xcdatamodeld", "xcdatamodel", "momd", "mom", "omo", "cdm"].contains(url.pathExtension.lowercased())
            || url.lastPathComponent == "contents" || url.lastPathComponent == "elements"
    }
}
