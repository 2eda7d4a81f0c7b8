public import CoreData

extension Behaviour {
    /// The behaviours of processes that are killed.
    static let kills: [Behaviour] = [
        Behaviour(
            .hostile, "A process that is killed while it saves loses nothing that was saved, and leaves no half of a save",
            requires: .durable,
            look: "how a save becomes visible: in one step, after everything is written and synced", needsChild: true
        ) { run in
            var reported = 0
            for round in 0..<8 {
                guard let process = try run.startChild() else { return }
                let pipe = Pipe()
                process.standardOutput = pipe
                try process.run()
                // Some are killed while they open the store, others after some saves.
                var lines = ConformanceLines(pipe.fileHandleForReading)
                var last: Int?
                for _ in 0..<round { last = lines.next().flatMap { Int($0) } ?? last }
                usleep(UInt32.random(in: 0...(round == 0 ? 50_000 : 3000)))
                kill(process.processIdentifier, SIGKILL)
                while let line = lines.next() {
                    guard let number = Int(line) else { throw ConformanceFailure(description: "the child has said “\(line)”") }
                    last = number
                }
                process.waitUntilExit()
                reported = max(reported, last.map { $0 + 1 } ?? 0)
                try run.reopen()
                let groups = try run.inContext { context in
                    try run.groups(context).map { group in
                        (group.value(forKey: run.roles.groupName) as? String ?? "", run.related(group, run.roles.members).count)
                    }
                }
                for (name, count) in groups {
                    try expectEqual(count, (Int(name) ?? 0) % 7 + 1, "round \(round), the members of the save \(name):")
                }
                try expect(groups.count >= reported, "\(reported) saves were reported before the kill, and \(groups.count) are there")
                try expect(groups.count <= reported + 1, "\(groups.count) saves are there, of which \(reported) were reported")
                reported = groups.count
                let members = try run.inContext { try run.members($0).count }
                try expectEqual(members, groups.reduce(0) { $0 + $1.1 }, "members of all saves:")
                for store in run.coordinator.persistentStores { try run.coordinator.remove(store) }
            }
        }
    ]
}

/// The task of a program that ``StoreUnderTest/child`` starts: it saves to the store until it is killed.
public enum ConformanceChild {
    /// Saves to the store at a place forever, and prints the number of each save once it is done.
    ///
    /// Call it in a program of your own, which the kit starts and kills: see ``StoreUnderTest/child``.
    ///
    /// - Parameters:
    ///   - store: The store under test, described as in the test.
    ///   - directory: The directory of the store, which the kit has passed to the program.
    /// - Throws: The error of the store.
    public static func saveUntilKilled(to store: StoreUnderTest, in directory: URL) throws -> Never {
        let run = try ConformanceRun(store, at: StorePlace(existing: directory))
        var number = try run.inContext { try run.groups($0).count }
        while true {
            try run.inContext { context in
                let group = run.addGroup("\(number)", in: context)
                for index in 0...(number % 7) { run.addMember("\(number).\(index)", index, to: group, in: context) }
                try context.save()
            }
            // The output bypasses all buffers, which would be lost with the process.
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            number += 1
        }
    }
}

/// The lines that a process writes, one at a time.
struct ConformanceLines {
    private let handle: FileHandle
    private var rest = Data()

    init(_ handle: FileHandle) { self.handle = handle }

    mutating func next() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let more = handle.availableData
            if more.isEmpty { return nil }
            rest += more
        }
    }
}
