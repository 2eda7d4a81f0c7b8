import CoreData
import Foundation
import TestSupport
import Testing

/// The methods of NSMutableOrderedSet and NSMutableSet that the proxies of relationships have.
@Suite("Proxies of relationships") struct RelationshipProxyTests {
    private func withTracks(_ body: (OrderedRelationshipSet, [NSManagedObject], NSManagedObjectContext) throws -> Void) throws {
        try withMusic { context in
            let album = Album(context: context)
            let tracks = ["c", "a", "d", "b"].map { context.insert("Track", ["title": $0]) }
            album.tracks = NSOrderedSet(array: Array(tracks.prefix(3)))
            try body(album.mutableOrderedSetValue(forKey: "tracks"), tracks, context)
        }
    }

    private func titles(_ objects: some Sequence<Any>) -> String {
        objects.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String ?? "?" }.joined()
    }

    @Test("An ordered one is read as an ordered set is")
    func readingInOrder() throws {
        try withTracks { set, tracks, _ in
            #expect(set.firstObject as? NSManagedObject === tracks[0])
            #expect(set.lastObject as? NSManagedObject === tracks[2])
            expect(titles(set.reversed.array), equals: "dac")
            expect(titles(set.objects(at: [0, 2])), equals: "cd")
            #expect(set.isEqual(to: NSOrderedSet(array: Array(tracks.prefix(3)))))
            #expect(!set.isEqual(to: NSOrderedSet(array: tracks)))
            #expect(set.intersects(NSOrderedSet(array: [tracks[3], tracks[1]])) && !set.intersects(NSOrderedSet(array: [tracks[3]])))
            #expect(set.intersectsSet([tracks[1]]) && !set.intersectsSet([tracks[3]]))
            #expect(set.isSubset(of: NSOrderedSet(array: tracks)) && !set.isSubset(of: NSOrderedSet(array: tracks.reversed())))
            #expect(set.isSubset(of: Set<AnyHashable>(tracks)) && !set.isSubset(of: [tracks[0]]))
            expect(titles(set.objectEnumerator().allObjects), equals: "cad")
            expect(titles(set.reverseObjectEnumerator().allObjects), equals: "dac")
            var seen: [String] = []
            set.enumerateObjects { object, index, stop in
                seen.append("\(index)\(titles([object]))")
                stop.pointee = ObjCBool(index == 1)
            }
            expect(seen, equals: ["0c", "1a"])
            expect(set.index { object, _, _ in titles([object]) == "d" }, equals: 2)
            expect(set.index { _, _, _ in false }, equals: NSNotFound)
            expect(set.indexes { object, _, _ in titles([object]) != "a" }, equals: [0, 2])
            expect(titles(set.sortedArray { titles([$0]) < titles([$1]) ? .orderedAscending : .orderedDescending }), equals: "acd")
            expect(titles(set.sortedArray(using: [NSSortDescriptor(key: "title", ascending: false)])), equals: "dca")
            set.removeAllObjects()
            #expect(set.firstObject == nil && set.lastObject == nil)
        }
    }

    @Test("An ordered one is changed as a mutable ordered set is, and the inverses with it")
    func changingInOrder() throws {
        try withTracks { set, tracks, context in
            set.union(NSOrderedSet(array: [tracks[1], tracks[3]]))
            expect(titles(set.array), equals: "cadb")
            #expect(tracks[3].value(forKey: "album") != nil)
            set.minus(NSOrderedSet(array: [tracks[0]]))
            expect(titles(set.array), equals: "adb")
            #expect(tracks[0].value(forKey: "album") == nil)
            set.intersect(NSOrderedSet(array: [tracks[3], tracks[1]]))
            expect(titles(set.array), equals: "ab")
            set.unionSet([tracks[2]])
            set.minusSet([tracks[1]])
            expect(titles(set.array), equals: "bd")
            set.intersectSet([tracks[2], tracks[0]])
            expect(titles(set.array), equals: "d")
            set.setObject(tracks[0], at: 1)
            set.setObject(tracks[1], at: 0)
            expect(titles(set.array), equals: "ac")
            set.add(tracks[2])
            set.add(tracks[3])
            set.sort(using: [NSSortDescriptor(key: "title", ascending: false)])
            expect(titles(set.array), equals: "dcba")
            func compare(_ left: Any, _ right: Any) -> ComparisonResult {
                titles([left]) < titles([right]) ? .orderedAscending : .orderedDescending
            }
            set.sortRange(NSRange(location: 1, length: 2), usingComparator: compare)
            expect(titles(set.array), equals: "dbca")
            set.sort(options: .stable, usingComparator: compare)
            expect(titles(set.array), equals: "abcd")
            set.filter(using: NSPredicate(format: "title > 'a'"))
            expect(titles(set.array), equals: "bcd")
            set.removeObjects(in: NSRange(location: 0, length: 2))
            expect(titles(set.array), equals: "d")
            try context.save()
            expect(titles(set.array), equals: "d")
        }
    }

    @Test("One without an order has what a mutable set has")
    func unordered() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["b", "a", "c"])
            let set = band.mutableSetValue(forKey: "albums")
            let albums = Array(band.albums)
            #expect(set.intersects([albums[0]]) && !set.intersects([band]))
            #expect(set.isSubset(of: Set<AnyHashable>(albums)) && !set.isSubset(of: [albums[0]]))
            #expect(set.isEqual(to: Set<AnyHashable>(albums)) && !set.isEqual(to: [albums[0]]))
            expect(set.objectEnumerator().allObjects.count, equals: 3)
            var count = 0
            set.enumerateObjects { _, stop in
                count += 1
                stop.pointee = true
            }
            expect(count, equals: 1)
            expect(set.objects { object, _ in titles([object]) == "a" }.count, equals: 1)
            expect(titles(set.sortedArray(using: [NSSortDescriptor(key: "title", ascending: true)])), equals: "abc")
            set.filter(using: NSPredicate(format: "title == 'b'"))
            expect(band.albums.map(\.title), equals: ["b"])
        }
    }
}
