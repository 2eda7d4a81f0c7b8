import Foundation
import TestSupport
import Testing

@Suite("Processes that are killed while they upload") struct KilledUploadTests {
    private static let megabyte = 1 << 20
    private static let size = 200 * megabyte

    private func run(_ folder: URL, _ percent: Int) throws -> [[Substring]] {
        let process = BuiltProgram.storeWriter("upload", folder.path, "\(percent)")
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test("A value of 200 MB whose upload is killed at 60% goes on there, within 32 MB of memory, and is sent once")
    func killed() throws {
        let scratch = try ScratchFolder("cache")
        defer { scratch.remove() }
        let folder = scratch.url
        let film = folder.appendingPathComponent("film")
        var block = Data((0..<Self.megabyte).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) })
        try Data().write(to: film)
        let file = try FileHandle(forWritingTo: film)
        for number in 0..<200 {
            block[0] = UInt8(number)
            try file.write(contentsOf: block)
        }
        try file.close()

        let first = try run(folder, 60)
        let last = try #require(first.last)
        #expect(last.contains("killed"), "\(first)")
        let second = try run(folder, 0)
        let end = try #require(second.last)
        expect(end.prefix(2), equals: ["pending", "0"], "\(second)")

        let log = try String(contentsOf: folder.appendingPathComponent("server.log"), encoding: .utf8).split(separator: "\n")
        let received = log.compactMap { $0.hasPrefix("part ") ? Int($0.dropFirst(5)) : nil }.reduce(0, +)
        expect(received, equals: Self.size)
        expect(log.filter { $0.hasPrefix("place") }, equals: ["place 0", "place \(Self.size / 10 * 6)"])
        expect(log.filter { $0.hasPrefix("save") }, equals: ["save insert film first", "save update - second"])
        // The run knew about how far it had come before it asked.
        let left = second.first { $0.first == "left" }.flatMap { Int($0[1]) } ?? 0
        #expect(left > Self.size / 2 && left <= Self.size / 10 * 6, "\(left)")
        #expect(FileManager.default.contentsEqual(atPath: film.path, andPath: folder.appendingPathComponent("upload").path))

        // What the programs had in memory before they had a store is not the value's.
        let opened = first.first { $0.first == "opened" }.flatMap { Int($0[1]) } ?? 0
        let peaks = [Int(last[1]) ?? .max, end.last.flatMap { Int($0) } ?? .max]
        print("KilledUploadTests: \(opened) kB when opened; peaks \(peaks) kB")
        #expect(opened > 0)
        for peak in peaks { #expect(peak - opened < 32 << 10, "\(first) \(second)") }
    }
}
