import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting

/// What has to hold: after each step, and at the end.
extension SimulatedWorld {
    /// Notes what the server has made.
    func listen() throws {
        let applied = server.applied
        for made in applied[heardCount...] {
            let change = made.change
            let author = String(made.client.prefix { $0 != "#" })
            if change.entity == "Folder" {
                if let mark = change.values["mark"]?.string { folders[made.id] = mark }
                continue
            }
            if change.kind == .insert {
                let mark = change.values["mark"]?.string ?? "?"
                if let old = marks[made.id], old != mark { try noteReuse(made.id, of: old, by: mark) }
                marks[made.id] = mark
            }
            guard let mark = marks[made.id] else { continue }
            if change.kind == .insert {
                if makers.contains(where: { $1 != author && marks[$0] == mark }), gone.contains(mark) { twins.insert(mark) }
                makers[made.id] = author
            }
            if change.kind == .delete { makers[made.id] = nil }
            authors[mark, default: []].insert(author)
            if change.kind == .delete { gone.insert(mark) }
            for (key, value) in change.values where key != "mark" {
                let text = key == "folder" ? value.id.flatMap { folders[$0] } : value.string
                heard(key, mark, text, by: author, revision: made.revision)
            }
        }
        heardCount = applied.count
    }

    /// Notes that a new object has got the identifier of a deleted one. A client that does not know of the deletion, and is not told what tells the
    /// two apart, takes the new one for the old.
    private func noteReuse(_ id: ResourceID, of old: String, by new: String) throws {
        note("reused identifiers", "\(new) gets the identifier of \(old)")
        if setting.tellsIncarnations { return }
        for client in clients where try client.holds(old, folders) {
            note("reused identifiers that are not told", "\(client.name) cannot tell \(new) from \(old)")
            blurred.formUnion([old, new])
        }
    }

    private func isExempt(_ mark: String) -> Bool { twins.contains(mark) || blurred.contains(mark) }

