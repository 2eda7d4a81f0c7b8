import Foundation
import Platform
import TestSupport
import Testing

@Suite("Locks that one process at a time has") struct FileLockTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder("platform") }

    /// The place of a lock in the folder.
    enum Kind: CaseIterable, Sendable { case folder, file, temporaryFile }

    private func place(_ kind: Kind) -> FileLock.Place {
        switch kind {
        case .folder: .folder(folder.url.path)
        case .file: .file(folder.file("lock").path)
        case .temporaryFile: .temporaryFile(folder.file("lock").path)
        }
    }

    @Test("A lock that another one has is not taken within the time, and is once that is gone", arguments: Kind.allCases)
    func exclusion(_ kind: Kind) throws {
        var first = try FileLock(place(kind), timeout: 0)
        #expect(first != nil)
        #expect(try FileLock(place(kind), timeout: 0) == nil)
        #expect(try FileLock(place(kind), timeout: 0.02) == nil)
        first = nil
        #expect(try FileLock(place(kind), timeout: 0) != nil)
    }

    @Test("A lock whose file was removed keeps nobody out, and its file is made anew") func removedFile() throws {
        let first = try #require(try FileLock(place(.temporaryFile), timeout: 0))
        first.removeFile()
        #expect(!FileManager.default.fileExists(atPath: folder.file("lock").path))
        let second = try #require(try FileLock(place(.temporaryFile), timeout: 0))
        #expect(try FileLock(place(.temporaryFile), timeout: 0) == nil)
        second.removeFile()
        withExtendedLifetime(first) {}
    }

    @Test("Several that wait for a lock get it one after the other, also where its file goes each time", arguments: Kind.allCases)
    func manyWaiters(_ kind: Kind) async throws {
        let place = place(kind)
        let (inside, most, count) = (LockedBox(0), LockedBox(0), LockedBox(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        let lock = try #require(try FileLock(place, timeout: 600))
                        let now = inside.withLock { inside in
                            inside += 1
                            return inside
                        }
                        most.withLock { $0 = max($0, now) }
                        count.withLock { $0 += 1 }
                        inside.withLock { $0 -= 1 }
                        if kind == .temporaryFile { lock.removeFile() }
                        withExtendedLifetime(lock) {}
                    }
                }
            }
            try await group.waitForAll()
        }
        expect(most.withLock { $0 }, equals: 1)
        expect(count.withLock { $0 }, equals: 40)
    }

    @Test("What cannot be locked is an error that names it") func noFolder() {
        let path = folder.file("none/lock").path
        let error = #expect(throws: NSError.self) { _ = try FileLock(.file(path), timeout: 0) }
        #expect(error?.localizedDescription.contains(path) ?? false, "\(String(describing: error))")
    }
}
