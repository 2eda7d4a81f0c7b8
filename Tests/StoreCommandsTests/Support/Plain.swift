import CSQLite
import Foundation
import Testing

/// Plain SQL, beside the store.
enum Plain {
    static func execute(_ sql: String, _ url: URL) throws {
        var handle: OpaquePointer?
        defer { sqlite3_close(handle) }
        try #require(sqlite3_open(url.path, &handle) == SQLITE_OK)
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }
}
