import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

@Suite("The order of pending changes") struct SendingOrderTests {
    private typealias Item = SendingOrder.Item

    private func key(_ number: Int64) -> LocalKey { LocalKey(root: "E", key: number) }

    private func item(
        _ number: Int64, _ kind: Resource.Saving.Kind, needs: [Int64] = [], left: [Int64] = [], canGo: Bool = true,
        isSetAside: Bool = false,
        id: ResourceID? = nil
    ) -> Item {
        Item(
            key: key(number), kind: kind, canGo: canGo && !isSetAside, isSetAside: isSetAside, needs: needs.map { ("r\($0)", key($0)) },
            left: left.map(key), resource: id.map { .init(root: "E", id: $0) })
    }

    private func next(_ items: Item...) -> [Int] { SendingOrder.next(items).map(\.index) }

    @Test("New objects go before those that refer to them, deletions after the changes that give up their references") func dependencies() {
        expect(next(item(1, .insert, needs: [2]), item(2, .insert), item(3, .update), item(4, .update, needs: [2])), equals: [1, 2])
        expect(next(item(1, .delete), item(2, .update, left: [1])), equals: [1])
        expect(next(item(1, .delete), item(2, .delete, left: [1])), equals: [1])
        expect(next(item(1, .delete), item(2, .update, left: [1], isSetAside: true)), equals: [0])
        expect(next(item(1, .delete, left: [2]), item(2, .delete, left: [1])), equals: [0, 1])
    }

    @Test("What is set aside holds up what depends on it, and nothing else") func setAside() {
        expect(next(item(1, .insert, isSetAside: true), item(2, .insert, needs: [1]), item(3, .insert)), equals: [2])
        expect(next(item(1, .insert, isSetAside: true), item(2, .insert, needs: [1, 3]), item(3, .insert, needs: [2])), equals: [])
    }

    @Test("Of objects that refer to each other the first goes without its references, once nothing else can") func cycles() {
        let items = [item(1, .insert, needs: [2]), item(2, .insert, needs: [3]), item(3, .insert, needs: [1])]
        expect(SendingOrder.next(items), equals: [.init(index: 0, postponed: ["r2"])])
        expect(SendingOrder.next([item(1, .insert, needs: [1])]), equals: [.init(index: 0, postponed: ["r1"])])
        expect(next(item(1, .insert, needs: [2]), item(2, .insert, needs: [1]), item(3, .insert)), equals: [2])
        expect(next(item(1, .insert, needs: [2]), item(2, .insert, needs: [1]), item(3, .insert, canGo: false)), equals: [0])
    }

    @Test("An object with the identifier of a deleted one waits for the deletion") func replacement() {
        expect(next(item(1, .delete, id: 7), item(2, .insert, id: 7)), equals: [0])
        expect(next(item(1, .delete, canGo: false, id: 7), item(2, .insert, id: 7)), equals: [])
        expect(next(item(2, .insert, id: 7)), equals: [0])
        // The deletion follows what is still to be answered.
        for kind in [Resource.Saving.Kind.insert, .update] {
            var old = item(1, kind, canGo: false, id: 7)
            old.isLeaving = true
            expect(next(old, item(2, .insert, id: 7)), equals: [])
            old.canGo = true
            expect(next(old, item(2, .insert, id: 7)), equals: [0])
        }
    }

    @Test("In any order of any graph everything is sent once, and nothing before what it refers to, but for cycles") func random() {
        let seed = TestSeed.current(for: "SendingOrderTests.random")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var left = (0..<12).map { number in
                item(
                    Int64(number), [.insert, .update, .delete].randomElement(using: &random)!,
                    needs: (0..<Int.random(in: 0...2, using: &random)).map { _ in .random(in: 0..<12, using: &random) },
                    left: [.random(in: 0..<12, using: &random)])
            }
            var rounds = 0
            while !left.isEmpty, rounds < 40 {
                let ready = SendingOrder.next(left)
                let new = Set(left.filter { $0.kind == .insert }.map(\.key))
                for one in ready where left[one.index].kind != .delete {
                    let open = left[one.index].needs.filter { new.contains($0.key) && !one.postponed.contains($0.name) }
                    #expect(open.allSatisfy { $0.key == left[one.index].key && left[one.index].kind == .update }, "seed \(seed)")
                }
                let gone = Set(ready.map(\.index))
                #expect(!gone.isEmpty, "seed \(seed)")
                left = left.indices.filter { !gone.contains($0) }.map { left[$0] }
                rounds += 1
            }
            #expect(left.isEmpty, "seed \(seed)")
        }
    }
}
