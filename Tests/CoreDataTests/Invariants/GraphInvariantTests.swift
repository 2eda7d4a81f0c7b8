import CoreData
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

/// The checkers of what a context keeps find what is broken. Each test mends what it has broken: builds with the checks go on to use it.
@Suite("Invariants of the graph") struct GraphInvariantTests {
    // MARK: The table of identities

    /// An address that is never followed.
    private func address(_ number: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number * 16) }

    /// The places of a table that are taken.
    private func places(_ map: borrowing IdentityMap) -> [Int] {
        var places: [Int] = []
        for index in 0...map.mask where map.entries[index].object != nil { places.append(index) }
        return places
    }

    @Test func aTableOfIdentitiesStaysWholeWhateverComesAndGoes() throws {
        let seed = TestSeed.current(for: "aTableOfIdentitiesStaysWholeWhateverComesAndGoes")
        var random = SeededGenerator(seed: seed)
        var map = IdentityMap()
        var filed: [Int: Int64] = [:]
        for number in 1...2000 {
            let key = Int64.random(in: 0..<300, using: &random)
            map.insert(try #require(address(number)), for: key)
            filed[number] = key
            if Bool.random(using: &random), let number = filed.keys.sorted().randomElement(using: &random), let key = filed[number] {
                map.remove(try #require(address(number)), for: key)
                filed[number] = nil
            }
            let violations = map.invariantViolations
            expect(violations, equals: [], "COREDATA_TEST_SEED=\(seed)")
        }
        expect(map.count, equals: filed.count, "COREDATA_TEST_SEED=\(seed)")
    }

    @Test func aLostObjectIsFound() throws {
        var map = IdentityMap()
        for number in 1...5 { map.insert(try #require(address(number)), for: Int64(number)) }
        map.entries[places(map)[2]].object = nil
        let violations = map.invariantViolations
        #expect(violations.contains("5 objects are counted, 4 are there"))
    }

    @Test func anObjectThatASearchDoesNotReachIsFound() throws {
        var map = IdentityMap()
        map.insert(try #require(address(1)), for: 1)
        let place = places(map)[0]
        let far = (place + 8) & map.mask
        (map.entries[far], map.entries[place]) = (map.entries[place], map.entries[far])
        let violations = map.invariantViolations
        expect(violations, equals: ["a gap cuts the object of the key 1 off"])
    }

    @Test func anObjectThatIsFiledTwiceIsFound() throws {
        var map = IdentityMap()
        map.insert(try #require(address(1)), for: 1)
        map.insert(try #require(address(2)), for: 2)
        let places = places(map)
        map.entries[places[1]].object = map.entries[places[0]].object
        let violations = map.invariantViolations
        #expect(violations.contains("an object is filed twice"))
    }

    // MARK: The objects of a context

    @Test func anObjectUnderTheIdentityOfAnotherIsFound() throws {
        try withMusic { context in
            let (first, second) = (Band(context: context), Band(context: context))
            (first.name, second.name) = ("A", "B")
            try context.save()
            expect(context.registry.invariantViolations, equals: [])
            _ = (first.objectID, second.objectID)
            let (madeID, origin, number) = (first.madeID, first.origin, first.number)
            (first.madeID, first.origin, first.number) = (second.madeID, second.origin, second.number)
            let violations = context.registry.invariantViolations
            (first.madeID, first.origin, first.number) = (madeID, origin, number)
            #expect(violations.contains { $0.hasPrefix("an object is filed under") })
            expect(context.registry.invariantViolations, equals: [])
        }
    }

    @Test func twoObjectsOfOneIdentityAreFound() throws {
        try withMusic { context in
            let band = try context.saveBand("A")
            let twin = Band(entity: band.owningEntity, insertInto: nil)
            _ = band.objectID
            (twin.madeID, twin.origin, twin.number, twin.registry) = (band.madeID, band.origin, band.number, context.registry)
            let noted = InternalChecks.violations { context.registry.register(twin) }
            let violations = context.registry.invariantViolations
            #expect(noted.isEmpty != InternalChecks.areOn)
            context.registry.unregister(twin)
            twin.registry = nil
            #expect(violations.contains { $0.hasPrefix("two objects have the identity") })
            expect(context.registry.invariantViolations, equals: [])
        }
    }

    @Test func anObjectThatDoesNotKnowThatItIsFiledIsFound() throws {
        try withMusic { context in
            let band = try context.saveBand("A")
            band.flags.remove(.registered)
            let violations = context.registry.invariantViolations
            band.flags.insert(.registered)
            expect(violations, equals: ["an object is filed and does not know it"])
        }
    }

    @Test func anObjectOfAnotherContextIsFound() throws {
        try withMusic { context in
            let band = try context.saveBand("A")
            band.registry = nil
            let violations = context.registry.invariantViolations
            band.registry = context.registry
            expect(violations, equals: ["an object of another context is filed"])
        }
    }

    // MARK: Relationships

    @Test func anObjectThatIsTwiceInARelationshipIsFound() throws {
        try withMusic { context in
            let album = Album(context: context)
            let storage = ToManyStorage(isOrdered: false, isLoaded: true)
            let noted = InternalChecks.violations { storage.replace(by: [album, album]) }
            expect(storage.invariantViolations, equals: ["an object is there 2 times"])
            expect(noted, equals: (InternalChecks.areOn ? storage.invariantViolations : []))
        }
    }

    @Test func anIndexThatLeadsElsewhereIsFound() throws {
        try withMusic { context in
            let storage = ToManyStorage(isOrdered: true, isLoaded: true)
            let albums = (0..<10).map { _ in Album(context: context) }
            storage.replace(by: albums)
            expect(storage.index(of: albums[9]), equals: 9)
            expect(storage.invariantViolations, equals: [])
            storage.positions?[ObjectIdentifier(albums[3])] = 4
            expect(storage.invariantViolations, equals: ["the index leads to another object at 4"])
            storage.positions?[ObjectIdentifier(albums[3])] = nil
            expect(storage.invariantViolations, equals: ["9 positions are known of 10 objects"])
        }
    }

    @Test func storedObjectsOfARelationshipThatWasNotLoadedAreFound() throws {
        try withMusic { context in
            let storage = ToManyStorage(isOrdered: false, isLoaded: false)
            _ = storage.insert(Album(context: context))
            let noted = InternalChecks.violations { storage.didSave() }
            expect(storage.invariantViolations, equals: ["the store has objects that were not loaded"])
            expect(noted, equals: (InternalChecks.areOn ? storage.invariantViolations : []))
        }
    }

    @Test func anInverseThatDoesNotLeadBackIsFound() throws {
        try withMusic { context in
            let (band, album) = (Band(context: context), Album(context: context))
            album.band = band
            let albums = try #require(band.relationship(named: "albums"))
            let inverse = try #require(album.relationship(named: "band"))
            let set = RelationshipSet(band, albums)
            expect(set.invariantViolations, equals: [])
            album.setState(.toOne(nil), of: inverse)
            expect(set.invariantViolations, equals: ["“albums” leads to an object whose “band” does not lead back"])
            album.setState(.toOne(band), of: inverse)
            expect(set.invariantViolations, equals: [])
        }
    }

    @Test func aMemberOfAnotherEntityIsFound() throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = try #require(album.relationship(named: "tracks"))
            let storage = album.toMany(tracks)
            storage.replace(by: [Tag(context: context)])
            let violations = OrderedRelationshipSet(album, tracks).invariantViolations
            storage.replace(by: [])
            expect(violations, equals: ["“tracks” leads to a “Tag”"])
        }
    }

    @Test func aStorageOfAnotherKindIsFound() throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = try #require(album.relationship(named: "tracks"))
            album.setState(.toMany(ToManyStorage(isOrdered: false, isLoaded: true)), of: tracks)
            expect(album.invariantViolations(of: tracks), equals: ["“tracks” has another order than the model says"])
            album.setState(.toOne(nil), of: tracks)
            expect(album.invariantViolations(of: tracks), equals: ["“tracks” leads to many and has one"])
            album.setState(.fault, of: tracks)
        }
    }

    // MARK: Ranked trees

    private final class Leaf: RankedNode {}

    @Test func aRankedTreeStaysWholeWhateverComesAndGoes() {
        let seed = TestSeed.current(for: "aRankedTreeStaysWholeWhateverComesAndGoes")
        var random = SeededGenerator(seed: seed)
        let tree = RankedTree<Leaf>()
        var leaves: [Leaf] = []
        for _ in 0..<500 {
            if leaves.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
                let index = Int.random(in: 0...leaves.count, using: &random)
                leaves.insert(Leaf(), at: index)
                tree.insert(leaves[index], at: index)
            } else {
                tree.remove(leaves.remove(at: Int.random(in: leaves.indices, using: &random)))
            }
            expect(tree.invariantViolations, equals: [], "COREDATA_TEST_SEED=\(seed)")
        }
        expect(tree.nodes.map(ObjectIdentifier.init), equals: leaves.map(ObjectIdentifier.init), "COREDATA_TEST_SEED=\(seed)")
    }

    @Test func whoeverHoldsATreeSeesItsChanges() {
        let tree = RankedTree<Leaf>()
        let other = tree
        for index in 0..<9 { tree.insert(Leaf(), at: index / 2) }
        other.remove(other[4])
        #expect(other.count == 8 && tree.count == 8)
        expect(tree.nodes.map(ObjectIdentifier.init), equals: other.nodes.map(ObjectIdentifier.init))
        #expect(tree.invariantViolations == [] && other.invariantViolations == [])
    }

    @Test func aNodeThatAnotherTreeHasTakenIsFound() throws {
        let leaves = (0..<15).map { _ in Leaf() }
        let tree = RankedTree(leaves)
        // A child of the root: what lies below it is lost with it.
        let child = try #require(tree.root?.right)
        let other = RankedTree([child as! Leaf])
        let violations = tree.invariantViolations
        #expect(violations.contains("a child has another parent"))
        #expect(violations.contains("a node above 7 and 1 others counts 15"))
        #expect(violations.contains("the halves below a node have 7 and 1 nodes"))
        #expect(violations.contains("a tree of 15 nodes has 9"))
        withExtendedLifetime(other) {}
    }
}
