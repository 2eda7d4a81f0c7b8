/// A table of values of a cache's rows, in pages. The keys of one answer's rows are mostly consecutive, so that a page is looked up once for many of them.
struct KeyTable<Value> {
    private struct PageName: Hashable {
        let root: ObjectIdentifier
        let number: Int64
    }
    private static var pageSize: Int { 16 }

    private var pages: [PageName: Int] = [:]
    private var values: [Value?] = []
    /// The page that was changed last.
    private var last: (name: PageName, start: Int)?
    /// The number of values.
    private(set) var count = 0

    /// The number of pages, which determines the memory use of the table.
    var pageCount: Int { pages.count }

    subscript(key: CacheKey) -> Value? {
        get {
            if count == 0 { return nil }
            guard let start = pages[Self.name(key)] else { return nil }
            return values[start + Self.place(key)]
        }
        set {
            let old = exchange(key, newValue)
            count += (newValue == nil ? 0 : 1) - (old ? 1 : 0)
        }
    }

    private static func name(_ key: CacheKey) -> PageName { PageName(root: key.entity.root, number: key.number >> 4) }
    private static func place(_ key: CacheKey) -> Int { Int(key.number & 15) }

    /// Sets a value, and returns whether there was one.
    private mutating func exchange(_ key: CacheKey, _ value: Value?) -> Bool {
        let name = Self.name(key)
        var start = last?.name == name ? last?.start : pages[name]
        if start == nil {
            if value == nil { return false }
            start = values.count
            pages[name] = values.count
            values.append(contentsOf: repeatElement(nil, count: Self.pageSize))
        }
        guard let start else { return false }
        last = (name, start)
        let index = start + Self.place(key)
        defer { values[index] = value }
        return values[index] != nil
    }
}

/// A set of rows of a cache's file.
struct KeySet {
    private var table = KeyTable<Void>()

    init() {}

    init(_ keys: some Sequence<CacheKey>) { for key in keys { insert(key) } }

    var count: Int { table.count }

    func contains(_ key: CacheKey) -> Bool { table[key] != nil }

    /// Adds a row, and returns whether it is new.
    @discardableResult mutating func insert(_ key: CacheKey) -> Bool {
        let before = table.count
        table[key] = ()
        return table.count > before
    }
}
