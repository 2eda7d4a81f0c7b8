internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension SQLiteStore {
    /// Returns whether the file supports query generations.
    func isLogged() throws -> Bool {
        guard let url, !SQLiteFiles.isInMemory(url) else { return false }
        return try reading { try $0.database().texts("PRAGMA journal_mode").first?.first == "wal" }
    }

    /// Returns a view of the current state, for as long as the view lives: a connection with a read transaction, which does not block
    /// writers.
    ///
    /// - Returns: Nil if the file does not support query generations.
    func openView() throws -> SQLiteStore? {
        guard let url, try isLogged() else { return nil }
        let options = try SQLiteOptions(options)
        let view = SQLiteStore(
            persistentStoreCoordinator: persistentStoreCoordinator, configurationName: configurationName, at: url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let connection = try SQLiteFiles.connectForReading(url, timeout: options.timeout)
        try connection.execute("BEGIN", .reading)
        // The transaction begins with the first read.
        _ = try connection.texts("SELECT count(*) FROM sqlite_master")
        try view.configureAsView(of: self, with: connection)
        return view
    }
}
