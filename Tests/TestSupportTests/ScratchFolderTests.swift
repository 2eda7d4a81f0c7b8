import Foundation
import TestSupport
import Testing

@Suite("Scratch folders") struct ScratchFolderTests {
    @Test("A folder is there, empty, and goes with its object and all that is in it") func lifetime() throws {
        var folder: ScratchFolder? = try ScratchFolder("scratch")
        let url = try #require(folder?.url)
        try expect(FileManager.default.contentsOfDirectory(atPath: url.path), equals: [])
        try Data([1]).write(to: try #require(folder?.file("file")))
        #expect(FileManager.default.fileExists(atPath: url.appendingPathComponent("file").path))
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test("A folder is removed where that is said, and each has its own") func removal() throws {
        let (first, second) = (try ScratchFolder("scratch"), try ScratchFolder("scratch"))
        #expect(first.url != second.url)
        first.remove()
        #expect(!FileManager.default.fileExists(atPath: first.url.path))
        #expect(FileManager.default.fileExists(atPath: second.url.path))
        first.remove()
    }

    @Test("A folder with what may not be written is removed, too") func writeProtected() throws {
        let folder = try ScratchFolder("scratch")
        let inner = folder.file("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        try Data([1]).write(to: inner.appendingPathComponent("file"))
        for url in [inner, folder.url] {
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: url.path)
        }
        folder.remove()
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }
}
