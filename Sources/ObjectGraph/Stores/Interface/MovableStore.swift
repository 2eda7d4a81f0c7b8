internal import Foundation

/// A store in files that another store of its class can replace in one step, as migrations need it.
package protocol MovableStore: FileStore {
    /// Returns a stamp of the content of the files at a place. The files must not be open.
    ///
    /// - Throws: Code 134090 if others use the files, and the errors of reading.
    static func stampOfFiles(at url: URL, options: [AnyHashable: Any]?) throws -> String

    /// Moves a store that is not open to a place, and replaces a store there. The move is complete on the disk when the call returns; if the process
    /// ends before, one of the two stores is at the place.
    ///
    /// - Parameters:
    ///   - stamp: The stamp of the files at the place; nil if there must be no store.
    /// - Returns: Whether the store was moved; false if the files at the place have changed since the stamp was taken.
    /// - Throws: Code 134090 if others use one of the two, and the errors of writing. Nothing is moved then.
    static func moveFiles(
        from source: URL, to destination: URL, options: [AnyHashable: Any]?, replacing stamp: String?
    ) throws -> Bool

    /// Copies a store that is not open to a place without a store.
    static func copyClosedFiles(from source: URL, to destination: URL, options: [AnyHashable: Any]?) throws
}
