internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// A query whose results the file has: either all of them, or those of a window in an order.
struct Coverage: Sendable {
    /// The key of its row in the file; nil if it has none yet.
    var key: Int64?
    let entity: String
    let includesSubentities: Bool
    let clauses: [CoverageClause]
    /// The order of a window; empty for a complete query.
    let sorts: String
    /// The position of the first member of a window.
    var offset: Int
    /// The rows of a window, in order; nil for a complete query.
    var members: [Int64]?
    /// Whether the window includes the last result.
    var reachesEnd: Bool
    /// The time at which the backend has last confirmed it, by the wall clock.
    var fetchedAt: Double

    var isWhole: Bool { members == nil }

    /// Whether the results of a query are a subset of this one's, unless the query is limited.
    func includes(_ form: QueryForm) -> Bool {
        guard let wanted = form.clauses, isOfEntity(form) else { return false }
        return clauses.allSatisfy { clause in wanted.contains { $0.implies(clause) } }
    }

    /// Whether the query requests the same objects in the same order.
    func isSameList(as form: QueryForm) -> Bool {
        guard let wanted = form.clauses, let sorts = form.sorts else { return false }
        return entity == form.entity.name && includesSubentities == form.includesSubentities && sorts == self.sorts
            && Set(clauses) == Set(wanted)
    }

    private func isOfEntity(_ form: QueryForm) -> Bool {
        if entity == form.entity.name { return includesSubentities || !form.includesSubentities || form.entity.subentities.isEmpty }
        guard includesSubentities else { return false }
        var current = form.entity.superentity
        while let superentity = current {
            if superentity.name == entity { return true }
            current = superentity.superentity
        }
        return false
    }

    /// Returns whether the window contains the results of a query.
    func hasWindow(_ form: QueryForm) -> Bool {
        guard let members, isSameList(as: form), form.offset >= offset else { return false }
        let end = offset + members.count
        return reachesEnd || form.limit > 0 && form.offset + form.limit <= end
    }

    /// Joins a newer window of the same list to this one.
    ///
    /// - Returns: The combined window: the newer one, with the parts of this one that still fit before and after it.
    func joined(with newer: Coverage) -> Coverage {
        guard let old = members, let new = newer.members else { return newer }
        let (oldEnd, newEnd) = (offset + old.count, newer.offset + new.count)
        // The windows are apart from each other: the results in between are unknown.
        guard newer.offset <= oldEnd, offset <= newEnd else { return newer }
        let here = Set(new)
        var result = newer
        var before = newer.offset > offset ? Array(old[..<(newer.offset - offset)]) : []
        var after = newEnd < oldEnd ? Array(old[(newEnd - offset)...]) : []
        // Rows that have moved into the newer window were at other positions before: positions beyond them have shifted.
        if before.contains(where: here.contains) { before = [] }
        if after.contains(where: here.contains) || newer.reachesEnd { after = [] }
        if newer.offset < oldEnd, newEnd > offset {
            // In the overlap, both must agree; otherwise rows were inserted or deleted, and the following positions have shifted.
            let overlap = max(offset, newer.offset)..<min(oldEnd, newEnd)
            let agrees = overlap.allSatisfy { old[$0 - offset] == new[$0 - newer.offset] }
            if !agrees {
                after = []
                // The part before the newer window keeps its positions only if nothing before it has moved: the first row of the overlap decides.
                if let first = overlap.first, old[first - offset] != new[first - newer.offset] { before = [] }
            }
        }
        result.offset = newer.offset - before.count
        result.members = before + new + after
        result.reachesEnd = after.isEmpty ? newer.reachesEnd : reachesEnd
        result.fetchedAt = before.isEmpty && after.isEmpty ? newer.fetchedAt : min(fetchedAt, newer.fetchedAt)
        result.key = key
        return result
    }
}

/// The queries whose results a file has.
// Everything is in a `LockedBox`.
final class Coverages: Sendable {
    private let state = LockedBox<[Coverage]>([])
    private static let limit = 2000

    /// Loads the stored queries.
    func load(from file: CacheFile) throws {
        guard let entity = file.entity(named: file.names.coverage), case .rows(let rows) = try file.read(StoreQuery(entity.inner)) else {
            return
        }
        let read = rows.map { row in Coverage(CacheRow(file.key(of: row), entity, base: row, file)) }
        state.withLock { $0 = read.compactMap { $0 } }
    }

