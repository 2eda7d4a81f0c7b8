import CoreData
import Foundation
import PredicateCases
import TestSupport
import Testing

/// The table of values by object IDs, which caches and pages of remote stores use.
@Suite("Tables by object IDs") struct IDTableTests {
    private func index(_ ids: some Collection<NSManagedObjectID>) -> IDIndex {
        var index = IDIndex()
        for id in ids { _ = index.numberMaking(id) }
        return index
    }

    @Test("A table has what a dictionary has, also of IDs that share a key")
    func likeADictionary() {
        let seed = TestSeed.current(for: "Tables by object IDs")
        var random = SeededGenerator(seed: seed)
        // Entities of no model share the numbers of their keys.
        let entities = [NSEntityDescription(), NSEntityDescription()]
        for round in TestRounds(seconds: 0.6, atLeast: 6) {
            let spread = [8, 60, 1000].randomElement(using: &random)!
            var table = IDTable<Int>()
            var expected: [NSManagedObjectID: Int] = [:]
            for step in 0..<600 {
                let number = Int64(Int.random(in: -spread...spread, using: &random)) * [1, 8, 1 << 40].randomElement(using: &random)!
                let reference: NSManagedObjectID.Reference = step % 5 == 0 ? .string("\(number)") : .integer(number)
                let id = NSManagedObjectID(entity: entities.randomElement(using: &random)!, token: nil, reference: reference)
                let place = "seed \(seed), round \(round), step \(step)"
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1: (table[id], expected[id]) = (step, step)
                case 2: (table[id], expected[id]) = (nil, nil)
                case 3:
                    table[id, default: 7] += 1
                    expected[id, default: 7] += 1
                case 4:
                    var index = index(expected.keys)
                    expect(index.numberMaking(id).isNew, equals: (expected[id] == nil), "\(place)")
                    #expect(
                        (index.remove(id) != nil) && index.number(of: id) == nil
                            && index.count == expected.count - (expected[id] == nil ? 0 : 1), "\(place)")
                case 5:
                    table[id]? += 1
                    expected[id]? += 1
                case 6 where step % 20 == 0:
                    table.updateEach { _, value in value += 1 }
                    expected = expected.mapValues { $0 + 1 }
                case 7 where step % 100 == 0: table.reserveCapacity(table.count + 100)
                default: break
                }
                expect(table[id], equals: expected[id], "\(place)")
                #expect(table.count == expected.count && table.isEmpty == expected.isEmpty, "\(place)")
            }
            let copy = table
            for id in expected.keys { table[id] = nil }
            #expect(table.isEmpty && copy.count == expected.count, "seed \(seed), round \(round)")
            expect(Dictionary(uniqueKeysWithValues: copy.map { $0 }), equals: expected, "seed \(seed), round \(round)")
        }
    }
}
