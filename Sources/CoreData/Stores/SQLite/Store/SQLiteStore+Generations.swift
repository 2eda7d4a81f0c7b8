internal import Foundation

extension SQLiteStore {
    /// Whether the file is one of which states can be kept.
    func isLogged() throws -> Bool {
        guard let url, !SQLiteFiles.isInMemory(url) else { return false }
        return try reading { try $0.database().texts("PRAGMA journal_mode").first?.first == "wal" }
    }

    /// The store as it is now, for as long as the view lives: a connection with a read transaction of its own, which hinders no writer.
    ///
    /// - Returns: nil where the file keeps no states.
    func openView() throws -> SQLiteStore? {
        guard let url, try isLogged() else { return nil }
        let options = try SQLiteOptions(options)
        let view = SQLiteStore(
            persistentStoreCoordinator: persistentStoreCoordinator, configurationName: configurationName, at: url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let connection = try SQLiteFiles.connectForReading(url, timeout: options.timeout)
        try connection.execute("BEGIN", .reading)
        // The transaction begins with the first that is read.
        _ = try connection.texts("SELECT count(*) FROM sqlite_master")
        view.become(self, as: connection)
        return view
    }
}
