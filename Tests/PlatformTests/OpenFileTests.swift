import Foundation
import Platform
import TestSupport
import Testing

@Suite("Files of stores") struct OpenFileTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder("platform") }

    private func write(_ text: String, _ name: String = "file") throws -> String {
        let path = folder.file(name).path
        let file = try OpenFile(writing: path, existing: .emptied)
        try Array(text.utf8).withUnsafeBytes { try file.write($0) }
        try file.synchronize()
        try file.close()
        return path
    }

    @Test("A file that others write while it is read is read again, and is an error where they never stop") func othersWrite() throws {
        let path = try write("one")
        var reads = 0
        let (content, stamp) = try OpenFile.whole(path) { file, size in
            reads += 1
            if reads == 1 { _ = try write("a longer text") }
            var bytes = [UInt8](repeating: 0, count: size)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
        expect(content, equals: "a longer text")
        expect(reads, equals: 2)
        expect(stamp, equals: try #require(FileStamp(path)))
        var length = 0
        let error = #expect(throws: NSError.self) {
            _ = try OpenFile.whole(path) { _, _ in
                length += 1
                _ = try write(String(repeating: "x", count: length % 7))
            }
        }
        #expect(error?.localizedDescription.contains("all the time") ?? false, "\(String(describing: error))")
    }

    @Test("A folder, a pipe and a device are no files, and nothing waits for them") func noFiles() throws {
        let pipe = folder.file("pipe").path
        expect(mkfifo(pipe, 0o600), equals: 0)
        for path in [folder.url.path, pipe, "/dev/zero"] {
            let error = #expect(throws: NSError.self) { _ = try OpenFile.bytes(path) }
            #expect(error?.localizedDescription.contains("no file") ?? false, "\(String(describing: error))")
            expect((error?.userInfo[NSFilePathErrorKey] as? String) ?? "", equals: path)
        }
    }

    @Test(
        "A missing file, one that is there already, and one without rights have Foundation's codes, and the system's error as their cause")
    func codes() throws {
        let missing = #expect(throws: NSError.self) { _ = try OpenFile.bytes(folder.file("none").path) }
        expect(missing?.code, equals: CocoaError.Code.fileReadNoSuchFile.rawValue)
        let path = try write("one")
        let existing = #expect(throws: NSError.self) { _ = try OpenFile(writing: path) }
        expect(existing?.code, equals: CocoaError.Code.fileWriteFileExists.rawValue)
        expect(existing.flatMap { FileFailure.number(of: $0) }, equals: EEXIST)
        expect(try OpenFile.bytes(path).content, equals: Array("one".utf8))
    }

    @Test("An edit of the same length whose time was set back is another state of the file") func timeSetBack() throws {
        let path = try write("one")
        let before = try #require(FileStamp(path))
        let time = try #require(try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data("two".utf8))
        try file.close()
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        #expect(FileStamp(path) != before)
    }

    @Test("Each call that changes something is told before it is made, in order") func observed() throws {
        let calls = LockedBox<[String]>([])
        try FileCalls.$observer.withValue(
            .init { call in calls.withLock { $0.append("\(call)".split(separator: "(").first.map(String.init) ?? "") } },
            operation: {
                let path = try write("one")
                try FileCalls.rename(path, to: folder.file("other").path)
                try FileCalls.synchronize(folder.url)
                try FileCalls.remove(folder.file("other"))
                try FileCalls.remove(folder.file("other"))
            })
        expect(
            calls.withLock { $0 }, equals: ["open", "write", "synchronize", "close", "rename", "synchronize", "remove", "remove"])
    }
}