    /// What is shown is what the server has confirmed, with what is pending over it.
    func check() throws {
        for client in clients {
            let now = (generation: client.generation, commits: client.end.commits)
            if let last = client.checked, last == now { continue }
            client.checked = now
            let shown = try client.shown(folder: folders).filter { !isExempt($0.mark) }
            let pending = Dictionary(try client.store.pendingChanges().map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
            for (mark, notes) in Dictionary(grouping: shown, by: \.mark) where notes.count > 1 {
                // A read may bring a new object before the answer to its insert, which alone tells that it is the same. One that others have deleted
                // may have been made anew by somebody else, too.
                let inserts = notes.filter {
                    let isSent = pending[$0.id]?.state != .pending || gone.contains(mark)
                    return pending[$0.id]?.kind == .insert && isSent || (pending[$0.id]?.attempts ?? 0) > 0
                }
                if notes.count == 2, inserts.count == 1 {
                    client.echoed.insert(mark)
                    continue
                }
                // One that was made anew is shown beside the deleted one until the client hears of the deletion.
                if notes.count == 2, gone.contains(mark), try notes.contains(where: { try isDeleted($0, client) }) { continue }
                throw Wrong("\(client.name) shows \(mark) \(notes.count) times.")
            }
            for note in shown { try check(note, pending[note.id], client) }
            try checkMissing(Set(shown.map(\.mark)), client)
        }
    }

    /// Whether a client shows a note as the server's that the server does not have any more.
    private func isDeleted(_ note: SimulatedClient.Shown, _ client: SimulatedClient) throws -> Bool {
        guard let id = try client.store.resourceID(for: note.id) else { return false }
        return server.values("Note", id)?["mark"]?.string != note.mark
    }

    /// What was shown goes only where somebody has deleted it, or given it up. A copy of the server that lags may lack what was just made.
    private func checkMissing(_ marks: Set<String>, _ client: SimulatedClient) throws {
        let missing = client.lastShown.subtracting(marks)
        client.lastShown = marks
        for mark in missing.sorted()
        where !setting.lags && !isExempt(mark) && !gone.contains(mark) && !client.removed.contains(mark) && !client.dropped.contains(mark) {
            throw Wrong("\(client.name) does not show \(mark) any more, which nobody has deleted.")
        }
    }

    private func check(_ note: SimulatedClient.Shown, _ change: CachedStore.PendingChange?, _ client: SimulatedClient) throws {
        for (key, value) in note.values {
            let isPending = change.map { $0.kind != .update || $0.properties.contains(key) } ?? false
            let last = client.written[note.mark]?[key]
            if isPending, last == value || client.perhaps.contains("\(note.mark).\(key)=\(value)") { continue }
            // Where the object here wins as a whole, what it showed before others changed it is pending too.
            let isOverwriting = options.ruleName == "overwrite" && (key == "text" || key == "color")
            if isPending, change?.kind == .update, !isOverwriting {
                throw Wrong("\(client.name) shows \(value) as \(key) of \(note.mark), and not \(last ?? "nil"), which is pending.")
            }
            guard let known = history[note.mark]?[key]?.last(where: { $0.value == value }) else {
                throw Wrong("\(client.name) shows \(value) as \(key) of \(note.mark), which is neither pending nor the server's.")
            }
            // Without versions, nothing tells which of two answers is newer that were asked for at the same time; where they are tags, nothing tells
            // that a copy that lags has answered with a version that was never seen here.
            if isPending || setting.isUnversioned { continue }
            if case .tags = setting.versions, setting.lags { continue }
            let name = note.mark + "." + key
            // Not yet kept for an insert that is sent again after others have changed the object: its outcome tells the first version, which is
            // shown until the next read.
            if known.revision < client.seen[name] ?? 0, !client.echoed.contains(note.mark) {
                throw Wrong(
                    "\(client.name) shows \(value) as \(key) of \(note.mark), revision \(known.revision), after \(client.seen[name] ?? 0).")
            }
            client.seen[name] = known.revision
        }
    }

    // MARK: The end

    /// Brings everything back, and looks whether all come to the same.
    func settle() throws {
        note("ends", "everything comes back")
        for client in clients { network.setConnected(true, client.address) }
        for _ in 0..<100 where !network.messages.isEmpty {
            deliverAll()
            try listen()
            executor.run()
        }
        try listen()
        clock.advance(by: .seconds(600))
        (server.options.staleReads, server.options.missingOutcomes, server.options.cappedAnswers) = (0, 0, 0)
        var (rounds, quietRounds) = (0, 0)
        while true {
            rounds += 1
            for client in clients {
                try pump(client, "sends") { [store = client.store] in try await store.sendPending() }
                try listen()
                try check()
                if setting.readsFeed {
                    try merge(client)
                } else {
                    for entity in ["Folder", "Note"] { try fetch(entity, client) }
                }
                try listen()
                try check()
                try decide(client)
            }
            clock.advance(by: .seconds(400))
            // Everybody reads once more after the last change was sent.
            quietRounds = try clients.allSatisfy({ try $0.store.pendingCount() == 0 }) ? quietRounds + 1 : 0
            if quietRounds > 1 { break }
            if rounds > 12 {
                let left = try clients.map { "\($0.name): \(try $0.store.pendingChanges())" }.joined(separator: "; ")
                throw Wrong("What is pending is never sent: \(left)")
            }
        }
        try compare()
    }

    /// Returns the notes that the server has.
    private func expected() throws -> [String: [String: String]] {
        var expected: [String: [String: String]] = [:]
        for id in server.ids("Note") {
            guard let values = server.values("Note", id), let mark = values["mark"]?.string, !isExempt(mark) else { continue }
            if expected[mark] != nil { throw Wrong("The server has \(mark) twice.") }
            var known: [String: String] = [:]
            for key in ["text", "color"] { known[key] = values[key]?.string }
            if let folder = values["folder"]?.id { known["folder"] = folders[folder] ?? "?" }
            expected[mark] = known
        }
        let names = server.ids("Folder").compactMap { server.values("Folder", $0)?["mark"]?.string }
        if Set(names).count != names.count { throw Wrong("The server has a folder twice: \(names)") }
        return expected
    }

    private func compare() throws {
        let expected = try expected()
        for client in clients {
            let shown = Dictionary(
                try client.shown(folder: folders).filter { !isExempt($0.mark) }.map { ($0.mark, $0.values) },
                uniquingKeysWith: { first, _ in first.merging(["mark": "twice"]) { $1 } })
            if shown != expected {
                let marks = Set(shown.keys).union(expected.keys).sorted().filter { shown[$0] != expected[$0] }
                let text = marks.map { "\($0): \(String(describing: shown[$0])) and not \(String(describing: expected[$0]))" }
                throw Wrong("\(client.name) shows \(text.joined(separator: "; "))")
            }
            for mark in client.made
            where expected[mark] == nil && !isExempt(mark) && !gone.contains(mark) && !client.removed.contains(mark) {
                if !client.dropped.contains(mark) { throw Wrong("\(client.name)'s \(mark) is lost.") }
            }
            for (mark, values) in client.written where !gone.contains(mark) && !client.dropped.contains(mark) && expected[mark] != nil {
                let isContested = (authors[mark] ?? []).subtracting([client.name]).count > 0
                if isContested, ["preferTheirs", "rollback"].contains(options.ruleName) { continue }
                for (key, value) in values where history[mark]?[key]?.contains(where: { $0.value == value }) != true {
                    throw Wrong("\(client.name)'s \(value) as \(key) of \(mark) was never sent.")
                }
            }
        }
        try compareApplied()
    }

    /// Nothing was done twice: neither what has a key, nor what was made under an identifier.
    private func compareApplied() throws {
        var keys: Set<UUID> = []
        for made in server.applied where setting.service == .keys && options.bug == nil {
            if !keys.insert(made.change.idempotencyKey).inserted { throw Wrong("\(made.change.kind) of \(made.id) was done twice.") }
        }
    }
}
