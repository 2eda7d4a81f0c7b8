import CoreData
import Foundation
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The checkers of rows and caches find what is broken. Each test mends what it has broken: builds with the checks go on to use it.
@Suite("Invariants of rows") struct RowInvariantTests {
    private let model: NSManagedObjectModel
    private let layout: RowLayout

    init() throws {
        model = Music.model()
        try model.freeze()
        layout = try #require(model.entitiesByName["Album"]?.frozen?.layout)
    }

    private func slot(_ name: String) throws -> RowLayout.Slot {
        layout.slots[try #require(model.entitiesByName["Album"]?.frozen?.byName[name]).slotIndex]
    }

    // MARK: Blocks

    @Test func aRowThatDoesNotFindItsBlockIsFound() {
        let row = Row.blank(layout)
        expect(row.block.invariantViolations, equals: [])
        let prefix = SlotPointer(row.slots).prefix
        prefix.pointee.offset += 8
        let violations = row.block.invariantViolations
        prefix.pointee.offset -= 8
        expect(violations, equals: ["a row at 0 gives \(prefix.pointee.offset + 8) as its distance from the block"])
    }

    @Test func rowsThatAreLongerThanTheirBlockAreFound() {
        let row = Row.blank(layout)
        let used = row.block.used.pointee.exchange(1 << 20, ordering: .relaxed)
        let violations = row.block.invariantViolations
        row.block.used.pointee.store(used, ordering: .relaxed)
        expect(violations, equals: ["the rows of a block take 1048576 of \(used) bytes"])
    }

    @Test func aRowShorterThanItsSlotsIsFound() {
        let row = Row.blank(layout)
        let prefix = SlotPointer(row.slots).prefix
        prefix.pointee.size -= 8
        let violations = row.block.invariantViolations
        prefix.pointee.size += 8
        expect(violations, equals: ["a row at 0 has \(row.size - 8) bytes for slots of \(row.size)"])
    }

    @Test func aRowLongerThanItsBlockIsFound() {
        let row = Row.blank(layout)
        let prefix = SlotPointer(row.slots).prefix
        prefix.pointee.size += 8
        let violations = row.block.invariantViolations
        prefix.pointee.size -= 8
        #expect(violations.contains { $0.hasPrefix("a row at 0 has") })
    }

    @Test func referencesThatABlockDoesNotKnowAreFound() {
        let row = RowBlock.makeRow(layout, origin: nil, size: layout.wordCount * 8, version: 1)
        row.slots.initializeMemory(as: UInt64.self, repeating: 0, count: layout.wordCount)
        SlotPointer(row.slots).prefix.pointee.size |= RowPrefix.referenceBit
        let violations = row.block.invariantViolations
        SlotPointer(row.slots).prefix.pointee.size &= ~RowPrefix.referenceBit
        expect(violations, equals: ["a row at 0 holds references, which its block does not know"])
    }

    @Test func aBlockThatGoesWhileACacheHasItsRowsIsFound() {
        let row = Row.blank(layout)
        row.block.cachedRows.pointee.add(1, ordering: .relaxed)
        let one = row.block.violationsAtEnd
        row.block.cachedRows.pointee.subtract(2, ordering: .relaxed)
        let fewer = row.block.invariantViolations
        row.block.cachedRows.pointee.add(1, ordering: .relaxed)
        expect(one, equals: ["a block goes while a cache has 1 of its rows"])
        expect(fewer, equals: ["a cache has -1 rows of a block"])
        expect(row.block.violationsAtEnd, equals: [])
    }

    // MARK: Rows

    @Test func bytesOutsideOfTheirRowAreFound() throws {
        let row = Row.blank(layout)
        let title = try slot("title")
        row.setNil(false, at: title)
        title.location.markPacked(row.slots)
        let place = row.slots + title.location.offset
        let word = place.load(as: UInt64.self)
        place.storeBytes(of: UInt64(row.size) | 5 << 32, as: UInt64.self)
        let violations = row.invariantViolations
        place.storeBytes(of: word, as: UInt64.self)
        title.location.clearPacked(row.slots)
        #expect(violations.count == 1 && violations[0].hasSuffix("its 5 bytes at \(row.size) lie outside of the row"))
        expect(row.invariantViolations, equals: [])
    }

    @Test func aPackedReferenceWithoutAnOriginIsFound() throws {
        let row = Row.blank(layout)
        let band = try slot("band")
        band.location.markPacked(row.slots)
        let violations = row.invariantViolations
        band.location.clearPacked(row.slots)
        #expect(violations.count == 1 && violations[0].hasSuffix("a packed reference has no origin"))
    }

    @Test func aReferenceOfAnotherClassIsFound() throws {
        let row = Row.blank(layout)
        let band = SlotPointer(row.slots).place(try slot("band").location.offset, of: AnyObject?.self)
        band.pointee = Box(1)
        let violations = row.invariantViolations
        band.pointee = nil
        #expect(violations.count == 1 && violations[0].hasSuffix("it is a Box"))
    }

    @Test func aReferenceInARowWithoutReferencesIsFound() throws {
        let row = Row.blank(layout)
        let band = SlotPointer(row.slots).place(try slot("band").location.offset, of: AnyObject?.self)
        band.pointee = NSManagedObjectID.unresolved
        SlotPointer(row.slots).prefix.pointee.size &= ~RowPrefix.referenceBit
        let violations = row.invariantViolations
        SlotPointer(row.slots).prefix.pointee.size |= RowPrefix.referenceBit
        #expect(violations.count == 1 && violations[0].hasSuffix("a reference in a row without references"))
    }

    @Test func aNumberThatAStoreKnowsToBeNilIsNotUnknownAnyMore() throws {
        let rating = try slot("rating")
        let row = Row.blank(layout)
        row.setUnknown(at: rating)
        #expect(row.isUnknown(at: rating))
        let filled = row.filled(from: Row.blank(layout))
        #expect(!filled.isUnknown(at: rating) && filled.isNil(at: rating))
        #expect(!filled.mayHaveUnknown)
        row.store(.null, in: rating)
        #expect(!row.isUnknown(at: rating) && row.isNil(at: rating))
    }

    @Test func aPlaceOutsideOfTheSlotsIsFound() {
        let row = Row.blank(layout)
        let found = InternalChecks.violations { _ = SlotPointer(row.slots).place(layout.wordCount * 8, of: Int64.self) }
        #expect(found.isEmpty != InternalChecks.areOn)
    }

    @Test func aListWhoseRowHasLeftItsBlockIsFound() {
        let rows = RowList([Row.blank(layout), Row.blank(layout)])
        expect(rows.invariantViolations, equals: [])
        let prefix = SlotPointer(rows.slots(1)).prefix
        let offset = prefix.pointee.offset
        // As if it lay in the block of the first one.
        prefix.pointee.offset = UInt32(truncatingIfNeeded: rows.slots(1) - SlotPointer(rows.slots(0)).block.toOpaque())
        let violations = rows.invariantViolations
        prefix.pointee.offset = offset
        expect(violations.count, equals: 2)
    }

    // MARK: The cache of stores in values

    @Test func whatACacheCannotHaveIsFound() throws {
        try withTwoContexts { context, _ in
            try context.performAndWait {
                let (first, second) = (try context.saveBand("A").objectID, try context.saveBand("B").objectID)
                let row = Row.blank(layout, objectID: second, version: 1)
                func violations(_ entry: RowCache.Entry) -> [String] {
                    let cache = RowCache()
                    cache.entries.withLock { $0[first] = entry }
                    return cache.invariantViolations
                }
                expect(violations(RowCache.Entry()), equals: [])
                expect(violations(RowCache.Entry(content: .row(row))), equals: ["the row of another object than \(first)"])
                expect(
                    violations(RowCache.Entry(content: .node(NSIncrementalStoreNode(objectID: second, withValues: [:], version: 1)))),
                    equals: [
                        "the node of another object than \(first)"
                    ])
                expect(violations(RowCache.Entry(holders: -1)), equals: ["-1 contexts have \(first)"])
                expect(violations(RowCache.Entry(saveTime: .max)), equals: ["\(first) comes from the future"])
                let own = Row.blank(layout, objectID: first, version: 1)
                expect(violations(RowCache.Entry(content: .row(own), isDeleted: true)), equals: ["\(first) is deleted and has values"])
            }
        }
    }

    @Test func aContextThatGivesUpWhatItNeverHadIsFound() throws {
        try withMusic { context in
            let id = try context.saveBand("A").objectID
            let cache = RowCache()
            _ = cache.setRow(Row.blank(try #require(id.owningEntity.frozen?.layout), objectID: id, version: 1), of: id)
            let found = InternalChecks.violations { cache.release([id]) }
            #expect(found.isEmpty != InternalChecks.areOn)
        }
    }

    // MARK: The cache of a SQLite store

    /// A cache with rows of two keys, one of them far away.
    private func cache() -> (SQLRowCache, Row) {
        let cache = SQLRowCache()
        cache.open([1], limit: 1 << 20)
        let row = Row.blank(layout)
        cache.put(1, 0..<2) { index in (row.slots, index == 0 ? 7 : 1 << 40) }
        return (cache, row)
    }

    @Test func bytesThatACacheMiscountsAreFound() {
        let (cache, row) = cache()
        expect(cache.invariantViolations, equals: [])
        let bytes = cache.byteCount
        cache.count(8)
        let violations = cache.invariantViolations
        cache.count(-8)
        expect(violations, equals: ["\(bytes + 8) bytes are counted, the cache has \(bytes)"])
        withExtendedLifetime(row) {}
    }

    @Test func rowsThatACacheMiscountsAreFound() {
        let (cache, row) = cache()
        row.block.cachedRows.pointee.add(1, ordering: .relaxed)
        let more = cache.invariantViolations
        row.block.cachedRows.pointee.subtract(3, ordering: .relaxed)
        let none = cache.invariantViolations
        row.block.cachedRows.pointee.add(2, ordering: .relaxed)
        expect(more, equals: ["a block is counted for 3 rows, 2 are there"])
        #expect(none.contains("the entry 7 has a row of a block of which the cache has 0"))
    }

    @Test func sparsePagesThatReadersAreNotToldOfAreFound() throws {
        let (cache, row) = cache()
        let table = try #require(cache.table(1)).takeUnretainedValue()
        table.hasSparse.store(false, ordering: .relaxed)
        let violations = table.invariantViolations()
        table.hasSparse.store(true, ordering: .relaxed)
        expect(violations, equals: ["1 pages are outside of the directory, which readers do not know"])
        withExtendedLifetime(row) {}
    }

    @Test func aPageThatIsNotCountedIsFound() throws {
        let (cache, row) = cache()
        let table = try #require(cache.table(1)).takeUnretainedValue()
        let directory = try #require(table.known).takeUnretainedValue()
        directory[1] = directory[0]
        let violations = table.invariantViolations()
        directory[1] = nil
        expect(violations, equals: ["2 pages are counted, 3 are there", "a page has two numbers"])
        withExtendedLifetime(row) {}
    }

    @Test func anEntryWithoutAStateIsFound() throws {
        let (cache, row) = cache()
        let table = try #require(cache.table(1)).takeUnretainedValue()
        let entry = try #require(table.page(0)) + 8
        let state = entry.pointee.value.exchange(0, ordering: .relaxed)
        let violations = table.invariantViolations()
        entry.pointee.value.store(state, ordering: .relaxed)
        expect(violations, equals: ["the entry 8 has no state"])
        withExtendedLifetime(row) {}
    }
}
