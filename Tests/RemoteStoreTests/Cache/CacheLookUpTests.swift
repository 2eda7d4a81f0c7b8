import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Rows of answers are the rows of the file with their identifiers, however many come.
@Suite("Cache: looking up identifiers") struct CacheLookUpTests {
    private static func backend(_ ids: [ResourceID]) -> ScriptedBackend {
        let model = Shop.model()
        let backend = ScriptedBackend(model, CachedShop.resources(model))
        for id in ids { backend.put("Band", id, ["name": .value(.string("\(id)"))]) }
        return backend
    }

    private func names(_ shop: CachedShop) throws -> [String] { try shop.context.texts(fetchRequest("Band"), "name").sorted() }

    @Test(
        "Many identifiers that come after those of the file, before them, between them or again are one object each",
        arguments: [false, true]
    ) func once(areTexts: Bool) throws {
        func id(_ number: Int) -> ResourceID { areTexts ? .string("band \(1000 + number)") : .integer(Int64(number)) }
        let backend = Self.backend((500..<800).map(id))
        let shop = try CachedShop(.networkOnly, backend: backend)
        var known = Set(500..<800)
        try expect(names(shop).count, equals: known.count)
        for range in [800..<1000, 0..<150, 100..<999] {
            for number in range { backend.put("Band", id(number), ["name": .value(.string("new \(number)"))]) }
            known.formUnion(range)
            shop.context.performAndWait { shop.context.reset() }
            let names = try names(shop)
            expect(names.count, equals: known.count)
            expect(Set(names).count, equals: known.count)
        }
    }

    @Test("Identifiers of other characters than ASCII are looked up each, and those that only look alike are of two objects")
    func spellings() throws {
        let composed = (0..<150).map { ResourceID.string("\u{E9}\($0)") }
        let decomposed = (0..<150).map { ResourceID.string("e\u{301}\($0)") }
        let backend = Self.backend(decomposed)
        let shop = try CachedShop(.networkOnly, backend: backend)
        try expect(names(shop).count, equals: 150)
        for id in composed { backend.put("Band", id, ["name": .value(.string("\(id)"))]) }
        shop.context.performAndWait { shop.context.reset() }
        try expect(names(shop).count, equals: 300)
        shop.context.performAndWait { shop.context.reset() }
        try expect(names(shop).count, equals: 300)
    }
}
