import CoreData
import Explorer
import Foundation
import StoreCommands
import TestSupport
import Testing

@Suite("The explorer: the time of an answer") struct AnswerTimeTests {
    @Test(
        "A question that takes longer than its time is an error, and others have their answers",
        arguments: [NSSQLiteStoreType, NSXMLStoreType],
        [
            "ANY tracks.title CONTAINS 'zz'", "SUBQUERY(tracks, $t, $t.seconds > 1).@count > 9999", "title MATCHES '(a|b)*c'",
            "ANY tracks.title MATCHES '(T|r|a|c|k| |[0-9])*x'",
        ]) func time(type: String, predicate: String) async throws
    {
        let folder = try Folder()
        let store = folder.url.appendingPathComponent(type == NSXMLStoreType ? "library.xml" : "library.sqlite")
        let context = try Library.open(store, type: type)
        try await context.perform {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue(String(repeating: "ab", count: 20_000), forKey: "title")
            for number in 0..<8_000 {
                let track = NSEntityDescription.insertNewObject(forEntityName: "Track", into: context)
                track.setValue("Track \(number)", forKey: "title")
                track.setValue(0.5, forKey: "seconds")
                track.setValue(album, forKey: "album")
            }
            try context.save()
        }
        let question = TableQuestion("Album", where: predicate, sort: nil, columns: nil, offset: 0, limit: 100)
        let hurried = try ExplorerSession(StoreReference(store.path), answerTime: .zero)
        let error = await #expect(throws: ExplorerError.self) { try await hurried.rows(question) }
        let text = error.map { ExplorerError.json($0).text(indent: false) } ?? ""
        #expect(text.contains("takes longer than 0 seconds") && text.contains("where"), "\(text)")
        let patient = try ExplorerSession(StoreReference(store.path))
        let answer = try await patient.rows(question).text(indent: false)
        #expect(answer.contains("rows"), "\(answer.prefix(1_000))")
        try hurried.close()
        try patient.close()
        withExtendedLifetime(folder) {}
    }
}
