#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Whether a server can be used, and the errors of opening.
struct ServerCheck {
    private let place: String
    /// The oldest supported version of the server.
    private static let oldestServer = 140_000

    init(_ place: String) { self.place = place }

    /// - Throws: Code 134080 for a server or a database that cannot be used.
    func check(_ connection: Connection) async throws {
        guard connection.serverVersion >= Self.oldestServer else {
            throw refused("The server is PostgreSQL \(connection.serverVersion / 10000).", next: "Use PostgreSQL 14 or later.")
        }
        let encoding = try await connection.query("SELECT current_setting('server_encoding')").text(0, 0)
        if encoding != "UTF8" { throw refused("The encoding of the database is \(encoding).", next: "Use a database in UTF8.") }
    }

    func refused(_ reason: String, next: String?) -> NSError {
        CoreDataError.make(NSPersistentStoreOpenError, "The store at \(place) cannot be opened.", reason: reason, next: next)
    }

    /// Returns the error for a server that cannot be reached, or fails at a step of opening.
    func failure(_ error: ServerError) -> NSError {
        refused(
            "PostgreSQL says: \(error)",
            next: error.code.isEmpty ? "Check the host, the port, the user and its password, and the certificate of the server." : nil)
    }
}
#endif
