import Foundation
import Predicates
import RemoteStore

/// A service whose answers are prepared in memory, as the bytes that would come from a network: what remains is the work on this side.
///
/// A row is its number and ten values: five integers of eight bytes, and five texts with a length in front.
struct PreparedService: Backend {
    let location = URL(string: "benchmark:items")!
    let resources = [
        Resource(
            "Item",
            endpoints: [
                // Nothing moves, so that no page needs to overlap.
                Endpoint("list", paging: .pages(of: PreparedService.pageSize, takesLimit: true, takesOffset: true, stability: .cursors)),
                Endpoint("item", parameters: [Parameter("i0", isRequired: true)], cost: .init(expectedRows: 1)),
            ])
    ]
    static let pageSize = 100

    private let pages: [[UInt8]]
    private let count: Int

    init(_ values: [Values]) {
        count = values.count
        pages = stride(from: 0, to: values.count, by: Self.pageSize).map { start in
            var bytes: [UInt8] = []
            for value in values[start..<min(start + Self.pageSize, values.count)] {
                func append(_ number: Int) { withUnsafeBytes(of: Int64(number)) { bytes += $0 } }
                append(value.i0)
                for number in [value.i0, value.i1, value.i2, value.i3, value.i4] { append(number) }
                for text in [value.t0, value.t1, value.t2, value.t3, value.t4] {
                    append(text.utf8.count)
                    bytes += text.utf8
                }
            }
            return bytes
        }
    }

    /// The number of pages.
    var pageCount: Int { pages.count }

    /// Returns the bytes of a page, as a client would receive them.
    func page(_ number: Int) async -> [UInt8] { pages[number] }

    /// Returns the bytes of a page that begin with a row.
    func row(_ number: Int) async -> ArraySlice<UInt8> {
        let page = pages[(number - 1) / Self.pageSize]
        var start = 0
        page.withUnsafeBytes { bytes in
            var scanner = RowScanner(bytes)
            for _ in 0..<(number - 1) % Self.pageSize { scanner.skipRow() }
            start = scanner.position
        }
        return page[start...]
    }

    // MARK: As a backend

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        var answer = request.answer()
        let columns = try Columns(request)
        if request.endpoint == "item" {
            guard case .int64(let number)? = request["i0"] else { return answer }
            try await row(Int(number)).withUnsafeBytes { bytes in
                var scanner = RowScanner(bytes)
                try Self.add(&scanner, columns, to: &answer)
            }
            return answer
        }
        let place = request.page.flatMap { Int($0.text) } ?? request.offset / Self.pageSize
        try await page(place).withUnsafeBytes { bytes in
            var scanner = RowScanner(bytes)
            var left = request.limit ?? .max
            while scanner.hasMore, left > 0 {
                try Self.add(&scanner, columns, to: &answer)
                left -= 1
            }
        }
        if place + 1 < pages.count { answer.next = PageToken("\(place + 1)") }
        return answer
    }

    struct Columns {
        let numbers: [ResourceColumn]
        let texts: [ResourceColumn]

        init(_ request: BackendRequest) throws {
            numbers = try ["i0", "i1", "i2", "i3", "i4"].map(request.column)
            texts = try ["t0", "t1", "t2", "t3", "t4"].map(request.column)
        }
    }

    private static func add(_ scanner: inout RowScanner, _ columns: Columns, to answer: inout BackendAnswer) throws {
        let id = scanner.number()
        try answer.add(id) { row in
            for column in columns.numbers { try row.set(scanner.number(), column) }
            for column in columns.texts { try row.set(utf8: scanner.text(), column) }
        }
    }
}

/// Reads the rows of a page, which belongs to the caller.
struct RowScanner {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var hasMore: Bool { position < bytes.count }

    mutating func number() -> Int64 {
        defer { position += 8 }
        return bytes.loadUnaligned(fromByteOffset: position, as: Int64.self)
    }

    mutating func text() -> UnsafeRawBufferPointer {
        let length = Int(number())
        defer { position += length }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
    }

    mutating func skipRow() {
        for _ in 0..<6 { _ = number() }
        for _ in 0..<5 { _ = text() }
    }
}

/// A row as a program without a store would keep it.
struct HandReadItem: Sendable {
    let id: Int64
    let i0, i1, i2, i3, i4: Int64
    let t0, t1, t2, t3, t4: String

    init(_ json: [String: Any]) {
        func number(_ key: String) -> Int64 { Int64(json[key] as? Int ?? 0) }
        func text(_ key: String) -> String { json[key] as? String ?? "" }
        (id, i0, i1) = (number("i0"), number("i0"), number("i1"))
        (i2, i3, i4) = (number("i2"), number("i3"), number("i4"))
        (t0, t1, t2, t3, t4) = (text("t0"), text("t1"), text("t2"), text("t3"), text("t4"))
    }

    init(_ scanner: inout RowScanner) {
        func text() -> String { String(decoding: scanner.text(), as: UTF8.self) }
        id = scanner.number()
        i0 = scanner.number()
        i1 = scanner.number()
        i2 = scanner.number()
        i3 = scanner.number()
        i4 = scanner.number()
        t0 = text()
        t1 = text()
        t2 = text()
        t3 = text()
        t4 = text()
    }
}
