internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The program's callbacks that prepare the connections of files before any other use.
enum SQLPreparations {
    /// The preparations by the path of the file. Calls that only know a file, such as those for metadata, use the one with which it was last opened.
    private static let known = LockedBox<[String: SQLiteConnectionPreparation]>([:])

    /// Records how a file is opened.
    static func set(_ preparation: SQLiteConnectionPreparation?, for url: URL) {
        if preparation == nil, known.withLock({ $0.isEmpty }) { return }
        known.withLock { $0[url.path] = preparation }
    }

    /// Prepares a connection.
    ///
    /// - Parameter path: The path of the file, or of a copy beside it, whose name contains that of the file.
    static func prepare(_ handle: OpaquePointer, path: String) throws {
        let preparation = known.withLock { known -> SQLiteConnectionPreparation? in
            if known.isEmpty { return nil }
            if let own = known[path] { return own }
            let (folder, name) = split(path)
            return known.first { other, _ in
                let (otherFolder, otherName) = split(other)
                return folder == otherFolder && name.contains(otherName)
            }?.value
        }
        try preparation?.prepare(handle)
    }

    private static func split(_ path: String) -> (Substring, Substring) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path[...]) }
        return (path[..<slash], path[path.index(after: slash)...])
    }
}
