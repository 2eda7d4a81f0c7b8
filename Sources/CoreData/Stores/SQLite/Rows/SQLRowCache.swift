internal import Foundation

/// The rows that a store has read or saved, as long as a context shows them or they have lately come.
///
/// Rows of equal version need not be read again, and a fault among them fires without a question. It keeps no account of who has a row:
/// when it has grown enough, the rows that nobody else holds go.
// Used under the lock of its store.
final class SQLRowCache {
    private static let pageSize: Int64 = 256

    private final class Page {
        var rows: [Row?] = Array(repeating: nil, count: Int(SQLRowCache.pageSize))
        var times: [UInt64] = Array(repeating: 0, count: Int(SQLRowCache.pageSize))
    }
    private struct PageKey: Hashable {
        let root: Int64
        let page: Int64
    }

    private var pages: [PageKey: Page] = [:]
    private var last: (key: PageKey, page: Page)?
    private var count = 0
    private var limit = SQLRowCache.smallestLimit
    private static let smallestLimit = 20_000
    /// The time that rows get which come now, in nanoseconds of the system's uptime.
    private(set) var now: UInt64 = 0

    /// Rows come from here on.
    func noteTime() { now = DispatchTime.now().uptimeNanoseconds }

    private func page(_ root: Int64, _ key: Int64) -> Page? {
        let place = PageKey(root: root, page: key >> 8)
        if let last, last.key == place { return last.page }
        guard let page = pages[place] else { return nil }
        last = (place, page)
        return page
    }

    /// The row of a key, of whatever age.
    func row(_ root: Int64, _ key: Int64) -> Row? { page(root, key)?.rows[Int(key & 255)] }

    /// The row of a key unless it is older than so many seconds; any age will do for a negative number.
    func row(_ root: Int64, _ key: Int64, notOlderThan age: TimeInterval) -> Row? {
        guard let page = page(root, key), let row = page.rows[Int(key & 255)] else { return nil }
        if age >= 0, Double(DispatchTime.now().uptimeNanoseconds &- page.times[Int(key & 255)]) >= age * 1e9 { return nil }
        return row
    }

    func set(_ row: Row, _ root: Int64, _ key: Int64) {
        let page: Page
        if let known = self.page(root, key) {
            page = known
        } else {
            let place = PageKey(root: root, page: key >> 8)
            page = Page()
            pages[place] = page
            last = (place, page)
        }
        let index = Int(key & 255)
        if page.rows[index] == nil { count += 1 }
        page.rows[index] = row
        page.times[index] = now
    }

    /// The row that is there is as the store has it now.
    func touch(_ root: Int64, _ key: Int64) {
        if let page = page(root, key) { page.times[Int(key & 255)] = now }
    }

    func remove(_ root: Int64, _ key: Int64) {
        guard let page = page(root, key) else { return }
        if page.rows[Int(key & 255)] != nil { count -= 1 }
        page.rows[Int(key & 255)] = nil
    }

    func removeAll(of root: Int64) {
        last = nil
        for (key, page) in pages where key.root == root {
            count -= page.rows.reduce(0) { $0 + ($1 == nil ? 0 : 1) }
            pages[key] = nil
        }
    }

    func removeAll() {
        pages = [:]
        last = nil
        count = 0
        limit = Self.smallestLimit
    }

    /// Gives up what nobody else holds, once there is enough of it.
    func sweep() {
        guard count > limit else { return }
        last = nil
        count = 0
        for (key, page) in pages {
            var kept = 0
            for index in page.rows.indices where page.rows[index] != nil {
                if isKnownUniquelyReferenced(&page.rows[index]) { page.rows[index] = nil } else { kept += 1 }
            }
            if kept == 0 { pages[key] = nil }
            count += kept
        }
        limit = max(Self.smallestLimit, count * 2)
    }
}
