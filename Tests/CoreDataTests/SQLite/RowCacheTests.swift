import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The rows that a SQLite store keeps in memory.
@Suite struct RowCacheTests {
    // Of all tests: the rows here have no IDs that would hold it, and a cache may go last.
    private static let model = Music.model()
    private let layout: RowLayout
    private let cache = SQLRowCache()

    init() throws {
        try Self.model.freeze()
        layout = try #require(Self.model.entitiesByName["Band"]?.frozen?.layout)
        cache.open([1, 3], limit: 1 << 20)
    }

    private func row(_ version: Int64, size: Int = 0) -> Row {
        RowBlock.makeRow(layout, origin: nil, size: layout.wordCount * 8 + size, version: version).cleared(layout)
    }

    /// A reader's place in the cache, as of a state of the store.
    private func cursor(since epoch: UInt64) -> SQLRowCursor {
        let cursor = SQLRowCursor(cache)
        cursor.epoch = epoch
        cursor.begin()
        return cursor
    }

    @Test func whatWasReadBeforeASaveComesNotOverWhatItHasFiled() {
        let (old, new) = (row(1), row(2))
        let reader = cursor(since: cache.epoch.load(ordering: .relaxed))
        cache.advance()
        cache.put(1, 0..<1) { _ in (new.slots, 7) }
        reader.set(old.slots, 1, 7)
        reader.end()
        #expect(cache.row(1, 7) === new)
    }

    @Test func whatWasReadBeforeARowWasRemovedDoesNotReviveIt() {
        // Whether there was a page for it or not, and also when pages went meanwhile.
        for key in [7, 1 << 40] as [Int64] {
            for isSwept in [false, true] {
                let old = row(1)
                let reader = cursor(since: cache.epoch.load(ordering: .relaxed))
                cache.advance()
                cache.remove(3, key)
                if isSwept { cache.sweep() }
                reader.set(old.slots, 3, key)
                reader.end()
                #expect(cache.row(3, key) == nil)
                let later = cursor(since: cache.epoch.load(ordering: .relaxed))
                later.set(old.slots, 3, key)
                later.end()
                #expect(cache.row(3, key) === old)
            }
        }
    }

    @Test func whatWasReadBeforeEverythingWasForgottenIsNotFiled() {
        let old = row(1)
        let (first, second) = (
            cursor(since: cache.epoch.load(ordering: .relaxed)), cursor(since: cache.epoch.load(ordering: .relaxed))
        )
        first.set(old.slots, 1, 1)
        cache.advance()
        cache.removeAll()
        first.set(old.slots, 1, 2)
        second.set(old.slots, 1, 3)
        first.end()
        second.end()
        for key in 1...3 { #expect(cache.row(1, Int64(key)) == nil) }
        withExtendedLifetime(old) {}
    }

    @Test func aTransactionFilesNothing() {
        let reader = cursor(since: 0)
        let row = row(1)
        reader.set(row.slots, 1, 1)
        reader.end()
        #expect(cache.row(1, 1) == nil)
        withExtendedLifetime(row) {}
    }

    @Test func rowsThatAThreadIsLookingAtStayUntilItIsDone() throws {
        let reader = cursor(since: 1)
        weak var block: RowBlock?
        do {
            let row = row(5)
            block = row.block
            withExtendedLifetime(row) { cache.put(1, 0..<1) { _ in (row.slots, 1) } }
        }
        let slots = try #require(reader.slots(1, 1))
        cache.advance()
        cache.remove(1, 1)
        cache.sweep()
        cache.releaseReclaimable()
        expect(SlotPointer(slots).prefix.pointee.version, equals: 5)
        #expect(block != nil)
        reader.end()
        cache.releaseReclaimable()
        #expect(block == nil)
        #expect(cache.row(1, 1) == nil)
    }

    @Test func whatNobodyElseHoldsIsBoundedInBytes() {
        var largest = 0
        var held: [Row] = []
        for key in 0..<20_000 as Range<Int64> {
            let row = row(1, size: 1000)
            if key % 100 == 0 { held.append(row) }
            withExtendedLifetime(row) { cache.put(1, 0..<1) { _ in (row.slots, key) } }
            cache.sweepIfLarge()
            largest = max(largest, cache.byteCount)
        }
        // What others hold comes on top of the limit.
        #expect(largest < 4 << 20)
        for (index, row) in held.enumerated() { #expect(cache.row(1, Int64(index) * 100) === row) }
        held = []
        cache.sweep()
        cache.advance()
        cache.removeAll()
        cache.releaseReclaimable()
        expect(cache.byteCount, equals: 0)
    }

    @Test func keysOfAnySizeHaveTheirPlace() {
        let seed = TestSeed.current(for: "RowCacheTests.keysOfAnySizeHaveTheirPlace")
        var random = SeededGenerator(seed: seed)
        var rows: [Int64: Row] = [:]
        for count in 0..<2000 {
            let key = count % 2 == 0 ? Int64.random(in: 0..<100_000, using: &random) : Int64.random(in: .min...(.max), using: &random)
            let row = row(Int64(count))
            rows[key] = row
            cache.put(1, 0..<1) { _ in (row.slots, key) }
        }
        for (key, row) in rows { #expect(cache.row(1, key) === row, "COREDATA_TEST_SEED=\(seed)") }
        cache.sweep()
        for (key, row) in rows { #expect(cache.row(1, key) === row, "COREDATA_TEST_SEED=\(seed)") }
    }

    @Test func threadsLookAndFileAndSweepSideBySide() throws {
        let cache = cache
        let layout = layout
        try onOwnThreads(6) { thread in
            let cursor = SQLRowCursor(cache)
            for round in 0..<300 {
                let epoch = cache.epoch.load(ordering: .sequentiallyConsistent)
                switch thread {
                case 0:
                    let rows = (0..<20).map { _ in self.row(Int64(round)) }
                    cache.advance()
                    withExtendedLifetime(rows) { cache.put(1, 0..<20) { (rows[$0].slots, Int64($0 * 100)) } }
                    if round % 3 == 0 { cache.remove(1, 0..<5) { Int64($0 * 100) } }
                case 1: if round % 10 == 0 { cache.sweep() }
                case 2:
                    if round % 50 == 0 {
                        cache.advance()
                        cache.removeAll()
                    }
                default:
                    cursor.epoch = epoch
                    cursor.begin()
                    for key in stride(from: 0 as Int64, to: 2000, by: 100) {
                        if let slots = cursor.slots(1, key) {
                            _ = SlotPointer(slots).prefix.pointee.version
                        } else {
                            let row = self.row(Int64(round))
                            withExtendedLifetime(row) { cursor.set(row.slots, 1, key) }
                        }
                        if let row = cache.row(1, key) { #expect(row.layout === layout) }
                    }
                    cursor.end()
                }
            }
        }
        cache.advance()
        cache.removeAll()
        cache.releaseReclaimable()
        expect(cache.byteCount, equals: 0)
    }
}

extension Row {
    /// The row, with slots that hold nothing.
    fileprivate func cleared(_ layout: RowLayout) -> Row {
        slots.initializeMemory(as: UInt64.self, repeating: 0, count: layout.wordCount)
        return self
    }
}
