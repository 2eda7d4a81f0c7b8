import CoreData
import Foundation
import ModelCodeGeneration
import TestSupport
import Testing

/// Versions of models that were shipped, and are edited.
struct ShippedVersionTests {
    private static let song =
        #"<entity name="Song">\#n<attribute name="title" optional="YES" attributeType="String"/>\#n</entity>\#n"#
    private static let album = #"<entity name="Album"><attribute name="year" optional="YES" attributeType="Integer 16"/></entity>"#

    private func messages(_ url: URL) throws -> [String] {
        try ModelCompilation(url, module: "MusicApp").diagnostics.filter(\.isError).map(\.description)
    }

    @Test func anEditedVersionFailsTheBuildWithVersionEntityAndChange() throws {
        let models = try ModelFolder()
        let url = try models.model("Music", versions: ["Music": Self.song + Self.album], current: nil)
        try expect(ShippedVersions.ship(url), equals: ["Music"])
        #expect(try messages(url).isEmpty)
        let edited = Self.song.replacing(#"optional="YES" "#, with: "")
            .replacing("</entity>", with: #"<attribute name="length" optional="YES" attributeType="Double"/></entity>"#)
        _ = try models.model("Music", versions: ["Music": edited + Self.album], current: nil)
        let messages = try messages(url)
        expect(messages.count, equals: 1)
        #expect(messages[0].contains("contents:3: error: The version “Music” was shipped, and its entity “Song” was changed since"))
        #expect(messages[0].contains("Song.length is new.") && messages[0].contains("Song.title: isOptional was true and is false."))
    }

    @Test func whatStoresDoNotDependOnMayBeEdited() throws {
        let models = try ModelFolder()
        let url = try models.model("Music", versions: ["Music": Self.song], current: nil)
        try ShippedVersions.ship(url)
        let edited = Self.song.replacing("<entity ", with: #"<entity representedClassName="Song" "#)
            .replacing("<attribute ", with: #"<attribute defaultValueString="none" "#)
        _ = try models.model("Music", versions: ["Music": edited], current: nil)
        #expect(try messages(url).isEmpty)
    }

    @Test func newVersionsAreNotedBesideThoseThatWereShipped() throws {
        let models = try ModelFolder()
        let url = try models.model("Music", versions: ["Music": Self.song], current: nil)
        try ShippedVersions.ship(url)
        _ = try models.model("Music", versions: ["Music": Self.song, "Music 2": Self.song + Self.album], current: "Music 2")
        #expect(try messages(url).isEmpty)
        try expect(ShippedVersions.ship(url), equals: ["Music 2"])
        #expect(try ShippedVersions.ship(url).isEmpty)
        _ = try models.model("Music", versions: ["Music 2": Self.song], current: "Music 2")
        try expect(messages(url).first?.contains("its entity “Album” was changed since: it is gone."), equals: true)
        #expect(throws: ModelDiagnostic.self) { try ShippedVersions.ship(url) }
        try FileManager.default.removeItem(at: url.appendingPathComponent("Music.xcdatamodel"))
        #expect(try messages(url).contains { $0.contains("VersionHashes.lock:4: error: The version “Music” was shipped and is gone") })
    }

    @Test func aFileThatCannotBeReadNamesTheLine() throws {
        let models = try ModelFolder()
        let url = try models.model("Music", versions: ["Music": Self.song], current: nil)
        try Data("version Music\n  nonsense\n".utf8).write(to: ShippedVersions.file(of: url))
        let error = #expect(throws: ModelDiagnostic.self) { try ModelCompilation(url, module: "MusicApp") }
        expect(error?.line, equals: 2)
    }
}
