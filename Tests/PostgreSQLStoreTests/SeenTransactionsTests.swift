#if PostgreSQL
import Foundation
import Testing
import TestSupport

@testable import PostgreSQLStore

/// What tokens have seen, over a server that is simulated: transactions begin, get their number and commit in any order.
@Suite("Tokens of a history") struct SeenTransactionsTests {
    private struct Server {
        struct Open {
            let xid: Int64
            var number: Int64?
        }
        var nextXid: Int64 = 100
        var nextNumber: Int64 = 1
        var open: [Open] = []
        var committed: [SeenTransactions.Entry] = []

        var snapshot: ServerSnapshot {
            let list = open.map { String($0.xid) }.joined(separator: ",")
            return ServerSnapshot("\(open.map(\.xid).min() ?? nextXid):\(nextXid):\(list)")!
        }

        mutating func step(_ random: inout some RandomNumberGenerator) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                open.append(Open(xid: nextXid))
                nextXid += 1
            case 2:
                let waiting = open.indices.filter { open[$0].number == nil }
                guard let index = waiting.randomElement(using: &random) else { return }
                open[index].number = nextNumber
                nextNumber += 1
            default:
                guard let index = open.indices.randomElement(using: &random) else { return }
                let ended = open.remove(at: index)
                // Others are given up, or write to other tables.
                guard let number = ended.number, Int.random(in: 0..<8, using: &random) > 0 else { return }
                committed.append(SeenTransactions.Entry(number: number, system: 1, xid: ended.xid, id: UUID()))
            }
        }
    }

    @Test("A follower sees each transaction once, wherever it stops") func once() throws {
        let seed = TestSeed.current(for: "Tokens of a history")
        var random = SeededGenerator(seed: seed)
        var longest = 0
        for round in TestRounds(seconds: 0.5, atLeast: 20) {
            var server = Server()
            var tokens = [String](repeating: SeenTransactions(system: 1).text, count: 3)
            var seen = [[Int64]](repeating: [], count: 3)
            func read(_ follower: Int, _ count: Int?) {
                guard let token = SeenTransactions(tokens[follower]) else {
                    Issue.record("A token is not read: \(tokens[follower])")
                    return
                }
                let entries = server.committed.filter { !token.contains($0) }.sorted { $0.number < $1.number }
                let following = token.following(entries, in: server.snapshot)
                expect(following.count, equals: entries.count)
                let taken = min(count ?? entries.count, entries.count)
                if taken == 0 { return }
                seen[follower] += entries[..<taken].map(\.number)
                tokens[follower] = following[taken - 1].text
                longest = max(longest, following[taken - 1].unseen.count)
            }
            for _ in 0..<200 {
                server.step(&random)
                let follower = Int.random(in: 0..<30, using: &random)
                if follower < 3 { read(follower, follower == 0 ? nil : Int.random(in: 1...4, using: &random)) }
            }
            for follower in 0..<3 {
                read(follower, nil)
                let isRight = seen[follower].sorted() == server.committed.map(\.number).sorted()
                #expect(isRight, "seed \(seed), round \(round)")
                if !isRight { return }
            }
        }
        // What a token lists is bounded by what runs at the same time.
        #expect(longest > 0 && longest < 120)
    }

    @Test("A token's text is read as it was written, and no other text is") func text() throws {
        var seen = SeenTransactions(system: -5)
        seen.end = 900
        seen.unseen = [800, 850]
        (seen.otherSystems, seen.last, seen.witness) = (7, 42, (41, UUID()))
        let read = try #require(SeenTransactions(seen.text))
        expect(read, equals: seen)
        for text in ["", "2" + seen.text.dropFirst(), "1:2:3", "1:a:3::0:0:"] { #expect(SeenTransactions(text) == nil, "\(text)") }
    }
}
#endif
