package import Foundation
package import ObjectGraph

/// A class of stores whose files keep the model that they were written with, so that a program without that model can migrate them.
package protocol ModelKeepingStore: NSPersistentStore {
    /// Returns the model that a file keeps; nil if it keeps none, or that of another version.
    ///
    /// - Throws: Code 259 for a damaged file or a damaged model, and the errors of reading.
    static func keptModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel?
}
