internal import Foundation

/// A store in files that others of its class can take the place of in one step, as a migration needs it.
package protocol MovableStore: FileStore {
    /// Returns what identifies the content of the files at a place, which nobody may have open.
    ///
    /// - Throws: Code 134090 where others use the files, and the errors of reading.
    static func stampOfFiles(at url: URL, options: [AnyHashable: Any]?) throws -> String

    /// Moves a store, which nobody may have open, to a place, and to that of another store, which is gone then. It is complete on the disk when the call returns; whatever
    /// ends the process before, one of the two is at the place.
    ///
    /// - Parameters:
    ///   - stamp: What the files at the place had; nil where there must be no store.
    /// - Returns: Whether the store was moved: not where the files at the place have changed since the stamp was taken.
    /// - Throws: Code 134090 where others use one of the two, and the errors of writing. Nothing is moved then.
    static func moveFiles(
        from source: URL, to destination: URL, options: [AnyHashable: Any]?, replacing stamp: String?
    ) throws -> Bool

    /// Copies a store, which nobody may have open, to a place where there is none.
    static func copyClosedFiles(from source: URL, to destination: URL, options: [AnyHashable: Any]?) throws
}