    /// All queries.
    var all: [Coverage] { state.withLock { $0 } }

    /// Returns the latest query with all results of another query.
    func whole(_ form: QueryForm) -> Coverage? {
        state.withLock { all in all.filter { $0.isWhole && $0.includes(form) }.max { $0.fetchedAt < $1.fetchedAt } }
    }

    /// Returns a window with the results of a query.
    func window(_ form: QueryForm) -> Coverage? { state.withLock { $0.first { !$0.isWhole && $0.hasWindow(form) } } }

    /// Notes that the file has the results of a query. It is written only if it is new, or if the transaction has other changes.
    func note(_ new: Coverage, in transaction: CacheTransaction) throws {
        let known = state.withLock { all in all.first { $0.isSame(as: new) } }
        var coverage = new
        if let known {
            coverage = new.isWhole ? new : known.joined(with: new)
            coverage.key = known.key
        }
        let isUnchanged = known.map {
            $0.members == coverage.members && $0.reachesEnd == coverage.reachesEnd && $0.offset == coverage.offset
        }
        if isUnchanged != true || transaction.hasChanges {
            guard let entity = transaction.file.entity(named: transaction.file.names.coverage) else { return }
            let row = try coverage.key.flatMap { try transaction.edit(CacheKey(entity: entity, number: $0)) } ?? transaction.insert(entity)
            try coverage.write(to: row)
            coverage.key = row.key.number
        }
        let noted = coverage
        transaction.whenCommitted { [self] in
            state.withLock { all in
                all.removeAll { $0.isSame(as: noted) }
                all.append(noted)
            }
        }
        if state.withLock({ $0.count }) > Self.limit, let oldest = all.min(by: { $0.fetchedAt < $1.fetchedAt }) {
            try remove([oldest], in: transaction)
        }
    }

    /// Removes queries.
    func remove(_ gone: [Coverage], in transaction: CacheTransaction) throws {
        guard let entity = transaction.file.entity(named: transaction.file.names.coverage) else { return }
        for coverage in gone { if let key = coverage.key { try transaction.delete(CacheKey(entity: entity, number: key)) } }
        transaction.whenCommitted { [self] in
            state.withLock { all in all.removeAll { known in gone.contains { $0.isSame(as: known) } } }
        }
    }
}

extension Coverage {
    /// Whether both are about the same list, or about the same complete query.
    func isSame(as other: Coverage) -> Bool {
        entity == other.entity && includesSubentities == other.includesSubentities && isWhole == other.isWhole && sorts == other.sorts
            && Set(clauses) == Set(other.clauses)
    }

    init?(_ row: CacheRow) {
        guard case .string(let entity)? = try? row.value("entity"), case .string(let texts)? = try? row.value("clauses"),
            case .double(let time)? = try? row.value("fetchedAt")
        else { return nil }
        key = row.key.number
        self.entity = entity
        includesSubentities = (try? row.value("includesSubentities")) == .bool(true)
        clauses = texts.isEmpty ? [] : texts.components(separatedBy: "\u{2}").map(CoverageClause.init(text:))
        if case .string(let text)? = try? row.value("sorts") { sorts = text } else { sorts = "" }
        if case .int64(let number)? = try? row.value("offset") { offset = Int(number) } else { offset = 0 }
        if case .data(let data)? = try? row.value("members") {
            members = data.withUnsafeBytes { bytes in
                (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self) }
            }
        } else {
            members = nil
        }
        reachesEnd = (try? row.value("isWhole")) == .bool(true)
        fetchedAt = time
    }

    func write(to row: CacheRow) throws {
        try row.set(.string(entity), "entity")
        try row.set(.bool(includesSubentities), "includesSubentities")
        try row.set(.string(clauses.map(\.text).sorted().joined(separator: "\u{2}")), "clauses")
        try row.set(.string(sorts), "sorts")
        try row.set(.int64(Int64(offset)), "offset")
        try row.set(members.map { members in .data(members.withUnsafeBytes { Data($0) }) } ?? .null, "members")
        try row.set(.int64(Int64(members?.count ?? 0)), "count")
        try row.set(.bool(reachesEnd), "isWhole")
        try row.set(.double(fetchedAt), "fetchedAt")
    }
}
