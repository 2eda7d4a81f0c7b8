import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Stores that were made on iOS and macOS.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MaterialTests {
    private static var folder: URL {
        URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "").appendingPathComponent("stores")
    }

    private static func stores(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0) }
            .filter { ["sqlite", "moody", "paw"].contains($0.pathExtension) }
    }

    @Test func everyStoreIsReadAndLeftAsItIs() throws {
        // A copy: other tests read the originals at the same time.
        let pad = try Pad()
        let folder = pad.url.appendingPathComponent("stores")
        try FileManager.default.copyItem(at: Self.folder, to: folder)
        let before = try Pad.contents(of: folder)
        let stores = Self.stores(in: folder)
        var objects = 0
        for url in stores {
            let store = try StoreReference(url.path).open()
            try StoreReport(store).write(.table, to: CollectedOutput(width: 80))
            for entity in store.model.entities where !entity.isAbstract {
                let output = CollectedOutput()
                let query = try Query(QueryText(entity.name ?? "", excludesSubentities: true), in: store)
                try QueryPrinter(query, to: output).write(.csv)
                objects += try query.count()
                try QueryPrinter(query, to: CollectedOutput(width: 80)).write(.table)
            }
        }
        print("\(stores.count) stores with \(objects) objects were read.")
        #expect(objects > 5000)
        try expect(Pad.contents(of: folder), equals: before)
    }
}
