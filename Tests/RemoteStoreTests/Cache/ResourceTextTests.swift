import Foundation
import TestSupport
import Testing

@testable import RemoteStore

/// The texts by which a cache finds rows.
@Suite("Cache: identifiers in the file") struct ResourceTextTests {
    @Test("Every identifier is read as it was written, and those of growing numbers grow")
    func texts() throws {
        let numbers: [Int64] = [0, 1, 9, 10, 99, 100, 4096, 99_999, 100_000, 1 << 53, .max - 1, .max]
        let ids: [ResourceID] =
            numbers.map { .integer($0) } + numbers.map { .integer(-$0) } + [
                .integer(.min), "", "i1", "a;b", "e\u{301}", "\u{301}combining", "(", .uuid(UUID()),
                .composite([1, "two;", .uuid(UUID())]),
            ]
        for id in ids {
            let read = try #require(ResourceID(fileText: id.fileText), "\(id)")
            expect(read, equals: id)
            expect(id.withFileText { String(decoding: $0, as: UTF8.self) }, equals: id.fileText)
        }
        let texts = numbers.map { Array(ResourceID.integer($0).fileText.utf8) }
        #expect(zip(texts, texts.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        expect(Set(ids.map(\.fileText)).count, equals: ids.count - 1, "zero is written once")
        for text in ["", "i", "ia", "iax", "is9999999999999999999", "u1", "x", "(i1"] {
            #expect(ResourceID(fileText: text) == nil, "\(text)")
        }
    }
}
