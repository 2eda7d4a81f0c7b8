import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The model that a SQLite store keeps of itself.
struct ModelCacheTests {
    private func model(from content: Data) throws -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        try ModelCache.read(content, file: nil, into: model)
        return model
    }

    @Test func aModelComesBackFromTheCacheOfAStore() throws {
        let model = NSManagedObjectModel.sample()
        #expect(try self.model(from: #require(try ModelCache.content(of: model))).differences(from: model).isEmpty)
    }

    @Test func whatPythonsZlibCompressedIsReadWithoutAHeader() throws {
        // zlib.compressobj(wbits=-15) over b"tracks tracks tracks".
        let compressed = Data([0x2B, 0x29, 0x4A, 0x4C, 0xCE, 0x2E, 0x56, 0x28, 0x41, 0xA6, 0x00])
        expect(String(decoding: try ModelCache.inflate(compressed), as: UTF8.self), equals: "tracks tracks tracks")
    }

    @Test func aDamagedCacheIsAnErrorThatNamesIt() throws {
        let content = try #require(try ModelCache.content(of: .sample()))
        for damaged in [Data(), content.dropLast(20), Data("no model".utf8), try ModelCache.deflate(Data("no model".utf8))] {
            let error = failure { _ = try model(from: Data(damaged)) }
            expect(error?.code, equals: 259)
        }
    }

    @Test func aModelWithCodeInItIsNotKeptAndDoesNotKeepAStoreFromOpening() throws {
        let note = NSEntityDescription(name: "Note")
        let text = NSAttributeDescription(name: "text", type: .string)
        text.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: nil)
        note.properties = [text]
        #expect(try ModelCache.content(of: NSManagedObjectModel(entities: [note])) == nil)
    }

    @Test func aFewBytesThatWouldFillTheMemoryAreRefused() throws {
        let bomb = try ModelCache.deflate(Data(count: ModelCache.byteLimit + 1))
        #expect(bomb.count < 100_000)
        let error = failure { _ = try ModelCache.inflate(bomb) }
        expect(error?.code, equals: 259)
    }
}
