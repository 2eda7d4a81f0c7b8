#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// A snapshot of the server: which transactions had ended when it was taken, by their numbers in the server.
struct ServerSnapshot {
    /// The first number that was not assigned to a transaction.
    let end: Int64
    /// The transactions that were running.
    let running: Set<Int64>

    /// Creates a snapshot from PostgreSQL's text; nil for another text.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let end = Int64(parts[1]) else { return nil }
        self.end = end
        running = Set(parts[2].split(separator: ",").compactMap { Int64($0) })
    }

    /// Returns whether a transaction had ended.
    func hasEnded(_ number: Int64) -> Bool { number < end && !running.contains(number) }
}

/// The transactions of a history that a reader has seen: the part of a token about this store.
///
/// Transactions are not committed in the order of their numbers, neither those of the server nor those of a sequence. A transaction that runs while a
/// token is taken is listed in the token, and is read with that token later.
struct SeenTransactions: Equatable {
    /// The cluster whose numbers these are.
    var system: Int64
    /// The first number from which on no transaction was seen.
    var end: Int64 = 0
    /// The transactions with smaller numbers that were not seen.
    var unseen: Set<Int64> = []
    /// The last seen transaction of other clusters, from which the database was restored, by its number in the history.
    var otherSystems: Int64 = 0
    /// The greatest number in the history that was seen.
    var last: Int64 = 0
    /// The seen transaction with the greatest number in the server: if it is gone, others may be gone, too.
    var witness: (number: Int64, id: UUID)?

    init(system: Int64) { self.system = system }

    /// A transaction of the history.
    struct Entry {
        let number: Int64
        let system: Int64
        let xid: Int64
        let id: UUID
    }

    func contains(_ entry: Entry) -> Bool {
        entry.system == system ? entry.xid < end && !unseen.contains(entry.xid) : entry.number <= otherSystems
    }

    /// Returns the transactions seen after each of some transactions.
    ///
    /// - Parameters:
    ///   - entries: All transactions that the snapshot contains and these do not, ordered by their numbers in the history.
    func following(_ entries: [Entry], in snapshot: ServerSnapshot) -> [SeenTransactions] {
        var seen = self
        // A transaction that has ended and is not among the entries is not, and never will be, part of the history.
        seen.unseen = unseen.filter { !snapshot.hasEnded($0) }
        let own = entries.filter { $0.system == system }.map(\.xid).sorted()
        seen.unseen.formUnion(own.prefix { $0 < end })
        var next = own.partitioningIndex { $0 >= end }
        return entries.map { entry in
            seen.last = max(seen.last, entry.number)
            guard entry.system == system else {
                seen.otherSystems = max(seen.otherSystems, entry.number)
                return seen
            }
            // No transaction of another cluster follows one of this cluster.
            seen.otherSystems = .max
            seen.unseen.remove(entry.xid)
            guard entry.xid >= seen.end else { return seen }
            let end = entry.xid + 1
            seen.unseen.formUnion(snapshot.running.filter { $0 >= seen.end && $0 < end })
            while next < own.count, own[next] < end {
                if own[next] != entry.xid { seen.unseen.insert(own[next]) }
                next += 1
            }
            seen.end = end
            seen.witness = (entry.number, entry.id)
            return seen
        }
    }

    static func == (left: SeenTransactions, right: SeenTransactions) -> Bool { left.text == right.text }

    // MARK: Text

    /// The form in a token.
    var text: String {
        let list = unseen.sorted().map(String.init).joined(separator: ",")
        let mark = witness.map { "\($0.number)/\($0.id.uuidString)" } ?? ""
        return "1:\(system):\(end):\(list):\(otherSystems):\(last):\(mark)"
    }

    /// Creates the value from its text in a token; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 7, parts[0] == "1", let system = Int64(parts[1]), let end = Int64(parts[2]), let other = Int64(parts[4]),
            let last = Int64(parts[5])
        else { return nil }
        (self.system, self.end, otherSystems, self.last) = (system, end, other, last)
        unseen = Set(parts[3].split(separator: ",").compactMap { Int64($0) })
        let mark = parts[6].split(separator: "/")
        if mark.count == 2, let number = Int64(mark[0]), let id = UUID(uuidString: String(mark[1])) { witness = (number, id) }
    }
}

extension [Int64] {
    /// Returns the first index of a sorted list from which on all elements match.
    fileprivate func partitioningIndex(_ matches: (Int64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if matches(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
#endif
